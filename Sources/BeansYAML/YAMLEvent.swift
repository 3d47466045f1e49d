/// One event of a YAML stream, with the place at which it begins.
struct YAMLEvent {
  enum Kind {
    case documentStart
    case mappingStart(YAMLProperties), mappingEnd
    case sequenceStart(YAMLProperties), sequenceEnd
    case scalar(String, isPlain: Bool, YAMLProperties)
    /// A reference to the node with that anchor.
    case alias(String)
    case streamEnd
    /// The start of the stream or the end of a document, which have no meaning here.
    case other
  }

  let kind: Kind
  /// The line, from 1.
  let line: Int
  /// The column in characters, from 1.
  let column: Int
}

/// The properties that are written before a node.
struct YAMLProperties {
  let anchor: String?
  let tag: String?
}
