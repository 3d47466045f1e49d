import BeansErrors
import BeansSupport
import CBeansRuntime

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

  func evaluate<T>(_ type: T.Type) throws -> T { try environment.lookingUp { try value(type) } }

  private func value<T>(_ type: T.Type) throws -> T {
    Argument(try environment.evaluate(computation), reading).take(as: type)
  }

  func evaluate<T>(_ type: T.Type, for owner: any KeepsBean, _ keep: (T) -> Void) throws -> T {
    try environment.lookingUp {
      let bean = try value(type)
      keep(bean)
      environment.extras.add(owner)
      return bean
    }
  }

  func forget(_ owner: ObjectIdentifier) { environment.existingExtras?.forget(owner) }

  func wait(for owner: AnyObject, _ type: Any.Type, builder: () -> UInt?) throws {
    try WaitForGraph.wait(
      for: WaitForGraph.Key(owner), "Lazy<\(type)>", in: environment.name, origin: nil, builder: builder)
  }

  func end(_ owner: AnyObject) { WaitForGraph.end(WaitForGraph.Key(owner), nil) }
}
