@_spi(BeansPackage) import BeansErrors

extension ScopeObject {
  /// Claims a scope object for one child.
  ///
  /// - Parameter name: the name of the child.
  init(claiming scope: any ChildScope, for name: String) throws {
    guard scope.take() else { throw Self.shared(scope, name) }
    if let hosted = scope as? any HostedScope {
      self = .host(hosted)
    } else {
      self = .life(scope)
    }
  }

  /// Attaches a claimed scope object without a host to its child, which no other thread can reach.
  func attach(_ child: Environment) throws {
    guard case .life(let scope) = self, let kept = scope as? AbstractBeanScope else { return }
    if !kept.attach(child) { throw Self.shared(scope, child.name) }
  }

  private static func shared(_ scope: any ChildScope, _ name: String) -> EnvironmentError {
    EnvironmentError(
      cause: .sharedScopeObject,
      "one scope object cannot be that of two children, or be registered as well: let the factory of '\(name)' make one "
        + "for each", path: ["'\(scope.name)'"])
  }

  /// Ends the claim of a child that is deallocated.
  @inline(__always)
  func giveBack() {
    switch self {
    case .none: break
    case .host(let scope): scope.giveBack()
    case .life(let scope): scope.giveBack()
    }
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
