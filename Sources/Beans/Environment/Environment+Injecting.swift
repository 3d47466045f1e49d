/// Class-level injections where no recipe has them: in objects the container did not build, or did not foresee.
extension Environment {
  /// Runs the class-level injections of an object that the container did not build: what its class's bean descriptor
  /// says, and its `@Injected` properties. No post processors, no `postConstruct`, and nobody releases it.
  ///
  /// Starts the environment if need be. Costs a lookup per property; from any thread, one at a time per object.
  ///
  /// - Throws: as `getBean` and `getConfigurationValue`; what an `Injection` of your own throws.
  public func inject(_ object: AnyObject) throws {
    let leads = try enter()
    defer { leave() }
    try Frame.with(self, nil, leads: leads) {
      for injection in try ClassInjection.all(of: type(of: object)) { try run(injection, on: object) }
    }
  }

  /// A factory answered with an instance of a subclass, or of a class behind a protocol: what the recipe does not know.
  func injectUnforeseen(_ object: AnyObject, _ recipe: Recipe) throws {
    let instance = Box.open(object) as AnyObject
    for injection in try ClassInjection.all(of: type(of: instance))
    where !recipe.definition.properties.contains(where: { $0.sets(injection) == .yes }) {
      try run(injection, on: instance)
    }
  }

  private func run(_ injection: ClassInjection, on object: AnyObject) throws {
    do {
      let argument = try argument(for: injection, of: object)
      defer { argument.release() }
      try injection.access.set(object, argument)
    } catch let error as EnvironmentError {
      throw EnvironmentError(
        error.code, "\(injection.place): \(error.message)", path: error.path, origin: error.origin,
        underlying: error.underlying)
    }
  }

  /// For an id that only the object knows.
  func edge(for dependency: Dependency, id: String, at place: String) throws -> Edge {
    do { return try plan.edge(for: dependency, id: id) } catch let error as EnvironmentError {
      throw EnvironmentError(
        error.code, "\(place): \(error.message)", path: error.path, origin: error.origin, underlying: error.underlying)
    }
  }

  private func argument(for injection: ClassInjection, of object: AnyObject) throws -> Argument {
    let dependency = injection.access.dependency
    switch injection.source {
    case .bean(let id): return try argument(for: plan.edge(for: dependency, id: id))
    case .named(let id): return try argument(for: plan.edge(for: dependency, id: id(object)))
    case .custom(let inject): return try compute(inject, injection.property, dependency)
    case .configuration(let value):
      let found = try plan.configuration.value(dependency.wanted, for: value)
      if let argument = dependency.argument(fixed: found) { return argument }
      throw injection.property.mismatch(found)
    }
  }

  /// Has the nearest `Injection` of that kind compute a value.
  func compute(_ inject: Inject, _ property: PropertyDescriptor, _ dependency: Dependency) throws -> Argument {
    for edge in plan.injections.reversed() {
      let argument = try argument(for: edge)
      defer { argument.release() }
      let injection = argument.value(as: Injection.self)
      guard injection.kind == type(of: inject) else { continue }
      let value = try injection.computeValue(inject, property: property, environment: self)
      if let result = dependency.argument(fixed: value ?? (Any?.none as Any)) { return result }
      throw property.mismatch(value)
    }
    throw EnvironmentError(
      .invalidDeclaration, "\(property.label): no Injection is defined that serves \(type(of: inject))")
  }

  /// An `Injection` says only when it exists what it serves: checks that each kind that is asked for is served.
  func checkInjections() throws {
    var served: Set<ObjectIdentifier> = []
    for edge in plan.injections {
      let argument = try argument(for: edge)
      defer { argument.release() }
      served.insert(ObjectIdentifier(argument.value(as: Injection.self).kind))
    }
    var faults: [EnvironmentError] = []
    // Without an `Injection` anywhere the linker has found what is wrong already. What children of factories define
    // comes to exist with them.
    for recipe in ([plan] + plan.descendants)
      .filter({ $0.chain.contains { $0.plan.hasInjectionBean } })
      .filter({ !$0.chain.contains { $0.plan.scopeName != nil && $0.plan.hasInjectionBean } })
      .flatMap(\.recipes)
    {
      for case .computed(let inject, let property)? in recipe.properties.map({ $0.edge?.source })
      where !served.contains(ObjectIdentifier(type(of: inject))) {
        faults.append(
          recipe.definition.fault(
            .invalidDeclaration, "\(property.label): no Injection is defined that serves \(type(of: inject))"))
      }
    }
    let fault = EnvironmentError.combining(faults, code: .startupFailed) { "\($0) faults in environment '\(name)'" }
    if let fault { throw fault }
  }
}
