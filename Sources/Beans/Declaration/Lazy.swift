import BeansErrors
@_spi(BeansPackage) import BeansSupport

/// A bean that is known to exist, and is evaluated on demand.
protocol DeferredBean: AnyObject, Sendable {
  /// Whether an environment keeps the bean, so that each evaluation has the same result.
  var isKept: Bool { get }
  /// Evaluates the value and passes it to `keep` while the environment cannot end.
  ///
  /// - Parameter owner: drops the value when the environment ends; nil for a bean that the environment keeps.
  func evaluate<T>(_ type: T.Type, for owner: (any KeepsBean)?, _ keep: (T) -> Void) throws -> T
  /// Removes a deallocated owner that kept the value.
  func forget(_ owner: ObjectIdentifier)
  /// The name of the environment of the taker.
  var place: String { get }
}

/// An owner of a bean outside the environment's slots, which may be part of a reference cycle.
protocol KeepsBean: AnyObject, Sendable {
  func letGo()
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
  private enum Source {
    /// A bean that an environment keeps: each call looks it up.
    case kept(any DeferredBean)
    /// A value that is evaluated once.
    case state(LazyState<T>)
  }

  private let source: Source

  init(_ bean: any DeferredBean) { source = bean.isKept ? .kept(bean) : .state(LazyState(bean)) }

  /// Wraps an existing bean, for tests of types that take one.
  public init(_ bean: T) { source = .state(LazyState(bean)) }

  /// Returns the bean. Callable from any thread; concurrent callers wait for the thread that builds it.
  ///
  /// - Throws: as `Environment.getBean`; after an error, the next call tries again.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    do {
      switch source {
      case .kept(let bean): return try bean.evaluate(T.self, for: nil) { _ in }
      case .state(let state): return try state.get()
      }
    } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}

private final class LazyState<T>: KeepsBean {
  private struct State {
    /// The box of the bean, retained.
    var bean: ObjectReference?
    /// The evaluation of the bean.
    var flight: Flight?
  }

  private let source: (any DeferredBean)?
  private let state: Locked<State>

  init(_ source: any DeferredBean) {
    self.source = source
    state = Locked(State())
  }

  init(_ bean: T) {
    source = nil
    state = Locked(State(bean: ObjectReference(ValueBox(bean))))
  }

  deinit {
    guard let bean = take() else { return }
    source?.forget(ObjectIdentifier(self))
    bean.release()
  }

  // Released outside the lock: a deinitializer that runs now may call this object.
  func letGo() { take()?.release() }

  private func take() -> ObjectReference? {
    state.withLock { state in
      defer { state = State() }
      return state.bean
    }
  }

  func get() throws -> T {
    while true {
      let (seen, flight, isOwn) = state.withLock { state in
        let isOwn = state.bean == nil && state.flight == nil
        if isOwn { state.flight = Flight() }
        state.bean?.retain()
        return (state.bean, state.flight, isOwn)
      }
      if let bean = seen { return bean.take(as: ValueBox<T>.self).value }
      // Without a source there is a bean.
      guard let source, let flight else { continue }
      if isOwn { return try evaluate(source, flight) }
      try flight.wait(for: "Lazy<\(T.self)>", in: source.place)
    }
  }

  private func evaluate(_ source: any DeferredBean, _ flight: Flight) throws -> T {
    defer { flight.end() }
    do {
      return try source.evaluate(T.self, for: self) { bean in
        let kept = State(bean: ObjectReference(ValueBox(bean)))
        state.withLock { $0 = kept }
      }
    } catch {
      state.withLock { $0.flight = nil }
      throw error
    }
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
