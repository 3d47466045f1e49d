import BeansLogging
import CBeansRuntime
import BeansErrors

/// Delivery of events to the receivers that the plan lists.
extension Environment {
  /// Calls all receivers of the event, or sends it to the loops of receivers.
  ///
  /// - Throws: the failures of calls made here, after all receivers have been called.
  @inline(never)
  func deliver<Event: Sendable>(_ event: Event) throws {
    let type: Any.Type = type(of: event as Any)
    if beans_stack_is_low() {
      throw EnvironmentError(
        cause: .endlessEvents,
        "events are published inside listeners too deeply: the thread has no stack left for \(type)",
        path: ["'\(name)'"])
    }
    try whileKept {
      let receivers = core.compiledPlan.with { $0.receivers[ObjectIdentifier(type)] } ?? []
      // An object may be of a subclass of the type that the publisher knows.
      let isExact = type == Event.self
      var failures: [any Error] = []
      for receiver in receivers {
        do { try deliver(event, to: receiver, isExact: isExact) } catch { failures.append(error) }
      }
      let failure = EnvironmentError.combining(failures, code: .listenerFailed) { "\($0) listeners failed at \(type)" }
      if let failure { throw failure }
    }
  }

  private func deliver<Event: Sendable>(_ event: Event, to receiver: EventReceiver, isExact: Bool) throws {
    // This environment prevents the release of those further out.
    try ancestor(receiver.hops).with { home in
      if home.core.lifecycle.isEnding { return }
      if let host = home.host(of: receiver), !host.canReleaseHere,
        host.release({ [home] in home.deliverLate(event, to: receiver) })
      {
        return
      }
      if isExact, try home.receiveInPlace(event, receiver) { return }
      try home.receive(event, receiver)
    }
  }

  /// Returns the scope on whose loop a bean of this environment is called; nil where the bean is called on the
  /// publishing thread.
  private func host(of receiver: EventReceiver) -> (any HostedScope)? {
    if let host { return host }
    let recipe = recipe(receiver.number)
    guard case .scoped = recipe.value.kind else { return nil }
    return ScopedBean(recipe, in: self).scope as? any HostedScope
  }

  /// Calls a listener on the loop of its scope. `publish` has returned by then, so a failure is logged.
  private func deliverLate<Event: Sendable>(_ event: Event, to receiver: EventReceiver) {
    // An environment that has ended meanwhile receives nothing.
    guard (try? enter()) != nil else { return }
    defer { leave() }
    do {
      try ResolutionContext.with(Unretained(self), nil) { _ in try receive(event, receiver) }
    } catch { log.logger.error("'\(name)': \(error)") }
  }

  /// Delivers an event of exactly the receiver's type to an object of a class that the plan knows. Returns false for
  /// any other bean.
  private func receiveInPlace<Event: Sendable>(_ event: Event, _ receiver: EventReceiver) throws -> Bool {
    let recipe = recipe(receiver.number)
    guard recipe.value.kind == .slot, recipe.value.slotIdentity != nil,
      let handler = recipe.value.code.with({ $0.listeners[receiver.handler].typed })
    else { return false }
    do {
      let object = try bean(recipe.value.slot)
      defer { object.release() }
      try object.with { try uncheckedCast(handler, to: TypedEventHandler<Event>.self).receive($0, event) }
    } catch { throw failure(error, of: recipe, at: Event.self) }
    return true
  }

  /// Delivers an event to a bean of this environment, for a caller that prevents the release of the environment.
  private func receive(_ event: Any, _ receiver: EventReceiver) throws {
    let recipe = recipe(receiver.number)
    do {
      guard let bean = try listener(recipe) else { return }
      try recipe.value.code.with { $0.listeners[receiver.handler] }.receive(bean, event)
    } catch { throw failure(error, of: recipe, at: type(of: event)) }
  }

  /// Returns the bean, built if need be; nil where a user's scope has ended.
  private func listener(_ recipe: FrozenReference<Recipe>) throws -> AnyObject? {
    do { return try instance(of: recipe) } catch let error as EnvironmentError {
      if recipe.value.kind == .scoped, error.code == .finished { return nil }
      throw error
    }
  }

  /// Returns the error of a listener that has thrown, or that could not be built. A failure of an event that the
  /// listener published keeps its text, and a listener is on its path once. Otherwise the error would grow with each
  /// level.
  private func failure(_ error: any Error, of recipe: FrozenReference<Recipe>, at event: Any.Type) -> EnvironmentError {
    let (own, label, origin) = (recipe.value.step, recipe.value.label, recipe.value.origin)
    let cause = error as? EnvironmentError
    if let cause, cause.code == .listenerFailed {
      return cause.steps.contains(own) ? cause : cause.within(label, declaredAt: origin)
    }
    var steps = cause?.steps ?? []
    // A cycle already names all its beans.
    if steps.first?.label != label, cause?.code != .cyclicDependency { steps = [own] + steps }
    return EnvironmentError(
      .listenerFailed, "\(label) could not receive \(event): \(cause?.message ?? "\(error)")", steps: steps,
      origin: origin, underlying: [error])
  }
}
