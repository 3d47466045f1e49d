import BeansErrors

/// Configuration as text: `key = value` on a line of its own, `# comment`, and `[namespace]` before the keys of one.
///
/// Spaces around keys and values do not matter. A value is everything after the first `=`: it may contain `#`, and be
/// empty.
public enum PropertyText {
  /// Returns the values in a file, in order.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file, as UTF-8.
  ///   - path: the name of the file in errors.
  /// - Throws: `.invalidDeclaration` with the line, for any other line, for a repeated key, or for bytes that are not
  ///   UTF-8.
  public static func items(from bytes: [UInt8], path: String) throws -> [ConfigurationItem] {
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw EnvironmentError(.invalidDeclaration, "\(path) is not UTF-8")
    }
    // A byte order mark, written by some editors.
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    var items: [ConfigurationItem] = []
    var seen: Set<[String]> = []
    var namespace = ""
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      func fault(_ message: String) -> EnvironmentError {
        EnvironmentError(.invalidDeclaration, message, origin: .init(file: path, line: number + 1))
      }
      let line = trim(line)
      if line.isEmpty || line.hasPrefix("#") { continue }
      if line.hasPrefix("[") {
        guard line.hasSuffix("]") else { throw fault("a namespace that is not closed: write [namespace]") }
        namespace = trim(line.dropFirst().dropLast())
        continue
      }
      guard let equals = line.firstIndex(of: "=") else { throw fault("neither 'key = value', nor a comment") }
      let key = trim(line[..<equals])
      if key.isEmpty { throw fault("a value without a key") }
      guard seen.insert([namespace, key]).inserted else { throw fault("'\(key)' is there twice") }
      let value = trim(line[line.index(after: equals)...])
      items.append(
        ConfigurationItem(namespace: namespace, key: key, value: value, line: number + 1))
    }
    return items
  }

  private static func trim(_ text: some StringProtocol) -> String {
    let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
    return String(text[..<end].drop { $0.isWhitespace })
  }
}
