import CBeansRuntime

/// Compiles declarations as startup does, before startup or again: nothing is built, and no environment uses the
/// result.
struct DeclarationCompiler {
  /// The compilers of the environment and of those around it, outermost first.
  private(set) var compilers: [GraphCompiler] = []
  private var parent: Plan?
  private var outer: [DeclaredBeans] = []
  private var outerScopes: [String] = []
  private var blocks = [ObjectIdentifier: SlotBlock]()

  /// An environment that is not a child of a factory, and the children of its factories on the path to the next one,
  /// innermost first.
  private typealias Surrounding = (environment: Environment, resources: EnvironmentResources, children: [BeanDirectory])

  /// - Parameter environment: the environment; the child of a factory is replaced by the environment that declared the
  ///   factory.
  /// - Throws: the faults of the declarations of an environment further out; `.finished` if declarations no longer
  ///   exist, or the error of startup.
  init(_ environment: Environment) throws {
    let levels = Self.levels(around: environment)
    for (number, level) in levels.enumerated() {
      var compiler = GraphCompiler(try level.environment.knownDeclarations(level.resources), input(for: level))
      if number < levels.count - 1 {
        try level.environment.throwFaults(compiler.faults)
        goInside(level, &compiler)
      }
      compilers.append(compiler)
    }
  }

  /// The levels around an environment, outermost first.
  private static func levels(around environment: Environment) -> [Surrounding] {
    var (levels, children): ([Surrounding], [BeanDirectory]) = ([], [])
    var next = Optional(environment)
    while let environment = next {
      if let resources = environment.existingExtras?.resources {
        levels.append((environment, resources, levels.isEmpty ? [] : children))
        children = []
      } else if let plan = environment.core.plan {
        children.append(plan.object.directory)
      }
      next = environment.parent
    }
    return levels.reversed()
  }

  private func input(for level: Surrounding) -> CompilerInput {
    let slots = blocks.mapValues(\.slots)
    return CompilerInput(
      home: Unretained(level.environment), parent: parent, slots: { slots[ObjectIdentifier($0)] },
      scopeNames: level.resources.scopes.map(\.name),
      outerScopes: outerScopes, outer: outer, isTraced: false,
      overrides: level.resources.hook.map { BeanOverrides($0, isStrict: false) }, isObserved: false,
      keepsPoints: true, parameters: parent?.parameters ?? [])
  }

  /// Sets the input of the following compilers, as seen from inside the environment.
  private mutating func goInside(_ level: Surrounding, _ compiler: inout GraphCompiler) {
    let (plan, block) = compiler.compile()
    blocks[ObjectIdentifier(plan)] = block
    // The environment's own plans are in the same order.
    let known = level.resources.declared?.below ?? []
    let children = level.children.compactMap { directory in known.firstIndex { $0.directory === directory } }
    parent = children.first.map { compiler.below[$0].plan } ?? plan
    outer = children.map { compiler.declared.below[$0] } + [compiler.declared] + outer
    outerScopes = level.resources.scopes.map(\.name) + outerScopes
  }
}

extension Environment {
  fileprivate func knownDeclarations(_ resources: EnvironmentResources) throws -> EnvironmentDeclarations {
    while true {
      if !core.kind.contains(.template), let known = resources.knownDeclarations(UInt(beans_thread())) { return known }
      if core.lifecycle.isEnding { throw finishedError() }
      // Another thread starts the environment.
      try startIfNeeded()
    }
  }
}

extension DeclarationOutline {
  /// Reads the declarations of an environment, of those further out and for the children of factories.
  ///
  /// - Throws: the faults of the declarations; `.finished` once the environment has been finished. The errors name no
  ///   call.
  init(of environment: Environment) throws {
    let compilers = try DeclarationCompiler(environment).compilers
    try environment.throwFaults(compilers.flatMap(\.faults))
    self = OutlineReader.read(compilers)
  }
}
