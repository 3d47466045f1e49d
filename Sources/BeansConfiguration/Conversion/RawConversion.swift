/// Conversions between `RawRepresentable` types, such as enums, and types that convert to or from their raw values.
enum RawConversion {
  static func find(_ source: Any.Type, _ target: Any.Type, raw search: PartSearch) -> Conversion? {
    if let target = target as? any RawRepresentable.Type, let found = find(source, to: target, search) { return found }
    guard let source = source as? any RawRepresentable.Type else { return nil }
    return find(from: source, target, search)
  }

  private static func find<Value: RawRepresentable>(
    _ source: Any.Type, to target: Value.Type, _ search: PartSearch
  ) -> Conversion? {
    guard let raw = search(source, Value.RawValue.self) else { return nil }
    return { value in
      guard let raw = try raw(value) as? Value.RawValue else { throw ConversionFailure() }
      guard let result = Value(rawValue: raw) else { throw ConversionFailure(expectation(target)) }
      return result
    }
  }

  private static func find<Value: RawRepresentable>(
    from source: Value.Type, _ target: Any.Type, _ search: PartSearch
  ) -> Conversion? {
    guard let raw = search(Value.RawValue.self, target) else { return nil }
    return { value in
      guard let value = value as? Value else { throw ConversionFailure() }
      return try raw(value.rawValue)
    }
  }

  /// The text "expected one of …", for types that can list their values.
  private static func expectation(_ target: any RawRepresentable.Type) -> String {
    guard let target = target as? any CaseIterable.Type else { return "expected the raw value of a case" }
    func list<Cases: CaseIterable>(_ type: Cases.Type) -> [String] {
      type.allCases.prefix(12).compactMap { ($0 as? any RawRepresentable).map { "\($0.rawValue)" } }
    }
    return "expected one of \(list(target).joined(separator: ", "))"
  }
}
