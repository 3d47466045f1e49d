/// The names under which a source has a key, beside the key itself.
///
/// A source returns its spelling from `ConfigurationSource.spelling`. A reader of a key gets the value of the exact key,
/// else the value of the first name that the source has. Several keys may share a name; the source then serves each of
/// them, and `ConfigurationManager.report()` lists them.
public struct KeySpelling: Sendable, Hashable {
  private enum Style: Hashable {
    case exact, commandLine
    case environmentVariables(prefix: String)
  }

  private let style: Style

  /// No other names: `key` or `namespace:key`.
  package static let exact = KeySpelling(style: .exact)

  /// The names of options: for the key `sessionIdle` in the namespace `post`, these are `post.sessionIdle` and
  /// `post-session-idle`.
  public static let commandLine = KeySpelling(style: .commandLine)

  /// The names of variables: for the key `mailServer.max-size` in the namespace `post`, these are
  /// `POST_MAIL_SERVER_MAX_SIZE`, `POST_MAILSERVER_MAX_SIZE` and `POST_MAILSERVER_MAXSIZE`.
  ///
  /// - Parameter prefix: the text before each name; an underscore is added if it does not end with one.
  public static func environmentVariables(prefix: String = "") -> KeySpelling {
    KeySpelling(style: .environmentVariables(prefix: prefix.isEmpty || prefix.hasSuffix("_") ? prefix : "\(prefix)_"))
  }

  /// Whether the source has no other names.
  var isExact: Bool { style == .exact }

  /// The text before each name.
  var prefix: String { if case .environmentVariables(let prefix) = style { prefix } else { "" } }

  /// Whether all names of the source are meant for this program. Variables without a prefix are not: `PATH` is no key.
  var isOfProgram: Bool { if case .environmentVariables(let prefix) = style { !prefix.isEmpty } else { true } }

  /// Returns the other names of a key, the preferred one first.
  func names(of key: QualifiedKey) -> [String] {
    let exact = "\(key)"
    return allNames(of: key).filter { $0 != exact }
  }

  /// Returns the first of the other names that a shell can export.
  func exportedName(of key: QualifiedKey) -> String? {
    names(of: key).first {
      $0.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
  }

  /// Returns the beginnings of the names below a section.
  func beginnings(of section: QualifiedKey) -> [String] {
    if section.namespace.isEmpty && section.key.isEmpty { return [prefix] }
    return allNames(of: section).flatMap { name in separators.map { "\(name)\($0)" } }
  }

  /// Returns the names that the spelling has for a key, with the key itself if it is one of them.
  private func allNames(of key: QualifiedKey) -> [String] {
    let parts = [key.namespace, key.key].filter { !$0.isEmpty }
    let whole = parts.joined(separator: ".")
    var names: [String]
    switch style {
    case .exact: return []
    case .commandLine:
      names = [whole] + [true, false].map { KeyWords.split(whole, atCase: $0).joined(separator: "-").lowercased() }
    case .environmentVariables(let prefix):
      names = [
        Self.variable(whole, atCase: true), Self.variable(whole, atCase: false),
        Self.variable(whole.filter { $0 != "-" }, atCase: false),
      ]
      if prefix.isEmpty {
        names = names.map { $0.first?.isNumber == true ? "_\($0)" : $0 }
      } else {
        names = (["\(key)"] + names).map { prefix + $0 }
      }
    }
    var known: Set = [""]
    return names.filter { known.insert($0).inserted }
  }

  /// Returns the key that the rest of a name denotes below a section, if no source has the exact key.
  func key(ofRest rest: some StringProtocol) -> String {
    if style == .commandLine { return String(rest) }
    return rest.lowercased().split(separator: "_").joined(separator: ".")
  }

  private var separators: [Character] {
    switch style {
    case .exact: ["."]
    case .commandLine: [".", "-"]
    case .environmentVariables: ["_"]
    }
  }

  /// Returns the name of a variable, of letters, digits and underscores.
  private static func variable(_ key: String, atCase: Bool) -> String {
    KeyWords.split(key, atCase: atCase).joined(separator: "_").uppercased()
  }
}

/// The words of a key.
enum KeyWords {
  /// Returns the words of a text. All characters but ASCII letters and digits separate words, and if `atCase`, so does
  /// the change from lower to upper case: `HTTPServer.maxSize` has the words `HTTP`, `Server`, `max` and `Size`.
  static func split(_ text: String, atCase: Bool) -> [String] {
    let scalars = Array(text.unicodeScalars)
    var words: [String] = []
    var word = ""
    for (index, scalar) in scalars.enumerated() {
      if isSeparator(scalar) {
        if !word.isEmpty { words.append(word) }
        word = ""
        continue
      }
      if atCase, index > 0, isUpper(scalar), !word.isEmpty {
        let isAcronymEnd = isUpper(scalars[index - 1]) && index + 1 < scalars.count && isLower(scalars[index + 1])
        if !isUpper(scalars[index - 1]) || isAcronymEnd {
          words.append(word)
          word = ""
        }
      }
      word.unicodeScalars.append(scalar)
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    !isUpper(scalar) && !isLower(scalar) && !("0"..."9").contains(scalar)
  }
  private static func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }
  private static func isLower(_ scalar: Unicode.Scalar) -> Bool { ("a"..."z").contains(scalar) }
}
