import Synchronization
import BeansConfiguration
import BeansReflection
import BeansErrors

extension Environment {
  /// Throws where the environment is the argument of `configure`, which never starts.
  func checkMayStart() throws {
    guard resources?.isTemplate == true else { return }
    throw EnvironmentError(
      cause: .lookupInConfigure,
      "'\(name)' only declares the beans of its scope here; take an Environment parameter in a factory",
      path: ["'\(name)'"])
  }

  package func startIfNeeded(options: Set<StartupOption> = []) throws {
    try checkMayStart()
    resources?.require(options)
    // From the outside in, so that the stack need not hold a startup for each ancestor. `start` throws the dropped
    // error again.
    let outer = sequence(first: self, next: \.parent).dropFirst().prefix { $0.core.lifecycle.phase == .declaring }
    for environment in outer.reversed() { try? environment.startOne() }
    try startOne()
    if options.contains(.requireSendable) { try checkSharing() }
  }

  private func startOne() throws {
    let phase = core.lifecycle.phase
    guard phase == .declaring || phase == .starting, let resources else {
      if core.lifecycle.isFailed { throw finishedError() }
      return
    }
    guard let startup = try resources.begin() else { return }
    if !startup.isOwn {
      try startup.wait(for: "environment '\(name)'", in: name)
      return try startOne()
    }
    defer { startup.end() }
    let declarations = resources.declarations
    do {
      if let declarations { try Startup(environment: self, resources: resources).run(declarations) }
      resources.end(nil)
      if resources.unready.isEmpty { RunningBeans(of: self).watchIdle() }
    } catch {
      resources.end(error, of: declarations)
      fail(error)
      throw error
    }
  }

  /// Throws where several threads share a bean that is not known to be `Sendable`.
  func checkSharing() throws { try throwFaults(core.compiledPlan.with { $0.sharingFaults }) }

  func throwFaults(_ faults: [EnvironmentError]) throws {
    // A declaration for the children of several factories has the same fault in each of them.
    var told: Set<String> = []
    let faults = faults.filter { told.insert($0.report).inserted }
    let fault = EnvironmentError.combining(faults, code: .startupFailed) { "\($0) faults in environment '\(name)'" }
    if let fault { throw fault }
  }

  /// Recipes of this environment's own beans that are not lazy, dependencies first.
  var eagerRecipes: [FrozenReference<Recipe>] { sortedRecipes.filter { $0.value.kind == .slot && !$0.value.isLazy } }

  fileprivate var sortedRecipes: [FrozenReference<Recipe>] {
    core.compiledPlan.with { plan in plan.order.sorted.map { plan.recipe($0) } }
  }

  /// Builds a bean that is not lazy. Returns false where its factory looks up an asynchronous bean that does not exist.
  func buildIfReady(_ recipe: FrozenReference<Recipe>, _ record: StartupRecord?) throws -> Bool {
    do { try build(recipe, record) } catch let error as EnvironmentError where error.missingBean != nil {
      return false
    }
    return true
  }

  /// Releases the beans that were built. Every later call throws the cause.
  func fail(_ error: any Error) {
    log.failed(name, error)
    changeLocked { $0.fail() }
    beginFinish(.startup)
  }
}

/// Startup of an environment: declarations, plans, infrastructure, singletons.
struct Startup {
  let environment: Environment
  let resources: EnvironmentResources

  /// Starts the environment with its declarations.
  func run(_ declarations: EnvironmentDeclarations) throws {
    #if !BEANS_ORDINARY_REFERENCES
      precondition(ObjectReference.addsCounts, "the runtime counts references in another way here")
    #endif
    // A thread that ends this environment meanwhile leaves the release to this thread: beans may still be built.
    guard environment.changeLocked({ $0.enter(before: .closed) }) else { throw environment.finishedError() }
    defer { environment.leave() }
    // The parent must not end, and drop the objects that the graph is compiled against, before this environment has
    // joined it.
    try environment.parent?.enter()
    defer { environment.parent?.leave() }
    environment.log.starting(environment.name)
    let compiler = try compile(declarations)
    if let parent = environment.core.parent { try join(parent) }
    try ResolutionContext.with(Unretained(environment), nil) { _ in
      try buildSources(compiler)
      try buildInfrastructure()
      try buildSingletons()
    }
    let isOpen = environment.changeLocked { lifecycle in
      lifecycle.open()
      return lifecycle.isOpen
    }
    guard isOpen else { throw environment.finishedError() }
    resources.record?.end()
    environment.log.started(environment.name)
  }

