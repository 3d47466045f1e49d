/// The registration of a user's scope in an environment.
struct ScopeRegistration {
  let environment: Environment
  let scope: any BeanScope

  /// Adds the scope, which the environment finishes.
  ///
  /// - Throws: as `Environment.registerScope`.
  func register(at written: SourceLocation) throws {
    let name = scope.name
    let location = try environment.declarations("registerScope", "'\(name)'", at: written.origin).place(written)
    let resources = environment.resources
    if resources?.isTemplate == true {
      throw fault(
        .sharedScopeObject,
        "one scope object cannot serve all children of '\(environment.name)': register it further out, or give the "
          + "factory a scope", location)
    }
    if Lifetime.isBuiltIn(name) {
      throw fault(.scopeNameTaken, "scope '\(name)' is built in and cannot be replaced", location)
    }
    if let known = known(name) { throw fault(.scopeNameTaken, "a scope called '\(name)' \(known)", location) }
    resources?.add(scope, name, location)
  }

  private func fault(_ cause: FaultCause, _ message: String, _ location: SourceLocation) -> EnvironmentError {
    EnvironmentError(cause: cause, message, path: ["'\(scope.name)'"], origin: location.origin)
  }

  /// Returns the state of a scope of the same name that is registered here or further out, or is open there; nil if
  /// there is none.
  private func known(_ name: String) -> String? {
    for environment in sequence(first: environment, next: \.parent) {
      let resources = environment.resources
      if let registered = resources?.scopes.first(where: { $0.name == name }) {
        return "has already been registered (\(registered.location.origin))"
      }
      if resources == nil, environment.name == name { return "is already open here" }
    }
    return nil
  }
}
