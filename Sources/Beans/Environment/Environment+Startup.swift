import Synchronization

extension Environment {
  /// Validates all declarations and builds every singleton that is not lazy. The first lookup does it otherwise.
  ///
  /// Starts the parent first. Costs about a microsecond per declaration, plus what the factories cost. Threads that
  /// come meanwhile wait. A second call returns at once.
  ///
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; what a factory
  ///   threw as `.creationFailed`. What was already built has been released then, in reverse order, and every later
  ///   call throws the same error.
  @discardableResult
  public func startup() throws -> Self {
    if isFinishing { throw finishedError() }
    try startIfNeeded()
    return self
  }

  func startIfNeeded() throws {
    guard let setup = header.setup else { return }
    if isStarted, state & State.failed == 0 { return }
    if setup.isTemplate {
      throw EnvironmentError(
        .scopeNotActive,
        "'\(name)' only declares the beans of its scope here; take an Environment parameter in a factory",
        path: ["'\(name)'"])
    }
    switch setup.begin() {
    case .done: return
    case .failed(let error): throw error
    case .wait:
      try BuildQueue.wait(
        for: setup.key, "environment '\(name)'", in: name, origin: nil, builder: { setup.starter })
      try startIfNeeded()
    case .mine:
      defer { BuildQueue.end(setup.key, nil) }
      do {
        try start(setup)
        setup.end(nil)
      } catch {
        setup.end(error)
        fail(error)
        throw error
      }
    }
  }

  private func start(_ setup: Setup) throws {
    // The parent must not end, and dismantle what is compiled against, before this environment is one of its children.
    _ = try parent?.enter()
    var isInsideParent = parent != nil
    defer { if isInsideParent { parent?.leave() } }
    BuildQueue.findPath { Frame.path }
    plan.log.starting(name)
    plan.prepareDescriptors()
    let faults = plan.exclusively { GraphCompiler.compile(plan) }
    let values = ValueSettler(plan)
    try values.settleEarly(faults)
    plan.exclusively {
      plan.allocateSlots()
      plan.freeze()
      plan.descendants.forEach { $0.freeze() }
    }
    setup.compiled()
    plan.log.compiled(plan)
    if let parent, !parent.side.children.join(self, isShared: true) { throw parent.finishedError() }
    if isInsideParent {
      isInsideParent = false
      parent?.leave()
    }
    let leads = try enter()
    defer { leave() }
    try Frame.with(self, nil, leads: leads) {
      try buildSources(values)
      try buildInfrastructure()
      try buildSingletons()
    }
    header.state.bitwiseAnd(~State.unstarted, ordering: .acquiringAndReleasing)
    plan.log.started(name)
  }

  /// Configuration sources, then the values that depend on them, wherever they were declared.
  private func buildSources(_ values: ValueSettler) throws {
    for recipe in values.sources {
      try values.settleTexts(neededBy: recipe)
      guard let source = Box.open(try instance(of: recipe, hops: 0)) as? any ConfigurationSource else { continue }
      do { try plan.configuration.addSource(source) } catch { throw failure(error, of: recipe) }
    }
    try values.settleTexts()
  }

  /// Scopes, then injections, then post processors, wherever they were declared.
  private func buildInfrastructure() throws {
    for recipe in declared(\.isScope, \.hasScopeBean) {
      let instance = try instance(of: recipe, hops: 0)
      if let scope = Box.open(instance) as? any BeanScope {
        plan.scopes.append(Plan.NamedScope(name: scope.name, scope: scope))
      }
    }
    // Nothing but a scope bean leaves open what a scope is called.
    try checkScopes(declared({ _ in true }, \.hasScopeBean))
    for recipe in declared(\.isInjection, \.hasInjectionBean) { _ = try instance(of: recipe, hops: 0) }
    try checkInjections()
    for recipe in declared(\.isProcessor, \.hasProcessorBean) { _ = try instance(of: recipe, hops: 0) }
  }

  /// Recipes of declared beans, dependencies first; none where no plan in sight has what the caller looks for.
  private func declared(_ isWanted: (Definition) -> Bool, _ hasAny: (Plan) -> Bool) -> [Recipe] {
    guard plan.chain.contains(where: { hasAny($0.plan) }) else { return [] }
    return plan.sorted.filter { $0.plan === plan && $0.definition.declaration != nil && isWanted($0.definition) }
  }

  /// A scope bean has a name only now that it exists.
  private func checkScopes(_ recipes: [Recipe]) throws {
    let names = ScopeNames(plan, expectsScopes: false)
    let faults = recipes.filter { $0.definition.maker == nil && !names.isKnown($0.definition.scopeName) }
      .map { $0.definition.fault(.unknownScope, names.unknown($0.definition.scopeName)) }
    let fault = EnvironmentError.combining(faults, code: .startupFailed) { "\($0) faults in environment '\(name)'" }
    if let fault { throw fault }
  }

  private func buildSingletons() throws {
    for recipe in plan.sorted {
      switch recipe.kind {
      case .slot(let slot) where !recipe.isLazy: _ = try object(slot, 0)
      case .custom: try prepareScope(for: recipe)
      default: break
      }
    }
  }

  /// Releases what was built; from now on every call throws the cause.
  private func fail(_ error: any Error) {
    plan.log.failed(name, error)
    header.state.bitwiseOr(State.failed | State.finishing, ordering: .acquiringAndReleasing)
    _ = existingSide?.children.close().map { $0.finish() }
    releaseIfQuiet()
  }
}
