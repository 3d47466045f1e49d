/// The environments further out, as a startup sees them: they have started.
struct OuterEnvironments {
  /// The names of scopes that users have registered.
  private(set) var scopeNames: [String] = []
  /// The hook of the nearest environment that has one.
  private(set) var hook: (any EnvironmentHook)?

  init(of environment: Environment) {
    for environment in sequence(first: environment, next: \.parent).dropFirst() {
      guard let resources = environment.resources else { continue }
      hook = hook ?? resources.hook
      scopeNames += resources.scopes.map(\.name)
    }
  }
}
