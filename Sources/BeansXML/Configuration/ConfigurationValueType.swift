/// A value of the attribute `type` in `<configuration:define>`.
struct ConfigurationValueType {
  /// Converts a text; nil for a text that is no value of the type.
  let convert: @Sendable (String) -> (any Sendable)?

  /// Reads the type of an element. A missing or unknown type is a fault.
  static func read(_ reader: inout ElementReader) -> ConfigurationValueType? {
    guard let name = reader.required("type") else { return nil }
    if let type = known[name] { return type }
    reader.report(
      "'\(name)' is not a type of values: use one of \(known.keys.sorted().joined(separator: ", "))", "type")
    return nil
  }

  private static let known: [String: ConfigurationValueType] = [
    "String": .init { $0 },
    "Bool": .init { Bool($0) },
    "Int": .init { Int($0) }, "Int8": .init { Int8($0) }, "Int16": .init { Int16($0) },
    "Int32": .init { Int32($0) }, "Int64": .init { Int64($0) },
    "UInt": .init { UInt($0) }, "UInt8": .init { UInt8($0) }, "UInt16": .init { UInt16($0) },
    "UInt32": .init { UInt32($0) }, "UInt64": .init { UInt64($0) },
    "Float": .init { Float($0) }, "Double": .init { Double($0) },
  ]
}
