import Beans
import CYAML

/// The events of a YAML stream, read by libyaml. Confined to one thread.
@safe final class YAMLEventReader {
  // The reader owns both allocations from `init` to `deinit`. libyaml keeps the address of the input, and nothing else
  // has either of the addresses.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>
  private let file: ConfigurationFile
  private let bytes: [UInt8]

  /// Creates a reader.
  ///
  /// - Throws: `.conversionFailed` for bytes that are not UTF-8, and for more bytes than the limit.
  init(_ bytes: [UInt8], of file: ConfigurationFile) throws(EnvironmentError) {
    try file.check(bytes)
    (self.bytes, self.file) = (bytes, file)
    unsafe parser = .allocate(capacity: 1)
    // An empty buffer has no address, and libyaml needs one.
    unsafe input = .allocate(capacity: max(bytes.count, 1))
    _ = unsafe input.initialize(from: bytes)
    // Without memory, libyaml leaves zeros, which `yaml_parser_delete` accepts.
    guard unsafe yaml_parser_initialize(parser) == 1 else { throw file.fault("libyaml has not enough memory", line: 1) }
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  /// Reads the next event; after the end of the stream, its end again.
  ///
  /// - Throws: `.conversionFailed` with line and column for text that is not YAML.
  func next() throws(EnvironmentError) -> YAMLEvent {
    // `yaml_parser_parse` initialises the event, and `yaml_event_delete` frees its texts, which are copied before.
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault() }
    defer { unsafe yaml_event_delete(&event) }
    let mark = unsafe event.start_mark
    return unsafe YAMLEvent(kind: Self.kind(event), line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }

  private static func kind(_ event: yaml_event_t) -> YAMLEvent.Kind {
    // The type selects the member of the union that libyaml has set.
    switch unsafe event.type {
    case YAML_DOCUMENT_START_EVENT: return .documentStart
    case YAML_MAPPING_START_EVENT:
      let start = unsafe event.data.mapping_start
      return unsafe .mappingStart(.init(anchor: text(start.anchor), tag: text(start.tag)))
    case YAML_MAPPING_END_EVENT: return .mappingEnd
    case YAML_SEQUENCE_START_EVENT:
      let start = unsafe event.data.sequence_start
      return unsafe .sequenceStart(.init(anchor: text(start.anchor), tag: text(start.tag)))
    case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      let value = unsafe String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: Int(scalar.length)), as: UTF8.self)
      return unsafe .scalar(
        value, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE,
        .init(anchor: text(scalar.anchor), tag: text(scalar.tag)))
    case YAML_ALIAS_EVENT: return unsafe .alias(text(event.data.alias.anchor) ?? "")
    case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return .streamEnd
    default: return .other
    }
  }

  /// Copies a text that libyaml has ended with a NUL; nil for none.
  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe pointer.map { unsafe String(cString: $0) }
  }

  /// Returns the error of the last call.
  private func fault() -> EnvironmentError {
    // The texts are constants of libyaml.
    let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "libyaml has not enough memory"
    if unsafe parser.pointee.error == YAML_READER_ERROR {
      return file.fault(
        "\(problem): remove the character", atByte: unsafe Int(parser.pointee.problem_offset), of: bytes)
    }
    let mark = unsafe parser.pointee.problem_mark
    let context = unsafe parser.pointee.context.map { unsafe String(cString: $0) }
    let begun = unsafe " \(context ?? "") that begins in line \(parser.pointee.context_mark.line + 1)"
    let tab = problem.contains("cannot start any token") ? ": indent with spaces, and write the text in quotes" : ""
    let reason = "\(problem)\(tab)\(context == nil ? "" : begun)"
    // libyaml ends each file with a line break.
    let isAtEnd = mark.line > bytes.count { $0 == UInt8(ascii: "\n") }
    return isAtEnd
      ? file.fault(reason, atByte: bytes.count, of: bytes)
      : file.fault(reason, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }
}
