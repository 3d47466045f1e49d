/// The messages for the parser's error codes. On Linux, errors of the parser contain only a code. (`xmlParserErrors` in
/// libxml2's `xmlerror.h`.)
enum XMLErrorText {
  /// Whether an error code is ignored. The handlers report undeclared prefixes, and a namespace need not be a proper
  /// URI.
  static func isTolerated(_ code: Int) -> Bool { [97, 98, 99, 100, undeclaredPrefix].contains(code) }

  static let undeclaredPrefix = 201

  static func describe(_ code: Int) -> String {
    texts[code].map { "\($0)" } ?? "the document is malformed (parser error \(code))"
  }

  private static let texts: [Int: String] = [
    4: "the document has no element",
    5: "the document has content after its end, or ends too early",
    6: "a character reference is incomplete", 7: "a character reference is incomplete",
    8: "a character reference is malformed",
    9: "a character is not allowed in XML, or is not valid in the document's encoding",
    23: "';' is missing after a reference", 26: "the entity is not declared", 27: "the entity is not declared",
    31: "the encoding is unknown", 32: "the encoding is unknown", 38: "'<' is not allowed in an attribute's value",
    39: "an attribute's value must be in quotes", 40: "an attribute's value has no closing quote",
    41: "an attribute has no value", 42: "an attribute is given twice", 45: "a comment has no end",
    46: "a processing instruction has no name", 47: "a processing instruction has no end",
    56: "'?>' is missing after the XML declaration", 61: "the document type is malformed",
    62: "']]>' is not allowed in text", 63: "a CDATA section has no end",
    64: "the XML declaration may be only at the very beginning", 65: "a space is missing between attributes",
    68: "a name is missing or malformed", 72: "'<' is not allowed here", 73: "'>' is missing",
    76: "the closing tag does not match the open element", 77: "the document ends before all elements are closed",
    80: "'--' is not allowed in a comment", 81: "the bytes do not match the document's encoding",
    89: "entities refer to each other without end", 200: "the prefix 'xml' cannot be declared otherwise",
    202: "a qualified name is malformed", 203: "an attribute is given twice", 204: "a namespace is empty",
    205: "a name may not contain ':' here",
  ]
}
