/// Optionals, whatever they wrap.
protocol OptionalConversion {
  static func conversion(
    from source: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion?
  static func conversion(to target: Any.Type, in factory: StandardConversionFactory, depth: Int) -> Conversion?
  /// nil.
  static var absent: Any { get }
}

extension Optional: OptionalConversion {
  static var absent: Any { Self.none as Any }

  static func conversion(
    from source: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion? {
    guard let inner = factory.search(source, Wrapped.self, depth: depth) else { return nil }
    return { value in
      guard let wrapped = try inner(value) as? Wrapped else { throw ConversionFailure() }
      return Self.some(wrapped) as Any
    }
  }

  static func conversion(to target: Any.Type, in factory: StandardConversionFactory, depth: Int) -> Conversion? {
    guard let inner = factory.search(Wrapped.self, target, depth: depth) else { return nil }
    return { value in
      if case .some(let wrapped)? = value as? Self { return try inner(wrapped) }
      guard let target = target as? any OptionalConversion.Type else { throw ConversionFailure("there is no value") }
      return target.absent
    }
  }
}

/// Arrays, whatever their elements are.
protocol ArrayType {
  static func conversion(
    from source: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion?
  static func textConversion(in factory: StandardConversionFactory, depth: Int) -> Conversion?
  static func elementConversion(
    to target: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> ((Any) throws -> [Any])?
}

extension Array: ArrayType {
  static func conversion(
    from source: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion? {
    let elements: ((Any) throws -> [Any])?
    if source == String.self {
      elements = factory.search(String.self, Element.self, depth: depth).map { convert in
        { value in try CommaList.split(value as? String ?? "").map { try Self.element($0, convert) } }
      }
    } else if let source = source as? any ArrayType.Type {
      elements = source.elementConversion(to: Element.self, in: factory, depth: depth)
    } else {
      elements = nil
    }
    guard let elements else { return nil }
    return { value in
      let converted = try elements(value)
      let result = converted.compactMap { $0 as? Element }
      guard result.count == converted.count else { throw ConversionFailure() }
      return result
    }
  }

  static func textConversion(in factory: StandardConversionFactory, depth: Int) -> Conversion? {
    guard let convert = elementConversion(to: String.self, in: factory, depth: depth) else { return nil }
    return { value in try convert(value).map { "\($0)" }.joined(separator: ",") }
  }

  static func elementConversion(
    to target: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> ((Any) throws -> [Any])? {
    factory.search(Element.self, target, depth: depth).map { convert in
      { value in
        guard let array = value as? Self else { throw ConversionFailure() }
        return try array.map { try Self.element($0, convert) }
      }
    }
  }

  /// The fault names the element, not the whole list.
  private static func element(_ value: Any, _ convert: Conversion) throws -> Any {
    do { return try convert(value) } catch { throw ConversionFailure.error(value, to: Element.self, error) }
  }
}

/// Text that lists its elements.
enum CommaList {
  /// The elements without the spaces around them; none for text without any content.
  static func split(_ text: String) -> [String] {
    if text.allSatisfy(\.isWhitespace) { return [] }
    return text.split(separator: ",", omittingEmptySubsequences: false).map { TextConversion.trim($0) }
  }
}
