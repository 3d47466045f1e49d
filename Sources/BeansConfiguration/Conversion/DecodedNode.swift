/// A place from which a `Decodable` type is decoded: a value, or a section with other places below it.
protocol DecodedNode {
  /// The names of the places below.
  var names: [String] { get }
  /// The places of the elements, if this is the place of a list.
  var elements: [any DecodedNode] { get }
  /// Whether there is a value here, or one below.
  var exists: Bool { get }

  /// Returns the place below with that name, whether there is a value or not.
  func child(_ name: String) -> any DecodedNode
  /// Returns the value here as a type.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value
  /// Returns the value here as a type; nil if there is none.
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value?
}

/// A decoder for one place.
struct NodeDecoder: Decoder {
  let node: any DecodedNode
  var codingPath: [any CodingKey] = []
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(NodeContainer(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { NodeList(node: node, codingPath: codingPath) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    NodeValue(node: node, codingPath: codingPath)
  }
}

// In the containers, one generic method is the witness of the requirements for all types. Only `decodeIfPresent` needs
// a method for each, because the standard library has one that asks `contains` first, and that would be the witness.

private struct NodeContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let node: any DecodedNode
  let codingPath: [any CodingKey]

  var allKeys: [Key] { node.names.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { node.child(key.stringValue).exists }
  func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try node.child(key.stringValue).decode(type)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try present(type, key)
  }

  private func present<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try node.child(key.stringValue).decodeIfPresent(type)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try present(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try present(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try present(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try present(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try present(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try present(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try present(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try present(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try present(type, key) }

  func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Inner> {
    try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }

  /// The superclass has its values in the same section.
  func superDecoder() throws -> any Decoder { NodeDecoder(node: node, codingPath: codingPath) }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    NodeDecoder(node: node.child(key.stringValue), codingPath: codingPath + [key])
  }
}

private struct NodeList: UnkeyedDecodingContainer {
  private let nodes: [any DecodedNode]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(node: any DecodedNode, codingPath: [any CodingKey]) {
    self.nodes = node.elements
    self.codingPath = codingPath
  }

  var count: Int? { nodes.count }
  var isAtEnd: Bool { currentIndex >= nodes.count }

  private mutating func next() throws -> any DecodedNode {
    guard currentIndex < nodes.count else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: codingPath, debugDescription: "there is no element \(currentIndex)"))
    }
    defer { currentIndex += 1 }
    return nodes[currentIndex]
  }

  mutating func decodeNil() throws -> Bool { false }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }

  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try superDecoder().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try superDecoder().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { NodeDecoder(node: try next(), codingPath: codingPath) }
}

private struct NodeValue: SingleValueDecodingContainer {
  let node: any DecodedNode
  let codingPath: [any CodingKey]

  func decodeNil() -> Bool { !node.exists }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try node.decode(type) }
}
