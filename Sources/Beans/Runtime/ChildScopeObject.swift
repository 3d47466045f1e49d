import BeansErrors
@_spi(BeansPackage) import BeansSupport

/// The scope object of a child: the life of the child, which keeps its beans itself.
extension Environment {
  var scopeCell: ScopeCell { core.compiledPlan.with { ScopeCell(of: core.slots, $0.layout) } }

  /// The scope that determines where beans are released.
  package var host: (any HostedScope)? {
    core.kind.contains(.hosted) ? scopeCell.load(as: (any HostedScope).self) : nil
  }

  /// Reports to a hosted scope that the child is in use.
  func used() { host?.used() }

  /// The scope object of the child that ends with the child; nil for one with a host.
  var childScope: (any ChildScope)? {
    core.kind.contains(.scoped) ? scopeCell.load(as: (any ChildScope).self) : nil
  }

  /// Attaches a scope object to a child that no other thread can reach.
  func attach(_ scope: any ChildScope) throws {
    guard scope.take() else { throw shared(scope) }
    if let hosted = scope as? any HostedScope {
      scopeCell.initialize((any HostedScope).self, to: hosted)
      core.insert(.hosted)
    } else {
      if (scope as? AbstractBeanScope)?.attach(self) == false { throw shared(scope) }
      scopeCell.initialize((any ChildScope).self, to: scope)
      core.insert(.scoped)
    }
  }

  private func shared(_ scope: any ChildScope) -> EnvironmentError {
    EnvironmentError(
      cause: .sharedScopeObject,
      "one scope object cannot be that of two children, or be registered as well: let the factory of '\(name)' make one "
        + "for each", path: ["'\(scope.name)'"])
  }

  /// The registered scopes of this environment, which it finishes.
  var ownScopes: [any BeanScope] { existingExtras?.resources?.scopes.map(\.scope) ?? [] }

  func dropScope() {
    if core.kind.contains(.hosted) {
      scopeCell.load(as: (any HostedScope).self).giveBack()
      scopeCell.deinitialize(as: (any HostedScope).self)
    } else if core.kind.contains(.scoped) {
      scopeCell.load(as: (any ChildScope).self).giveBack()
      scopeCell.deinitialize(as: (any ChildScope).self)
    }
    core.unset(.withScope)
  }
}

/// The scope objects without a mark of their own that belong to a child now.
private let takenScopes = Locked<Set<ObjectIdentifier>>([])

extension ChildScope {
  /// Claims the scope object for a child. Returns false where another child has it.
  fileprivate func take() -> Bool {
    if let scope = self as? AbstractBeanScope { return scope.mark() }
    return takenScopes.withLock { $0.insert(ObjectIdentifier(self)).inserted }
  }

  fileprivate func giveBack() {
    if !(self is AbstractBeanScope) { takenScopes.withLock { _ = $0.remove(ObjectIdentifier(self)) } }
  }
}

/// Returns one bean of a child, for the child's scope object.
struct ChildBeanFactory: BeanFactory {
  let environment: Environment
  let recipe: FrozenReference<Recipe>

  func create(_ bean: BeanDeclaration) throws -> AnyObject {
    try environment.using {
      try recipe.value.check(bean)
      return try environment.bean(recipe.value.slot).take(as: AnyObject.self)
    }
  }
}

extension Recipe {
  /// Rejects a bean other than the one that the scope has been asked for.
  borrowing func check(_ bean: BeanDeclaration) throws {
    if bean === code.with({ $0.declaration }) { return }
    throw EnvironmentError(
      .invalidDeclaration, "scope '\(definition.lifetime.name)' asked the factory of \(label) for another bean",
      origin: bean.spec.location.origin)
  }
}
