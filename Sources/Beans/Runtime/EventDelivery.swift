import BeansLogging
import CBeansRuntime
import BeansErrors

/// The delivery of one event to the receivers that plans list.
///
/// Each method takes the event: the metadata of a type that is generic over the event would be looked up in each call.
struct EventDelivery: Sendable {
  /// The run-time type of the event.
  private let type: Any.Type

  /// Calls all receivers of an event in an environment and further out, or sends the event to the loops of receivers.
  ///
  /// - Throws: the failures of calls made here, after all receivers have been called.
  @inline(never)
  static func deliver<Event: Sendable>(_ event: Event, from environment: Environment) throws {
    try EventDelivery(type: Swift.type(of: event as Any)).deliver(event, from: environment)
  }

  private func deliver<Event: Sendable>(_ event: Event, from environment: Environment) throws {
    if beans_stack_is_low() {
      throw EnvironmentError(
        cause: .endlessEvents,
        "events are published inside listeners too deeply: the thread has no stack left for \(type)",
        path: ["'\(environment.name)'"])
    }
    try environment.whileKept {
      let receivers = environment.core.compiledPlan.with { $0.services.receivers[ObjectIdentifier(type)] } ?? []
      var failures: [any Error] = []
      for receiver in receivers {
        do { try deliver(event, to: receiver, from: environment) } catch { failures.append(error) }
      }
      let failure = EnvironmentError.combining(failures, code: .listenerFailed) { "\($0) listeners failed at \(type)" }
      if let failure { throw failure }
    }
  }

  private func deliver<Event: Sendable>(
    _ event: Event, to receiver: EventReceiver, from environment: Environment
  ) throws {
    // The environment prevents the release of those further out.
    try environment.ancestor(receiver.hops).with { home in
      if home.core.lifecycle.isEnding { return }
      if let host = host(of: receiver, in: home), !host.canReleaseHere,
        host.release({ [home] in deliverLate(event, to: receiver, in: home) })
      {
        return
      }
      try receive(event, receiver, in: home)
    }
  }

  /// Returns the scope on whose loop a bean is called; nil where the bean is called on the publishing thread.
  private func host(of receiver: EventReceiver, in home: Environment) -> (any HostedScope)? {
    if let host = home.host { return host }
    let recipe = home.recipe(receiver.number)
    guard case .scoped = recipe.value.kind else { return nil }
    return ScopedBean(recipe, in: home).scope as? any HostedScope
  }

  /// Calls a listener on the loop of its scope. `publish` has returned by then, so a failure is logged.
  private func deliverLate<Event: Sendable>(_ event: Event, to receiver: EventReceiver, in home: Environment) {
    // An environment that has ended meanwhile receives nothing.
    guard (try? home.enter()) != nil else { return }
    defer { home.leave() }
    do {
      try ResolutionContext.with(Unretained(home), nil) { _ in try receive(event, receiver, in: home) }
    } catch { home.log.logger.error("'\(home.name)': \(error)") }
  }

  /// Delivers an event to a bean, for a caller that prevents the release of the environment.
  private func receive<Event: Sendable>(_ event: Event, _ receiver: EventReceiver, in home: Environment) throws {
    let recipe = home.recipe(receiver.number)
    do {
      guard let bean = try listener(recipe, in: home) else { return }
      // The publisher may know only a superclass of the event, and the plan only a protocol of the object.
      if type == Event.self, recipe.value.slotIdentity != nil,
        let handler = recipe.value.code.with({ $0.listeners[receiver.handler].typed })
      {
        try uncheckedCast(handler, to: TypedEventHandler<Event>.self).receive(bean, event)
      } else {
        try recipe.value.code.with { $0.listeners[receiver.handler] }.receive(bean, event)
      }
    } catch { throw failure(error, of: recipe) }
  }

  /// Returns the bean, built if need be; nil where a user's scope has ended.
  private func listener(_ recipe: FrozenReference<Recipe>, in home: Environment) throws -> AnyObject? {
    do { return try home.instance(of: recipe) } catch let error as EnvironmentError {
      if recipe.value.kind == .scoped, error.code == .finished { return nil }
      throw error
    }
  }

  /// Returns the error of a listener that has thrown, or that could not be built. A failure of an event that the
  /// listener published keeps its text, and a listener is on its path once. Otherwise the error would grow with each
  /// level.
  private func failure(_ error: any Error, of recipe: FrozenReference<Recipe>) -> EnvironmentError {
    let bean = recipe.value.definition
    let (own, label, origin) = (bean.step, bean.label, bean.location.origin)
    let cause = error as? EnvironmentError
    if let cause, cause.code == .listenerFailed {
      return if cause.steps.contains(own) { cause } else { cause.within(label, declaredAt: origin) }
    }
    var steps = cause?.steps ?? []
    // A cycle already names all its beans.
    if steps.first?.label != label, cause?.code != .cyclicDependency { steps = [own] + steps }
    return EnvironmentError(
      .listenerFailed, "\(label) could not receive \(type): \(cause?.message ?? "\(error)")", steps: steps,
      origin: origin, underlying: [error])
  }
}
