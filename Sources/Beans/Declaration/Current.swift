/// A reference to a bean of the current child, such as the running request, that a longer-lived bean may keep.
///
/// Use it as a parameter or a property. Startup verifies that a child of some factory below has a `T`. Each call looks
/// in `Environment.current`, which `withChild` sets.
public struct Current<T>: Sendable {
  private let lookup: any BeanLookup

  init(lookup: any BeanLookup) { self.lookup = lookup }

  /// Returns the bean of the current child. Callable from any thread or task in which that child is current.
  ///
  /// - Throws: `.scopeNotActive` where no child of the environment of the injection is current, or where the current
  ///   child has no such bean; else as `Environment.getBean`.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    do { return try lookup.provide(T.self, id: nil) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}

extension Current: ParameterType {
  static var parameter: Parameter {
    let inner = Parameter.of(T.self)
    return Parameter(
      Current<T>.self, element: inner.element, .current(inner), qualifier: inner.qualifier,
      wrap: { if case .lookup(let lookup, _) = $0 { ValueBox(Current<T>(lookup: lookup)) } else { nil } })
  }
}
