import Beans

/// The positions of the tags and attributes of a document, found in one pass before the document is parsed.
///
/// The parser reports only the end of a tag, and no positions of attributes. The pass also rejects documents that are
/// dangerous to parse: too large, too deep, or with a DTD of their own. It leaves all other errors to the parser, which
/// stops at the first one, so the pass and the parser agree on every tag up to there.
struct XMLOutline {
  struct Position: Equatable {
    var line = 1
    var column = 1
  }

  struct Attribute {
    let name: Range<Int>
    let position: Position
  }

  struct Tag {
    let position: Position
    let attributes: [Attribute]
  }

  private(set) var tags: [Tag] = []
  /// The ends of processing instructions that contain only a name.
  private var bareInstructions: [Int] = []
  private let bytes: [UInt8]
  private let limits: XMLLimits
  private let source: String
  private var index = 0
  private var position = Position()
  private var depth = 0

  /// - Throws: `.invalidXML` for a document that is rejected before parsing.
  init(_ bytes: [UInt8], limits: XMLLimits, source: String) throws {
    self.bytes = bytes
    self.limits = limits
    self.source = source
    guard bytes.count <= limits.bytes else {
      throw refusal("the document has \(bytes.count) bytes, more than the \(limits.bytes) that are read")
    }
    try XMLEncoding.check(bytes, source: source)
    try scan()
  }

  /// Returns the text of a name.
  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private mutating func scan() throws {
    skipByteOrderMark()
    while index < bytes.count {
      if bytes[index] != UInt8(ascii: "<") {
        advance()
      } else if at("<!--") {
        skip(4, through: "-->")
      } else if at("<![CDATA[") {
        skip(9, through: "]]>")
      } else if at("<?") {
        scanInstruction()
      } else if at("<!DOCTYPE") {
        try scanDocumentType()
      } else if at("</") {
        depth -= 1
        skip(2, through: ">")
      } else if at("<!") {
        advance()
      } else {
        try scanTag()
      }
    }
  }

  /// The document for the parser. Foundation on Linux reads through a null pointer where a processing instruction
  /// contains only a name (`<?name?>`), so a space is inserted after the name. Errors after it on the same line are off
  /// by one column.
  var parsable: [UInt8] {
    var result: [UInt8] = []
    var start = 0
    for end in bareInstructions {
      result += bytes[start..<end] + [0x20]
      start = end
    }
    return result + bytes[start...]
  }

  private mutating func scanInstruction() {
    let start = index
    skip(2, through: "?>")
    let isBare = !bytes[start..<index].contains { Self.isSpace($0) }
    if isBare, index - start >= 4 { bareInstructions.append(index - 2) }
  }

  private mutating func scanTag() throws {
    let start = position
    depth += 1
    guard depth <= limits.depth else { throw refusal("elements are nested more than \(limits.depth) deep") }
    advance()
    skipName()
    var attributes: [Attribute] = []
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: ">") {
        advance()
        break
      } else if byte == UInt8(ascii: "/") {
        advance()
        if index < bytes.count, bytes[index] == UInt8(ascii: ">") { depth -= 1 }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        skipLiteral()
      } else if byte == UInt8(ascii: "=") || Self.isSpace(byte) {
        advance()
      } else {
        let (name, here) = (index, position)
        skipName()
        // No name begins with this byte; the parser reports it.
        if index == name { advance() }
        attributes.append(Attribute(name: name..<index, position: here))
        guard attributes.count <= limits.attributes else {
          throw refusal("an element has more than \(limits.attributes) attributes")
        }
      }
    }
    tags.append(Tag(position: start, attributes: attributes))
  }

  /// Scans a document type. A reference to an external DTD is skipped and never followed. A DTD inside the document is
  /// rejected: its entities and default attributes can make a small document grow without end, and no bean needs them.
  private mutating func scanDocumentType() throws {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        skipLiteral()
      case UInt8(ascii: "["):
        throw refusal(
          "a DTD inside the document, with entities or other declarations, is not supported: remove it", .documentType)
      case UInt8(ascii: ">"):
        return advance()
      default:
        advance()
      }
    }
  }

  private mutating func skipLiteral() {
    let quote = bytes[index]
    repeat { advance() } while index < bytes.count && bytes[index] != quote
    if index < bytes.count { advance() }
  }

  private mutating func skipName() {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "\""), UInt8(ascii: "'"): return
      case let byte where Self.isSpace(byte): return
      default: advance()
      }
    }
  }

  private mutating func skip(_ count: Int, through end: StaticString) {
    for _ in 0..<count { advance() }
    while index < bytes.count, !at(end) { advance() }
    for _ in 0..<min(end.utf8CodeUnitCount, bytes.count - index) { advance() }
  }

  private mutating func skipByteOrderMark() {
    // The byte order mark has no column in the first line.
    if bytes.starts(with: XMLEncoding.byteOrderMark) { index = XMLEncoding.byteOrderMark.count }
  }

  private mutating func advance() {
    let byte = bytes[index]
    index += 1
    if byte == UInt8(ascii: "\n") {
      position.line += 1
      position.column = 1
    } else if byte & 0xC0 != 0x80 {
      // The continuation bytes of a character have no column of their own.
      position.column += 1
    }
  }

  private func at(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - index >= count else { return false }
    return (0..<count).allSatisfy { unsafe bytes[index + $0] == text.utf8Start[$0] }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  private func refusal(_ message: String, _ cause: FaultCause = .invalidXML) -> EnvironmentError {
    EnvironmentError(
      cause: cause, message,
      origin: EnvironmentError.Origin(file: source, line: position.line, column: position.column))
  }
}
