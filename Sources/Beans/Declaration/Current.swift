/// The bean of the request that is running, or of whatever child is current: what a longer-lived bean may keep.
///
/// As a parameter or a property. Startup proves that some child of a factory below has a `T`; each call looks in
/// `Environment.current`, which `withChild` sets.
public struct Current<T>: Sendable {
  private let lookup: any BeanLookup

  init(lookup: any BeanLookup) { self.lookup = lookup }

  /// The bean of the current child. From any thread or task in which that is current.
  ///
  /// - Throws: `.scopeNotActive` where no child of the environment that this was injected for is current, or where it has no
  ///   such bean; else as `Environment.getBean`.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    do { return try lookup.provide(T.self, id: nil) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}

extension Current: ParameterType {
  static var parameter: Parameter {
    let inner = Parameter.of(T.self)
    return Parameter(
      Current<T>.self, element: inner.element, .current(inner), qualifier: inner.qualifier,
      makeProvider: { lookup, _ in ValueBox(Current<T>(lookup: lookup)) })
  }
}
