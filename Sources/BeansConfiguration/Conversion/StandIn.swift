import BeansReflection

/// Values that take the place of missing and faulty ones, so that decoding goes on and finds all faults. A value that is
/// decoded with a stand-in is discarded.
enum StandIn {
  private static let deepest = 16

  /// Returns a value of the type; nil if none can be made.
  static func make(_ type: Any.Type, depth: Int = 0) -> Any? {
    if let optional = type as? any OptionalConversion.Type { return optional.absent }
    if let list = type as? any ListType.Type { return list.make([]) }
    if let dictionary = type as? any DictionaryType.Type { return try? dictionary.make([]) }
    if let scalar = scalar(type) { return scalar }
    if let cases = type as? any CaseIterable.Type, let first = first(of: cases) { return first }
    if let raw = type as? any RawRepresentable.Type, let value = value(of: raw, depth) { return value }
    guard depth < deepest, let type = type as? any Decodable.Type else { return nil }
    return try? type.init(from: NodeDecoder(node: Node(depth: depth + 1)))
  }

  private static func scalar(_ type: Any.Type) -> Any? {
    if type == String.self { return "" }
    if type == Bool.self { return false }
    if type == Character.self { return Character(" ") }
    if type == Duration.self { return Duration.zero }
    if type == ByteCount.self { return ByteCount(0) }
    if let type = type as? any BinaryInteger.Type { return zero(type) }
    if let type = type as? any BinaryFloatingPoint.Type { return zero(type) }
    guard FoundationConversion.isKnown(type) else { return nil }
    let texts = ["http://localhost", "00000000-0000-0000-0000-000000000000"]
    return texts.lazy.compactMap { text in try? FoundationConversion.find(String.self, type)?(text) }.first
  }

  private static func zero<Number: BinaryInteger>(_ type: Number.Type) -> Any { Number.zero }
  private static func zero<Number: BinaryFloatingPoint>(_ type: Number.Type) -> Any { Number.zero }
  private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { Cases.allCases.first }

  private static func value<Value: RawRepresentable>(of type: Value.Type, _ depth: Int) -> Any? {
    guard depth < deepest else { return nil }
    if let raw = make(Value.RawValue.self, depth: depth + 1) as? Value.RawValue, let value = Value(rawValue: raw) {
      return value
    }
    let names = EnumCases.names(of: type).flatMap { [$0, $0.uppercased(), $0.lowercased()] }
    let numbers = (Value.RawValue.self as? any FixedWidthInteger.Type).map { Self.numbers($0) } ?? []
    return (names as [Any] + numbers).lazy.compactMap { ($0 as? Value.RawValue).flatMap { Value(rawValue: $0) } }.first
  }

  private static func numbers<Number: FixedWidthInteger>(_ type: Number.Type) -> [Any] {
    (0...255).compactMap { Number(exactly: $0) }
  }

  /// A place where each value is a stand-in.
  private struct Node: DecodedNode {
    let depth: Int
    var names: [String] { [] }
    var elements: [any DecodedNode] { [] }
    var exists: Bool { false }
    func child(_ name: String) -> any DecodedNode { self }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      if let value = StandIn.make(type, depth: depth) as? Value { return value }
      throw ConversionFailure()
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? { nil }
  }
}
