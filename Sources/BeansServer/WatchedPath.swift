import Glibc

/// The places through which a path leads to its file, with all links followed: each directory with the names in it that
/// the path uses, and the file itself.
///
/// Replacing a link on the way (`current -> releases/7`, the `..data` of Kubernetes) or renaming a directory changes one
/// of these names and not the file. Two equal values lead to the same file through the same directories.
package struct WatchedPath: Hashable, Sendable {
  /// A directory or the file.
  package struct Place: Hashable, Sendable {
    /// The path, without links.
    package let path: String
    /// The names in the directory that the path uses; empty for the file, of which each change matters.
    package var names: Set<String>
    /// The identity, which tells a directory from another one that was renamed to the same path.
    let device: UInt
    let inode: UInt

    /// Whether a change concerns the path.
    ///
    /// - Parameter name: the changed entry; nil if it is unknown; the name of the place itself if that was moved.
    package func isConcerned(by name: String?) -> Bool {
      guard let name, !names.isEmpty else { return true }
      return names.contains(name) || path.hasSuffix("/\(name)")
    }
  }

  /// The number of links after which the system, too, refuses a path.
  private static let maximumLinks = 40

  /// The existing places, from the root, or the current directory, inwards. Ends at the place in which a name is
  /// missing.
  package private(set) var places: [Place] = []

  /// Resolves a path, by one call of the system for each component.
  package init(_ path: String) {
    var rest = Array(path.split(separator: "/").reversed())
    // The current directory is not looked for in its parent: it stays the same one when it is renamed.
    var current = path.hasPrefix("/") ? "/" : "."
    var links = 0
    while let name = rest.popLast() {
      if name == "." { continue }
      if name == ".." {
        current = Self.parent(of: current)
        continue
      }
      let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
      add(current, name: String(name))
      switch Self.readLink(next) {
      case .target(let target):
        links += 1
        if links > Self.maximumLinks { return }
        rest += target.split(separator: "/").reversed()
        if target.hasPrefix("/") { current = "/" }
      case .noLink: current = next
      case .missing: return
      }
    }
    add(current, name: nil)
  }

  /// Returns the directory around a directory whose path has no links.
  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), !path.hasSuffix("..") else { return "\(path)/.." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private mutating func add(_ path: String, name: String?) {
    if let name, let known = places.firstIndex(where: { $0.path == path && !$0.names.isEmpty }) {
      places[known].names.insert(name)
      return
    }
    var status = stat()
    // The address of a local variable, for the time of the call.
    guard unsafe stat(path, &status) == 0 else { return }
    places.append(
      Place(
        path: path, names: name.map { [$0] } ?? [], device: UInt(status.st_dev), inode: UInt(status.st_ino)))
  }

  private enum Link {
    case target(Substring)
    case noLink, missing
  }

  private static func readLink(_ path: String) -> Link {
    // The call writes at most as many bytes into the array as it has, and returns their number.
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &target, target.count)
    if count < 0 { return errno == EINVAL ? .noLink : .missing }
    return .target(Substring(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self))
  }
}
