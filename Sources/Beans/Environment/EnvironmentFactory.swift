/// Builds child environments of one scope from a plan that was compiled once.
///
/// Opening a child costs one allocation beyond its beans, which are built at first use.
public final class EnvironmentFactory<Seed>: Sendable {
  @usableFromInline let opener: ChildOpener

  init(
    declaring scope: String, in parent: Plan, of environment: Environment?,
    _ makeScope: (@Sendable () -> any BeanScope)?, _ configure: (Environment) throws -> Void
  ) throws {
    if scope == "singleton" || scope == "prototype" {
      throw EnvironmentError(
        .invalidDeclaration, "scope '\(scope)' is built in and cannot be a factory's scope", path: ["'\(scope)'"])
    }
    if parent.chain.contains(where: { $0.plan.scopeName == scope }) {
      throw EnvironmentError(
        .invalidDeclaration, "scope '\(scope)' is open in an ancestor already", path: ["'\(scope)'"])
    }
    let hasSeed = Seed.self != Void.self
    let plan = Plan(name: scope, scopeName: scope, parent: parent, hasSeed: hasSeed)
    if hasSeed {
      let identity = Seed.self is AnyObject.Type ? ObjectIdentifier(Seed.self) : ObjectIdentifier(ValueBox<Seed>.self)
      plan.setSeed(
        Seed.self, identity: identity, origin: EnvironmentError.Origin(file: "childFactory(\"\(scope)\")", line: 0))
    }
    opener = ChildOpener(plan, of: environment, makeScope)
    let declaring = Environment(configuring: plan, parent: environment)
    try configure(declaring)
    declaring.closeDeclarations()
    parent.factories.append(plan)
  }

  /// A child of the environment that declared this factory; of a nested factory, a child of the current environment
  /// that the enclosing factory built. Starts the environment if need be. From any thread.
  ///
  /// - Throws: `.finished` when the parent has been finished; `.scopeNotActive` when there is no parent to be found;
  ///   what the parent's startup throws.
  @inlinable
  public func build(_ seed: __owned Seed) throws -> Environment {
    try opener.open(Self.object(for: consume seed))
  }

  /// A child of an environment that the enclosing factory built (a request in its session).
  ///
  /// - Throws: as `build(_:)`; `.scopeNotActive` when `parent` is not what this factory's children belong in.
  @inlinable
  public func build(_ seed: __owned Seed, in parent: Environment) throws -> Environment {
    try opener.open(Self.object(for: consume seed), in: parent)
  }

  /// What the first slot of a child holds, with the caller's reference if that is an object.
  @inlinable @inline(__always)
  static func object(for seed: __owned Seed) -> Unmanaged<AnyObject>? {
    if Seed.self is AnyObject.Type { return .passRetained(_unsafeReferenceCast(consume seed, to: AnyObject.self)) }
    return Seed.self == Void.self ? nil : .passRetained(ValueBox(consume seed))
  }

  /// Declares the children of this factory's children.
  ///
  /// - Throws: as `Environment.childFactory`.
  public func childFactory<S>(
    _ scope: String, seed: S.Type, scope makeScope: (@Sendable () -> any BeanScope)? = nil,
    configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<S> {
    try opener.environment?.checkDeclaring("childFactory")
    return try EnvironmentFactory<S>(declaring: scope, in: opener.plan, of: nil, makeScope, configure)
  }

  /// The same without a scope object, so that a trailing closure is the `configure` one.
  public func childFactory<S>(
    _ scope: String, seed: S.Type, configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<S> {
    try childFactory(scope, seed: seed, scope: nil, configure: configure)
  }
}
