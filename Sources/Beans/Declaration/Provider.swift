/// A place where a `Provider` looks beans up at each call.
protocol BeanLookup: AnyObject, Sendable {
  /// Returns the bean, from the current environment where that is a descendant of this one, else from here.
  func provide<T>(_ type: T.Type, id: String?) throws -> T
}

/// Resolves a bean at each call, not at its injection.
///
/// A provider breaks cycles and gives a longer-lived bean access to a shorter-lived one. It looks in
/// `Environment.current` where that is a descendant of the environment of the injection, else in that environment
/// itself. Outside a request, a request's bean is `.scopeNotActive`.
///
/// Use it as a parameter or a property: `Provider<T>`, where `T` may be any type that a parameter may have, such as
/// `Provider<[T]>`, `Provider<T?>` and `Provider<[String: T]>`. A provider inside a collection or an optional is a
/// fault at startup.
public struct Provider<T>: Sendable {
  private let lookup: any BeanLookup
  private let id: String?

  init(lookup: any BeanLookup, id: String? = nil) {
    self.lookup = lookup
    self.id = id
  }

  /// Returns the bean, as `getBean` does. Callable from any thread.
  ///
  /// - Throws: as `Environment.getBean`.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    do { return try lookup.provide(T.self, id: id) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}