  /// Compiles the declarations. From here on, the slots exist, and factories of children have their plans.
  private func compile(_ declarations: EnvironmentDeclarations) throws -> GraphCompiler {
    var compiler = GraphCompiler(declarations, input)
    let sharing: [EnvironmentError] = if resources.requiresSendable { compiler.sharingFaults } else { [] }
    try environment.throwFaults(compiler.faults + compiler.bindValues(hasSources: false) + sharing)
    let (plan, block) = compiler.compile()
    resources.compiled(compiler, plan, block)
    environment.core.lock.withLock {
      environment.core.compiled(plan, block.slots)
      environment.core.change { $0.start() }
    }
    for (declarations, plan) in compiler.below { declarations.tell(.success(plan)) }
    for (declarations, reason) in compiler.inactive { declarations.tell(.failure(reason)) }
    reportProfiles(declarations)
    environment.log.shared(plan)
    environment.log.compiled(plan, factories: declarations.factories.count) { needs(of: $0) }
    return compiler
  }

  /// Joins the parent, which retains the environment from then on.
  private func join(_ parent: Unretained<Environment>) throws {
    let home = parent.object.homeResources
    home?.begin(nested: environment)
    do { try ChildOpening.join(environment, parent, environment.core.compiledPlan) } catch {
      home?.end(nested: environment)
      throw error
    }
  }

  /// Reports the active profiles that no declaration names; the parent reports its own.
  private func reportProfiles(_ declarations: EnvironmentDeclarations) {
    // A list of profiles that cannot be read is a fault where a condition depends on it.
    guard let active = try? ActiveProfiles(in: environment.configuration), !active.isDefault else { return }
    let named = declarations.namedProfiles
    let outer = try? environment.parent.map { try ActiveProfiles(in: $0.configuration).names }
    let lines = active.names.filter { !named.contains($0) && outer?.contains($0) != true }.map { profile in
      let near = named.filter { EditDistance.isSmall($0, profile) }.min()
      return "no declaration names the active profile '\(profile)'\(near.map { "; did you mean '\($0)'?" } ?? "")"
    }
    if lines.isEmpty { return }
    resources.note(unnamedProfiles: lines)
    environment.log.unnamed(lines, in: environment.name)
  }

  /// Returns labels of the beans that a bean takes from its own environment.
  private func needs(of recipe: FrozenReference<Recipe>) -> [String] {
    var labels: [String] = []
    recipe.value.needs.forEach { need in
      guard case .outer(let slot) = need.place, let number = environment.ownSlot(slot) else { return }
      labels.append(environment.recipe(number).value.definition.label)
    }
    return labels
  }

  /// The facts about the environment, and those further out, that the compiler needs.
  var input: CompilerInput {
    let outer = Array(environment.resourcesOutwards.dropFirst())
    let outerHook = outer.compactMap(\.hook).first
    let parentPlan = environment.parent?.core.plan?.object
    let ownHook = resources.hook
    if ownHook == nil, let outerHook { resources.install(outerHook) }
    let hook = ownHook ?? outerHook
    return CompilerInput(
      home: Unretained(environment), parent: parentPlan, scopeNames: resources.scopes.map(\.name),
      outerScopes: outer.flatMap { $0.scopes.map(\.name) }, isTraced: environment.log.followsBeans,
      overrides: hook.map { BeanOverrides($0, isStrict: ownHook != nil) })
  }

  // MARK: building

  /// Builds configuration sources, then binds the values that depend on them, wherever they were declared.
  private func buildSources(_ compiler: GraphCompiler) throws {
    if compiler.sources.isEmpty { return }
    for definition in compiler.sources {
      try environment.throwFaults(compiler.bindValues(neededBy: definition))
      let recipe = environment.recipe(definition.number)
      guard let source = Box.open(try instance(of: recipe)) as? any ConfigurationSource else { continue }
      do { try environment.configuration.load(source) } catch { throw environment.failure(error, of: recipe) }
    }
    try environment.throwFaults(compiler.bindValues(hasSources: true))
  }

  /// Builds scopes, then injections, then post processors, wherever they were declared.
  private func buildInfrastructure() throws {
    for recipe in declared(.scope) {
      let object = try instance(of: recipe)
      if let scope = Box.open(object) as? any BeanScope {
        resources.add(scope, scope.name, recipe.value.definition.location)
      }
    }
    try checkScopes()
    for recipe in declared(.injection) { _ = try instance(of: recipe) }
    try checkInjections()
    for recipe in declared(.processor) { _ = try instance(of: recipe) }
  }

