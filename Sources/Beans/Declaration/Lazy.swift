import BeansErrors
@_spi(BeansPackage) import BeansSupport
import CBeansRuntime

/// What is known to be there, and is evaluated when it is asked for.
protocol DeferredBean: AnyObject, Sendable {
  /// Hands the value to `keep` while the environment cannot end, and has the owner let go of it when that ends.
  func evaluate<T>(_ type: T.Type, for owner: any KeepsBean, _ keep: (T) -> Void) throws -> T
  /// The owner, whose value was kept, is gone.
  func forget(_ owner: ObjectIdentifier)
  /// Waits until `builder`, the thread that evaluates it for an owner, has told the end, or throws where that is a circle.
  func wait(for owner: AnyObject, _ type: Any.Type, builder: () -> UInt?) throws
  func end(_ owner: AnyObject)
}

/// What keeps a bean outside the environment's slots, where it may be part of a circle.
protocol KeepsBean: AnyObject, Sendable {
  func letGo()
}

/// A bean that is built when it is first asked for, and kept from then on.
///
/// As a parameter or a property: `Lazy<T>`, `[Lazy<T>]`, `Lazy<T>?`, `[String: Lazy<T>]`; `T` may be whatever a parameter may
/// be. The bean is found and checked at startup like any other: one that is missing, ambiguous or would not live as long as
/// who takes it is a fault. It is not built for whoever takes it, so that two beans may need each other. It is the one that
/// the taker's environment sees; a prototype is made once for each `Lazy`. When that environment ends, the `Lazy` lets go of
/// what it kept, and `get()` throws `.finished`.
public struct Lazy<T>: Sendable {
  private let state: LazyState<T>

  init(_ bean: any DeferredBean) { state = LazyState(bean) }

  /// A bean that is there, for tests of types that take one.
  public init(_ bean: T) { state = LazyState(bean) }

  /// The bean. From any thread; others that ask meanwhile wait for the one that builds it.
  ///
  /// - Throws: as `Environment.getBean`; after that the next call tries again.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    do { return try state.get() } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}

private final class LazyState<T>: KeepsBean {
  private struct State {
    var bean: T?
    /// The thread that evaluates it.
    var thread: UInt?
  }

  private let source: (any DeferredBean)?
  private let state: Locked<Carried<State>>

  init(_ source: any DeferredBean) {
    self.source = source
    state = Locked(Carried(value: State()))
  }

  init(_ bean: T) {
    source = nil
    state = Locked(Carried(value: State(bean: bean)))
  }

  deinit {
    if let source, state.withLock({ $0.value.bean != nil }) { source.forget(ObjectIdentifier(self)) }
  }

  func letGo() {
    let old = state.withLock { state in
      defer { state = Carried(value: State()) }
      return state
    }
    // Outside the lock: whatever goes with it may ask this one.
    withExtendedLifetime(old) {}
  }

  func get() throws -> T {
    while true {
      let thread = UInt(beans_thread())
      let (seen, isOwn) = state.withLock { state in
        let isOwn = state.value.bean == nil && state.value.thread == nil
        if isOwn { state.value.thread = thread }
        return Carried(value: (state.value.bean, isOwn))
      }.value
      if let bean = seen { return bean }
      // Without a source there is a bean.
      guard let source else { continue }
      if isOwn { return try evaluate(source) }
      try source.wait(for: self, T.self) { state.withLock { $0.value.thread } }
    }
  }

  private func evaluate(_ source: any DeferredBean) throws -> T {
    defer { source.end(self) }
    do {
      return try source.evaluate(T.self, for: self) { bean in
        let kept = Carried(value: State(bean: bean))
        state.withLock { $0 = kept }
      }
    } catch {
      state.withLock { $0.value.thread = nil }
      throw error
    }
  }
}

extension Lazy: ParameterType {
  static var parameter: Parameter {
    let inner = Parameter.of(T.self)
    return Parameter(
      Lazy<T>.self, element: inner.element, .lazy(inner), qualifier: inner.qualifier,
      makeLazy: { ValueBox(Lazy<T>($0)) })
  }
}
