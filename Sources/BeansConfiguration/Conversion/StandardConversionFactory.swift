import BeansReflection
@_spi(BeansPackage) public import BeansErrors

/// The conversions of an environment: those that users register, and those between the standard types.
///
/// Without registration it converts
/// - between text and all integer and floating-point types: values out of range are refused, and so is a fraction
///   where an integer is expected; the nearest floating-point number is taken;
/// - text and numbers to `Bool`, and `Bool` to text: text is true, yes, on, 1 or false, no, off, 0 in any case, and a
///   number 1 or 0; a `Bool` is no number. Spaces around numbers and Booleans do not matter;
/// - text to a `Duration` (`250ms`, `1.5s`, `1h30m`; units d, h, m, s, ms, us, ns) and back;
/// - text and integers to a `ByteCount` (`64 MiB`), and it to text;
/// - raw values, and values that convert to them, to `RawRepresentable` types such as enums, and back;
/// - text to any `LosslessStringConvertible` type, and back;
/// - text to `URL` and `UUID` of Foundation, and back;
/// - text with commas to arrays (`1, 2,3`; empty text is an empty array) and back, and to sets;
/// - arrays and sets to sets, arrays to arrays, and dictionaries to dictionaries, element by element: elements of a set
///   may become equal, keys may not;
/// - to and from optionals of all these; and to a superclass or protocol, which leaves the value unchanged.
///
/// A registered conversion has precedence; among several, the one of the nearest environment. A search costs a few
/// dynamic casts. Callable from any thread.
public final class StandardConversionFactory: ConversionFactory {
  private struct Pair: Hashable {
    let source: ObjectIdentifier
    let target: ObjectIdentifier
  }

  private let parent: StandardConversionFactory?
  private let registered = Locked<[Pair: @Sendable (Any) throws -> Any]>([:])

  /// Creates a factory with the standard conversions and, if it has a parent, all conversions of the parent.
  public init(parent: StandardConversionFactory? = nil) { self.parent = parent }

  /// Adds a conversion, or replaces the one for the same two types. The parent is not affected.
  ///
  /// - Parameters:
  ///   - sourceType: the type of the values to convert; a class includes its subclasses.
  ///   - targetType: the type of the converted values.
  ///   - conversion: the function that converts. Its error arrives as `.conversionFailed`, with the original in
  ///     `underlying`. Called on the thread that converts; no lock is held.
  @discardableResult
  public func register<S, T>(
    _ sourceType: S.Type, targetType: T.Type, conversion: @escaping @Sendable (S) throws -> T
  ) -> Self {
    let erased: @Sendable (Any) throws -> Any = { value in
      guard let value = value as? S else { throw ConversionFailure("it is not a \(S.self)") }
      return try conversion(value)
    }
    let pair = Pair(source: ObjectIdentifier(sourceType), target: ObjectIdentifier(targetType))
    // Dropping a replaced closure may run user code: not under the lock.
    _ = registered.withLock { $0.updateValue(erased, forKey: pair) }
    return self
  }

  /// Returns the conversion between the two types, or nil. The conversion throws `.conversionFailed`, or
  /// `.invalidDeclaration` if two keys of a dictionary become one.
  public func findConversion(_ sourceType: Any.Type, targetType: Any.Type) -> Conversion? {
    guard let conversion = search(sourceType, targetType, depth: 0) else { return nil }
    return { value in
      do { return try conversion(value) } catch { throw ConversionFailure.error(value, to: targetType, error) }
    }
  }

  /// Returns `value` as the target type, converted if needed.
  ///
  /// - Throws: `.noConversion`; `.conversionFailed`, which names the faulty element of a collection;
  ///   `.invalidDeclaration` if two keys of a dictionary become one.
  public func convert(_ value: Any, targetType: Any.Type) throws(EnvironmentError) -> Any {
    guard let conversion = search(type(of: value), targetType, depth: 0) else {
      throw EnvironmentError(.noConversion, "no conversion from \(type(of: value)) to \(targetType) is registered")
    }
    do { return try conversion(value) } catch { throw ConversionFailure.error(value, to: targetType, error) }
  }

  /// Returns the value to be converted: a number with its spelling, if no registered conversion takes the number itself.
  func choose(_ value: any Sendable, spelled: (any Sendable)?, for target: Any.Type) -> any Sendable {
    guard let spelled, findRegistered(type(of: value), target) == nil else { return value }
    return search(type(of: spelled), target, depth: 0) == nil ? value : spelled
  }

  /// The nearest factory with registered conversions: two factories that share it convert alike.
  var effective: StandardConversionFactory {
    var factory = self
    while let parent = factory.parent, factory.registered.withLock({ $0.isEmpty }) { factory = parent }
    return factory
  }

  // MARK: searching

  /// Searches for a conversion. `depth` ends the search for types that contain themselves.
  private func search(_ source: Any.Type, _ target: Any.Type, depth: Int) -> Conversion? {
    guard depth < 16 else { return nil }
    if let found = findRegistered(source, target) { return found }
    if TypeRelation.isUsable(source, as: target) { return { $0 } }
    func inner(_ source: Any.Type, _ target: Any.Type) -> Conversion? { search(source, target, depth: depth + 1) }
    if let source = source as? any OptionalConversion.Type { return source.conversion(to: target, wrapped: inner) }
    if let target = target as? any OptionalConversion.Type { return target.conversion(from: source, wrapped: inner) }
    if let source = source as? any SpelledValue.Type {
      return RawConversion.find(source, target, raw: inner) ?? source.conversion(to: target, search: inner)
    }
    if source == BareOption.self { return BareOption.conversion(to: target) }
    return ScalarConversion.find(source, target) ?? CollectionConversion.find(source, target, elements: inner)
      ?? RawConversion.find(source, target, raw: inner) ?? TextConversion.find(source, target)
      ?? FoundationConversion.find(source, target)
  }

  private func findRegistered(_ source: Any.Type, _ target: Any.Type) -> Conversion? {
    let classes = ClassHierarchy.classes(of: source)
    let sources = classes.isEmpty ? [ObjectIdentifier(source)] : classes.map { ObjectIdentifier($0) }
    let target = ObjectIdentifier(target)
    var next: StandardConversionFactory? = self
    while let factory = next {
      let found = factory.registered.withLock { registered -> (@Sendable (Any) throws -> Any)? in
        if registered.isEmpty { return nil }
        for source in sources {
          if let found = registered[Pair(source: source, target: target)] { return found }
        }
        return nil
      }
      if let found { return found }
      next = factory.parent
    }
    return nil
  }
}
