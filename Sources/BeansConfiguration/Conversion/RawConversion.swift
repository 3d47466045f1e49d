/// Conversions between `RawRepresentable` types, such as enums, and types that convert to or from their raw values.
enum RawConversion {
  static func find<Target: RawRepresentable>(
    _ source: Any.Type, to target: Target.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion? {
    guard let raw = factory.search(source, Target.RawValue.self, depth: depth) else { return nil }
    return { value in
      guard let raw = try raw(value) as? Target.RawValue else { throw ConversionFailure() }
      guard let result = Target(rawValue: raw) else { throw ConversionFailure(expectation(target)) }
      return result
    }
  }

  static func find<Source: RawRepresentable>(
    from source: Source.Type, _ target: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion? {
    guard let raw = factory.search(Source.RawValue.self, target, depth: depth) else { return nil }
    return { value in
      guard let value = value as? Source else { throw ConversionFailure() }
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
