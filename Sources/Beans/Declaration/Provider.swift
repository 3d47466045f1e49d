/// Where a `Provider` looks beans up when it is called.
protocol BeanLookup: AnyObject, Sendable {
  /// The bean, in the current environment where that is a descendant of this one, else here.
  func provide<T>(_ type: T.Type, id: String?) throws -> T
}

/// Resolves a bean when called, not when injected.
///
/// A provider breaks cycles and lets a longer-lived bean reach a shorter-lived one. It looks in `Environment.current`
/// where that is a descendant of the environment the provider was injected for, else in that environment itself;
/// outside a request, a request's bean is `.scopeNotActive`.
///
/// As a parameter or a property: `Provider<T>`, where `T` may be whatever a parameter may be, such as `Provider<[T]>`,
/// `Provider<T?>` and `Provider<[String: T]>`. It is never inside a collection or an optional, which is a fault at startup.
public struct Provider<T>: Sendable {
  private let lookup: any BeanLookup
  private let id: String?

  init(lookup: any BeanLookup, id: String? = nil) {
    self.lookup = lookup
    self.id = id
  }

  /// The bean, as `getBean` would give it. From any thread.
  ///
  /// - Throws: as `Environment.getBean`.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    do { return try lookup.provide(T.self, id: id) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}