  /// Returns recipes of beans that are declared here and have a trait, dependencies first.
  private func declared(_ trait: BeanTraits) -> [FrozenReference<Recipe>] {
    if environment.core.compiledPlan.with({ $0.directory.traits.isDisjoint(with: trait) }) { return [] }
    return environment.sortedRecipes.filter { isDeclaredHere($0) && $0.value.traits.contains(trait) }
  }

  private func isDeclaredHere(_ recipe: FrozenReference<Recipe>) -> Bool {
    environment.core.compiledPlan.with { $0.directory.declares(recipe.value.definition) }
  }

  /// Returns a bean of the infrastructure, whose build the record includes.
  private func instance(of recipe: FrozenReference<Recipe>) throws -> AnyObject {
    if recipe.value.kind == .slot { try environment.build(recipe, resources.record) }
    return try environment.instance(of: recipe)
  }

  /// Checks that every scope exists that a bean declared here names. The name of a scope bean is known only now that it
  /// exists; all other names of scopes have been checked before.
  private func checkScopes() throws {
    if environment.core.compiledPlan.with({ $0.directory.traits.isDisjoint(with: .scope) }) { return }
    var faults: [EnvironmentError] = []
    for recipe in environment.sortedRecipes where isDeclaredHere(recipe) {
      guard case .scoped = recipe.value.kind, ScopedBean(recipe, in: environment).scope == nil else { continue }
      let bean = recipe.value.definition
      if bean.maker != nil { continue }
      let names =
        ["singleton", "prototype", "request", "session"]
        + environment.resourcesOutwards.flatMap { $0.scopes.map(\.name) }
      let hint = environment.core.compiledPlan.with { $0.directory.hint(forInactive: BeanTraits.scope) }
      faults.append(bean.fault(.unknownScope, EnvironmentGraph.unknownScope(bean.lifetime.name, among: names) + hint))
    }
    try environment.throwFaults(faults)
  }

  /// Checks that each kind of injection in use is served. A provider reports the kind that it serves only when it
  /// exists.
  private func checkInjections() throws {
    var served: Set<ObjectIdentifier> = []
    for operand in environment.core.compiledPlan.with({ $0.services.injections }) {
      served.insert(ObjectIdentifier(try environment.argument(operand).take(as: (any InjectionProvider).self).kind))
    }
    var faults: [EnvironmentError] = []
    for plan in [environment.core.compiledPlan.object] + resources.plans where !plan.services.injections.isEmpty {
      // The injections that children of factories define exist only with the children.
      let isForChildren = plan.directory.chain.contains { directory, _ in
        directory.scopeName != nil && directory.traits.contains(.injection)
      }
      if isForChildren { continue }
      for number in 0..<plan.recipes.count {
        let recipe = plan.recipe(Int32(number))
        recipe.value.properties.forEach { operand in
          guard case .computed(let computation) = operand.place,
            case .injection(let request, let property, _) = plan.computations[Int(computation)],
            !served.contains(ObjectIdentifier(type(of: request)))
          else { return }
          faults.append(
            recipe.value.definition.fault(
              .unservedInjection,
              "\(property.label): no Injection is defined that serves \(type(of: request))"
                + plan.directory.hint(forInactive: BeanTraits.injection)))
        }
      }
    }
    try environment.throwFaults(faults)
  }

  /// Builds the singletons that are not lazy. Omits asynchronous beans and the beans that need them.
  private func buildSingletons() throws {
    let record = resources.record
    let blocked = blockedRecipes
    for recipe in environment.sortedRecipes {
      switch recipe.value.kind {
      case .slot where !recipe.value.isLazy:
        let isBuilt = try !blocked.contains(recipe.value.number) && environment.buildIfReady(recipe, record)
        if !isBuilt { resources.note(unready: recipe.value.definition.label) }
      case .scoped: try ScopedBean(recipe, in: environment).prepare()
      case .slot, .prototype, .product: break
      }
    }
  }

  /// Numbers of recipes that have to wait for an asynchronous creation.
  private var blockedRecipes: Set<Int32> {
    guard environment.core.compiledPlan.with({ $0.awaits }) else { return [] }
    return AwaitedBeans(eager: environment.eagerRecipes, in: environment).blocked(in: environment)
  }
}
