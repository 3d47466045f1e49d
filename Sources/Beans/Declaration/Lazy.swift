import BeansErrors

/// A bean that is known to exist, and is evaluated on demand.
protocol DeferredBean: AnyObject, Sendable {
  /// Returns the bean: the one that an environment keeps, or the one that the first call has made.
  func evaluate<T>(_ type: T.Type) throws -> T
}

/// A bean that is built at its first use, and kept from then on.
///
/// Use it as a parameter or a property: `Lazy<T>`, `[Lazy<T>]`, `Lazy<T>?`, `[String: Lazy<T>]`. `T` may be any type
/// that a parameter may have. Startup finds and checks the bean like any other: a missing or ambiguous bean, or one
/// that lives shorter than its taker, is a fault. Building the taker does not build the bean, so that two beans may need
/// each other. Startup builds a singleton that is not declared as lazy before its takers, unless it leads back to them,
/// and its environment releases it after them. It is the bean that the taker's environment finds; a prototype is made once for each `Lazy`. When that
/// environment ends, the `Lazy` drops the reference to the bean, and `get()` throws `.finished`.
public struct Lazy<T>: Sendable {
  private let bean: any DeferredBean

  init(_ bean: any DeferredBean) { self.bean = bean }

  /// Wraps an existing bean, for tests of types that take one.
  public init(_ bean: T) { self.bean = GivenBean(bean) }

  /// Returns the bean. Callable from any thread; concurrent callers wait for the thread that builds it.
  ///
  /// - Throws: as `Environment.getBean`; after an error, the next call tries again.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    do { return try bean.evaluate(T.self) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}

/// A bean that exists already.
private final class GivenBean: DeferredBean {
  private let box: ObjectReference

  init<T>(_ bean: T) { box = ObjectReference(ValueBox(bean)) }

  deinit { box.release() }

  func evaluate<T>(_ type: T.Type) -> T {
    box.retain()
    return box.take(as: ValueBox<T>.self).value
  }
}

extension Lazy: ParameterType {
  static var parameter: Parameter {
    let inner = Parameter.of(T.self)
    return Parameter(
      Lazy<T>.self, element: inner.element, .lazy(inner), qualifier: inner.qualifier,
      wrap: { if case .deferred(let bean) = $0 { ValueBox(Lazy<T>(bean)) } else { nil } })
  }
}
