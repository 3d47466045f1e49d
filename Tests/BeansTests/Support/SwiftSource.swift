import Foundation

/// The declarations and uses of a source file, read from its text without a compiler.
struct SwiftSource {
  /// The path, relative to the requested folder.
  let path: String
  let lines: Int
  /// The lines that are neither empty nor a comment.
  let linesOfCode: Int
  /// The number of ternary operators.
  let ternaries: Int
  /// The number of questions to the `kind` of an environment.
  let testsOfModes: Int
  /// The types that the file extends at its top level, or declares as a class there.
  let extended: Set<String>
  /// Types that the file declares, nested ones included.
  let declared: Set<String>
  let words: Set<String>
  /// Functions, properties and cases of types and extensions; not of nested types.
  let members: Set<String>
  /// Names after a dot, and of functions that are called.
  let used: Set<String>
  /// Names that are declared inside of functions and of nested types.
  let inner: Set<String>
  /// Uses of constructs that the compiler cannot check for memory safety.
  let unsafe: [String]

  /// The folders that contain the file, outermost first.
  var folders: [String] { path.split(separator: "/").dropLast().map { String($0) } }

  init(path: String, text: String) {
    self.path = path
    lines = text.utf8.count { $0 == UInt8(ascii: "\n") }
    linesOfCode = Self.linesOfCode(text)
    let code = CodeReader.code(of: text)
    ternaries = code.matches(of: /\s\?\s/).count
    testsOfModes = code.matches(of: /kind\.(?:contains|isDisjoint)\(/).count
    extended = Set(code.matches(of: /(?m)^(?:[a-z@][^\n]*?)?\b(?:extension|class) ([A-Z]\w*)/).map { String($0.1) })
    let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { String($0) }
    self.words = Set(words)
    declared = Self.declared(in: code)
    let declarations = code.matches(of: /(?m)^( *)[^\n]*?\b(?:func|var|let|case) `?([a-z_]\w{4,})/)
    members = Set(declarations.filter { $0.1.count == 2 }.map { String($0.2) })
    inner = Set(declarations.filter { $0.1.count > 2 }.map { String($0.2) })
    used = Set(code.matches(of: /\.([a-z_]\w*)|\b([a-z_]\w*)\(/).map { String($0.1 ?? $0.2 ?? "") })
    unsafe =
      words.filter { Self.isUnsafe($0) } + ["unowned(unsafe)", "@exclusivity(unchecked)"].filter { code.contains($0) }
  }

  /// Returns the number of lines that are neither empty nor a comment.
  static func linesOfCode(_ text: String) -> Int {
    text.utf8.split(separator: UInt8(ascii: "\n")).count { line in
      let first = line.drop { $0 == UInt8(ascii: " ") }
      return !first.isEmpty && !first.starts(with: "//".utf8)
    }
  }

  /// The files of `Beans`.
  static let beans = Result {
    try all(
      in: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources/Beans"))
  }

  /// All files below a folder.
  static func all(in folder: URL) throws -> [SwiftSource] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.sorted().map {
      SwiftSource(path: $0, text: try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
    }
  }

  private static let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "actor"]

  private static func declared(in code: String) -> Set<String> {
    let tokens = code.split { $0.isWhitespace }
    var declared: Set<String> = []
    for (keyword, name) in zip(tokens, tokens.dropFirst())
    where keywords.contains(keyword) && name.first?.isUppercase == true {
      declared.insert(String(name.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
    }
    return declared
  }

  private static func isUnsafe(_ word: String) -> Bool {
    ["Unmanaged", "unsafeBitCast", "unsafelyUnwrapped", "unsafeDowncast"].contains(word)
      || word.hasPrefix("Unsafe") && word.hasSuffix("Pointer")
      || word.hasPrefix("withUnsafe") || word.hasPrefix("_withUnsafe")
  }
}

/// Removes comments and the text of strings from a source; interpolations stay.
private struct CodeReader {
  private var rest: ArraySlice<UInt8>
  private var code: [UInt8] = []

  static func code(of text: String) -> String {
    var reader = CodeReader(rest: ArraySlice(text.utf8))
    while !reader.rest.isEmpty { reader.readCode() }
    return String(decoding: reader.code, as: UTF8.self)
  }

  private init(rest: ArraySlice<UInt8>) { self.rest = rest }

  private mutating func skip(_ text: StaticString) -> Bool {
    guard rest.starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)) else {
      return false
    }
    rest.removeFirst(text.utf8CodeUnitCount)
    return true
  }

  /// Reads up to the end, or to a parenthesis that was opened before.
  private mutating func readCode() {
    var depth = 0
    while let byte = rest.first {
      if skip("//") {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      } else if skip("/*") {
        skipComment()
      } else if skip("\"\"\"") {
        readString(until: "\"\"\"")
      } else if skip("\"") {
        readString(until: "\"")
      } else {
        rest.removeFirst()
        if byte == UInt8(ascii: "(") { depth += 1 }
        if byte == UInt8(ascii: ")") { depth -= 1 }
        code.append(byte)
        if depth < 0 { return }
      }
    }
  }

  private mutating func skipComment() {
    var depth = 1
    while depth > 0, !rest.isEmpty {
      if skip("/*") { depth += 1 } else if skip("*/") { depth -= 1 } else { rest.removeFirst() }
    }
  }

  private mutating func readString(until end: StaticString) {
    code.append(UInt8(ascii: " "))
    while !rest.isEmpty, !skip(end) {
      if skip("\\(") {
        readCode()
      } else {
        rest.removeFirst(rest.first == UInt8(ascii: "\\") ? min(2, rest.count) : 1)
      }
    }
    code.append(UInt8(ascii: " "))
  }
}
