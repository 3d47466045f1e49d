/// Dotted paths of loggers and traces, from the general to the specific.
enum LogPath {
  /// Returns the path itself, then its ancestors, nearest first, up to the root, "".
  static func chain(_ path: String) -> some Sequence<String> {
    sequence(first: path) { path in
      if path.isEmpty { return nil }
      return path.lastIndex(of: ".").map { String(path[..<$0]) } ?? ""
    }
  }
}
