/// The environments further out, as a startup sees them: they have started.
struct OuterEnvironments {
  /// The declarations, nearest first.
  private(set) var declarations: [DeclaredBeans] = []
  /// The names of scopes that users have registered.
  private(set) var scopeNames: [String] = []
  /// The hook of the nearest environment that has one.
  private(set) var hook: (any EnvironmentHook)?

  init(of environment: Environment) {
    var next = environment.parent
    // Children of factories on the way out: the environment that has compiled them keeps their declarations.
    var inner: [BeanDirectory] = []
    while let environment = next {
      if let resources = environment.existingExtras?.resources {
        hook = hook ?? resources.hook
        if let declared = resources.declared {
          declarations += inner.compactMap { directory in declared.below.first { $0.directory === directory } }
          declarations.append(declared)
          inner = []
        }
        scopeNames += resources.scopes.map(\.name)
      } else if let plan = environment.core.plan {
        inner.append(plan.object.directory)
      }
      next = environment.parent
    }
  }
}
