@_spi(BeansPackage) import BeansErrors

/// The lookup of a provider that finds private beans of a module, or only beans of the current child.
final class LimitedLookup: BeanLookup {
  private let environment: Environment
  private let module: ObjectIdentifier?
  /// The request of the provider.
  private let parameter: Parameter

  /// - Parameters:
  ///   - environment: the environment of the bean that takes the provider.
  ///   - module: the module whose private beans are found.
  ///   - parameter: the request of the provider.
  init(_ environment: Environment, _ module: ObjectIdentifier?, _ parameter: Parameter) {
    (self.environment, self.module, self.parameter) = (environment, module, parameter)
  }

  func provide<T>(_ type: T.Type, id: String?) throws -> T {
    if case .current = parameter.kind { try checkCurrent(type) }
    // The beans belong to the taker of the provider, and so to its environment, even if a child is current.
    if parameter.providesOwned {
      do { return try look(for: type, id, in: environment) } catch let error as EnvironmentError {
        // A bean that only a child declares cannot belong further out.
        guard error.code == .unknownBean else { throw error }
      }
    }
    return try environment.provide(type, id, from: module) { try look(for: type, id, in: $0) }
  }

  private func look<T>(for type: T.Type, _ id: String?, in environment: Environment) throws -> T {
    guard let module else { return try environment.find(type, id) }
    return try environment.lookingUp {
      try environment.lookUp(Parameter.of(type), id: id, from: module).take(as: type)
    }
  }

  private func checkCurrent(_ type: Any.Type) throws {
    if Environment.current?.isWithin(environment) == true { return }
    throw EnvironmentError(
      .scopeNotActive, "no child of '\(environment.name)' is current: call this inside withChild", path: ["\(type)"])
  }
}

/// A computation that an environment evaluates on demand. The value is kept unless the environment keeps the bean; then it
/// may be part of a reference cycle, and is dropped when the environment ends.
final class Deferral: DeferredBean {
  private struct State {
    /// The box of the value, retained.
    var value: ObjectReference?
    /// The evaluation of the value.
    var flight: Flight?
  }

  private let environment: Environment
  private let computation: Computation
  private let reading: Reading
  private let state = Locked(State())

  init(_ environment: Environment, _ computation: Computation, _ reading: Reading) {
    (self.environment, self.computation, self.reading) = (environment, computation, reading)
  }

  deinit {
    guard !isKept, let value = take() else { return }
    environment.existingExtras?.forget(ObjectIdentifier(self))
    value.release()
  }

  // Released outside the lock: a deinitializer that runs now may call this object.
  func letGo() { take()?.release() }

  private func take() -> ObjectReference? {
    state.withLock { state in
      defer { state = State() }
      return state.value
    }
  }

  /// Whether an environment keeps the bean, so that each evaluation has the same result.
  private var isKept: Bool {
    switch computation {
    case .slot, .outer: true
    default: false
    }
  }

  func evaluate<T>(_ type: T.Type) throws -> T {
    if isKept { return try value(type) }
    while true {
      let (seen, flight, isOwn) = state.withLock { state in
        let isOwn = state.value == nil && state.flight == nil
        if isOwn { state.flight = Flight() }
        state.value?.retain()
        return (state.value, state.flight, isOwn)
      }
      if let value = seen { return value.take(as: ValueBox<T>.self).value }
      guard let flight else { continue }
      if isOwn { return try evaluate(type, flight) }
      try flight.wait(for: "Lazy<\(type)>", in: environment.name)
    }
  }

  private func evaluate<T>(_ type: T.Type, _ flight: Flight) throws -> T {
    defer { flight.end() }
    do {
      // The environment cannot end before it knows that a value is kept.
      return try environment.using {
        let value = try value(type)
        let kept = State(value: ObjectReference(ValueBox(value)))
        state.withLock { $0 = kept }
        environment.extras.add(self)
        return value
      }
    } catch {
      state.withLock { $0.flight = nil }
      throw error
    }
  }

  private func value<T>(_ type: T.Type) throws -> T {
    try environment.lookingUp { Argument(try environment.evaluate(computation), reading).take(as: type) }
  }
}
