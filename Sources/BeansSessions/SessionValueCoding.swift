#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The stored form of a value: the schema's tag in UTF-8, a zero, and JSON with sorted keys, so that equal values have
/// equal bytes.
enum SessionValueCoding {
  /// Encodes a value. The error contains nothing of the value itself.
  ///
  /// - Throws: `.notEncodable`.
  static func encode(_ value: some Encodable, _ declaration: SessionValueDeclaration) throws(SessionError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(declaration.schema.utf8) + [0] + (try encoder.encode(value))
    } catch EncodingError.invalidValue(_, let context) {
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      throw .notEncodable(declaration.name, reason: context.debugDescription + (path.isEmpty ? "" : " (at \(path))"))
    } catch {
      throw .notEncodable(declaration.name, reason: "\(type(of: error))")
    }
  }

  /// The reason why stored bytes are treated as absent. It excludes the bytes, which are private to the visitor.
  enum Unreadable: Error {
    case otherSchema, noValue
  }

  static func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: [UInt8], schema: String
  ) throws(Unreadable) -> Value {
    guard let end = bytes.firstIndex(of: 0), bytes[..<end].elementsEqual(schema.utf8) else { throw .otherSchema }
    do {
      return try JSONDecoder().decode(type, from: Data(bytes[(end + 1)...]))
    } catch {
      throw .noValue
    }
  }
}
