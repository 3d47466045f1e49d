import Beans

/// An element whose end has not been read yet.
struct ElementBuilder {
  let name: String
  let qualifiedName: String
  let namespace: String
  let attributes: [DocumentAttribute]
  let origin: EnvironmentError.Origin
  /// The prefixes that the element declares.
  let prefixes: [String]
  var children: [DocumentElement] = []
  private let keepsSpace: Bool
  private var characters = ""
  /// The range in `characters` from the first CDATA section to the end of the last one.
  private var verbatim: Range<String.Index>?

  init(
    name: String, qualifiedName: String, namespace: String, attributes: [DocumentAttribute],
    origin: EnvironmentError.Origin, prefixes: [String], within parent: ElementBuilder?
  ) {
    self.name = name
    self.qualifiedName = qualifiedName
    self.namespace = namespace
    self.attributes = attributes
    self.origin = origin
    self.prefixes = prefixes
    let space = attributes.first { $0.qualifiedName == "xml:space" }?.value
    keepsSpace = space.map { $0 == "preserve" } ?? parent?.keepsSpace ?? false
  }

  /// Appends text. It arrives in pieces, because the parser breaks it at references and at the end of its buffer.
  mutating func append(_ piece: String) { characters += piece }

  mutating func append(verbatim piece: String) {
    let start = characters.utf8.endIndex
    characters += piece
    verbatim = (verbatim?.lowerBound ?? start)..<characters.utf8.endIndex
  }

  func finish() -> DocumentElement {
    DocumentElement(
      name: name, qualifiedName: qualifiedName, namespace: namespace, attributes: attributes, children: children,
      text: text, characters: characters, origin: origin)
  }

  private var text: String {
    if keepsSpace { return characters }
    let utf8 = characters.utf8
    var start = utf8.startIndex
    var end = utf8.endIndex
    let keptStart = verbatim?.lowerBound ?? end
    while start < keptStart, Self.isSpace(utf8[start]) { start = utf8.index(after: start) }
    let keptEnd = verbatim?.upperBound ?? start
    while end > keptEnd, Self.isSpace(utf8[utf8.index(before: end)]) { end = utf8.index(before: end) }
    return String(characters[start..<end])
  }

  /// Whether a byte is white space in XML; other blanks are text.
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
