import BeansErrors
import BeansSupport

/// The lookup of a provider that finds private beans of a module, or only beans of the current child.
final class LimitedLookup: BeanLookup {
  private let environment: Environment
  private let module: ObjectIdentifier?
  private let inCurrentChild: Bool
  private let ownedByTaker: Bool

  /// - Parameters:
  ///   - environment: the environment of the bean that takes the provider.
  ///   - module: the module whose private beans are found.
  ///   - inCurrentChild: whether lookups fail if no child is current.
  ///   - ownedByTaker: whether the beans belong to the taker of the provider, and so to the taker's environment, even
  ///     if a child is current.
  init(_ environment: Environment, _ module: ObjectIdentifier?, inCurrentChild: Bool, ownedByTaker: Bool) {
    (self.environment, self.module) = (environment, module)
    (self.inCurrentChild, self.ownedByTaker) = (inCurrentChild, ownedByTaker)
  }

  func provide<T>(_ type: T.Type, id: String?) throws -> T {
    if inCurrentChild { try checkCurrent(type) }
    if ownedByTaker {
      do { return try look(for: type, id, in: environment) } catch let error as EnvironmentError {
        // A bean that only a child declares cannot belong further out.
        guard error.code == .unknownBean else { throw error }
      }
    }
    return try environment.provide(type, id, from: module) { try look(for: type, id, in: $0) }
  }

  private func look<T>(for type: T.Type, _ id: String?, in environment: Environment) throws -> T {
    guard let module else { return try environment.find(type, id) }
    return try environment.using {
      defer { environment.used() }
      return try environment.lookUp(Parameter.of(type), id: id, from: module).take(as: type)
    }
  }

  private func checkCurrent(_ type: Any.Type) throws {
    if let current = Environment.current, current === environment || current.isDescendant(of: environment) { return }
    throw EnvironmentError(
      .scopeNotActive, "no child of '\(environment.name)' is current: call this inside withChild", path: ["\(type)"])
  }
}

/// A computation that an environment evaluates on demand.
final class Deferral: DeferredBean {
  private let environment: Environment
  private let computation: Computation
  private let reading: Reading

  init(_ environment: Environment, _ computation: Computation, _ reading: Reading) {
    (self.environment, self.computation, self.reading) = (environment, computation, reading)
  }

  var isKept: Bool {
    switch computation {
    case .slot, .outer: true
    default: false
    }
  }

  func evaluate<T>(_ type: T.Type, for owner: (any KeepsBean)?, _ keep: (T) -> Void) throws -> T {
    try environment.using {
      defer { environment.used() }
      let bean = try Argument(environment.evaluate(computation).object, reading).take(as: type)
      keep(bean)
      if let owner { environment.extras.add(owner) }
      return bean
    }
  }

  func forget(_ owner: ObjectIdentifier) { environment.existingExtras?.forget(owner) }

  var place: String { environment.name }
}
