/// Compiles declarations as startup does, before startup or again: nothing is built, and no environment uses the
/// result.
package struct DeclarationCompiler {
  /// The compilers of the environment and of those around it, outermost first.
  private(set) var compilers: [GraphCompiler] = []
  private var parent: Plan?
  private var outerScopes: [String] = []

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
    CompilerInput(
      home: Unretained(level.environment), parent: parent, scopeNames: level.resources.scopes.map(\.name),
      outerScopes: outerScopes, isTraced: false,
      overrides: level.resources.hook.map { BeanOverrides($0, isStrict: false) })
  }

  /// Sets the input of the following compilers, as seen from inside the environment.
  private mutating func goInside(_ level: Surrounding, _ compiler: inout GraphCompiler) {
    let plan = compiler.compile().plan
    // The environment's own plans are in the same order.
    let known = level.resources.plans
    let children = level.children.lazy.compactMap { directory in known.firstIndex { $0.directory === directory } }
    parent = children.first.map { compiler.below[$0].plan } ?? plan
    outerScopes = level.resources.scopes.map(\.name) + outerScopes
  }

  /// Returns the faults of the declarations here and for the children of factories; see `Environment.validate`.
  ///
  /// - Parameters:
  ///   - environment: the environment.
  ///   - options: the checks in addition to those of the graph.
  ///   - convertsTexts: whether texts are converted with the configuration of the environment, unless beans are sources of
  ///     it.
  package static func faults(
    of environment: Environment, _ options: Set<StartupOption> = [], convertsTexts: Bool = false
  ) throws -> [EnvironmentError] {
    guard let compiler = try DeclarationCompiler(environment).compilers.last else { return [] }
    let values = if convertsTexts { compiler.bindValues(hasSources: false) } else { compiler.checkValues() }
    let sharing = if options.contains(.requireSendable) { compiler.sharingFaults } else { [EnvironmentError]() }
    return compiler.faults + values + sharing
  }
}

extension DeclarationLevel {
  /// Returns the levels of an environment, of those further out and of all factories' children, outermost first.
  ///
  /// Threads and cost are those of `validate(options:)`. For the child of a factory, the levels are those of the
  /// environment that declared the factory.
  ///
  /// - Throws: the faults of the declarations; `.finished` once the environment has been finished. The errors name no
  ///   call.
  package static func all(around environment: Environment) throws -> [DeclarationLevel] {
    let compilers = try DeclarationCompiler(environment).compilers
    try environment.throwFaults(compilers.flatMap(\.faults))
    return compilers.flatMap(\.levels)
  }
}
