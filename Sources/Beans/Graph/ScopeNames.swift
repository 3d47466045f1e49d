/// What a scope name means, seen from the plan that declares the bean.
struct ScopeNames {
  let plan: Plan
  /// Whether a scope bean that does not exist yet may bring the name.
  let expectsScopes: Bool

  init(_ plan: Plan, expectsScopes: Bool) {
    self.plan = plan
    self.expectsScopes = expectsScopes
  }

  /// Whether the name belongs to the children of some factory. "request" and "session" always do: the factory may be
  /// declared by a plain environment further in.
  func isFactoryScope(_ name: String) -> Bool {
    name == "request" || name == "session"
      || plan.chain.contains { $0.plan.scopeName == name }
      || plan.descendants.contains { $0.scopeName == name }
  }

  /// Whether a user's scope decides.
  func isCustom(_ name: String) -> Bool {
    if scope(name) != nil { return true }
    if isFactoryScope(name) { return false }
    return expectsScopes && plan.chain.contains { $0.plan.hasScopeBean }
  }

  func isKnown(_ name: String) -> Bool {
    name == "singleton" || name == "prototype" || isFactoryScope(name) || isCustom(name)
  }

  /// That no scope is called so, and what may have been meant.
  func unknown(_ name: String) -> String {
    let open = (plan.chain.map(\.plan) + plan.descendants).compactMap(\.scopeName)
    let own = plan.chain.flatMap { $0.plan.scopes.map(\.name) }
    let near = (["singleton", "prototype", "request", "session"] + open + own).filter { EditDistance.isSmall($0, name) }
    return "no scope is called '\(name)'\(near.min().map { "; did you mean '\($0)'?" } ?? "")"
  }

  /// The user's scope of that name; the nearest one, and of those the last.
  func scope(_ name: String) -> (any BeanScope)? {
    plan.chain.lazy.compactMap { $0.plan.scopes.last { $0.name == name }?.scope }.first
  }
}
