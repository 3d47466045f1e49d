import Beans

/// A strict parser of RFC 8259 that knows the line of each value.
///
/// It exists because the JSON parser of Foundation neither returns lines nor notices repeated keys, and brings ICU along.
/// It copies texts only, and stops at the first fault: text after a syntax fault has no certain meaning.
struct JSONParser {
  let file: ConfigurationFile
  let bytes: [UInt8]
  /// The index of the next byte.
  var index = 0
  private(set) var line = 1
  /// The index of the first byte of the line.
  private var lineStart = 0
  private var count = 0

  init(_ bytes: [UInt8], of file: ConfigurationFile) { (self.bytes, self.file) = (bytes, file) }

  /// Parses the whole file.
  ///
  /// - Throws: `.conversionFailed` with line and column.
  mutating func parse() throws(EnvironmentError) -> ConfigurationTree {
    try file.check(bytes)
    // A byte order mark, written by some editors.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (index, lineStart) = (3, 3) }
    try skipSpace()
    guard next != nil else { throw fault("the file is empty: write {} for no values") }
    let root = try value(depth: 0)
    try skipSpace()
    if next != nil { throw fault("there is text after the end of the outermost value: remove it") }
    return root
  }

  // MARK: values

  private mutating func value(depth: Int) throws(EnvironmentError) -> ConfigurationTree {
    count += 1
    if count > ConfigurationTree.maximumCount {
      throw fault("it has more than \(ConfigurationTree.maximumCount) values")
    }
    if depth > ConfigurationTree.maximumDepth {
      throw fault("the values are nested more than \(ConfigurationTree.maximumDepth) deep")
    }
    let line = line
    let content: ConfigurationTree.Content
    switch next ?? 0 {
    case UInt8(ascii: "{"): content = .object(try object(depth: depth))
    case UInt8(ascii: "["): content = .array(try array(depth: depth))
    case UInt8(ascii: "\""): content = .scalar(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): content = .scalar(try number())
    default: content = try word()
    }
    return ConfigurationTree(content, line: line)
  }

  private mutating func object(depth: Int) throws(EnvironmentError) -> [ConfigurationTree.Entry] {
    let opened = line
    var entries: [ConfigurationTree.Entry] = []
    index += 1
    try skipSpace()
    if take("}") { return entries }
    while true {
      guard next == UInt8(ascii: "\"") else { throw faultOfKey(opened, isFirst: entries.isEmpty) }
      let line = line
      let key = try string()
      try skipSpace()
      guard take(":") else { throw missing("':' after the key", "object", opened) }
      try skipSpace()
      entries.append(.init(key: key, line: line, value: try value(depth: depth + 1)))
      try skipSpace()
      if take("}") { return entries }
      guard take(",") else { throw missing("',' or '}' after the value", "object", opened) }
      try skipSpace()
    }
  }

  private mutating func array(depth: Int) throws(EnvironmentError) -> [ConfigurationTree] {
    let opened = line
    var elements: [ConfigurationTree] = []
    index += 1
    try skipSpace()
    if take("]") { return elements }
    while true {
      if next == nil { throw unclosed("array", opened) }
      if next == UInt8(ascii: "]") { throw fault("a comma before ']': remove the comma") }
      elements.append(try value(depth: depth + 1))
      try skipSpace()
      if take("]") { return elements }
      guard take(",") else { throw missing("',' or ']' after the value", "array", opened) }
      try skipSpace()
    }
  }

  private mutating func word() throws(EnvironmentError) -> ConfigurationTree.Content {
    let start = index
    var end = index
    while end < bytes.count, isWordByte(bytes[end]) { end += 1 }
    let word = String(decoding: bytes[start..<min(end, start + 32)], as: UTF8.self)
    switch word {
    case "true", "false":
      index = end
      return .scalar(word == "true")
    case "null":
      index = end
      return .null
    default: throw faultOfWord(word)
    }
  }

  // MARK: bytes

  /// The next byte; nil at the end of the file.
  var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Skips an ASCII character. Returns false if the next byte is another one.
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  /// Skips spaces and line breaks. A comment is a fault.
  private mutating func skipSpace() throws(EnvironmentError) {
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\n"):
        index += 1
        (line, lineStart) = (line + 1, index)
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): index += 1
      case UInt8(ascii: "#"), UInt8(ascii: "/"): throw fault("JSON has no comments: remove the comment")
      default: return
      }
    }
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte | 0x20 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: byte == UInt8(ascii: "_") || byte >= 0x80
    }
  }

  /// Returns the fault at the next byte, or at another byte of the same line.
  func fault(_ reason: String, at place: Int? = nil) -> EnvironmentError {
    let place = place ?? index
    return file.fault(
      reason, line: line, column: ConfigurationFile.characterCount(bytes[min(lineStart, place)..<place]) + 1)
  }
}
