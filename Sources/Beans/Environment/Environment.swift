import BeansConfiguration

/// A container. Environments form a tree: a child sees everything its ancestors declare and changes nothing of theirs.
///
/// Declare beans on one thread, then start. After that every lookup is safe from any thread. The container publishes a
/// bean safely to every thread that looks it up; whether a bean may be *used* by several threads is the bean's own
/// contract, so singletons should be `Sendable`.
///
/// End it with `shutdown()`. An environment dropped without that lets go of its beans untold; one that has children, or
/// beans that hold it, is held by them and stays.
public final class Environment: Sendable {
  /// The one stored property: a factory's child has its slots behind it, in the same allocation.
  @usableFromInline let core: EnvironmentCore

  /// Creates an empty environment, to be declared, then started.
  ///
  /// - Parameters:
  ///   - name: for reports and errors.
  ///   - parent: the environment whose beans, scopes and post processors this one sees. It may be started or not; it
  ///     is started before this one.
  ///   - traceOrigin: keeps the origins of declarations in `report()`. Errors name them anyhow.
  /// - Throws: `.finished` when the parent has been finished.
  public convenience init(name: String = "environment", parent: Environment? = nil, traceOrigin: Bool = false) throws {
    if let parent, parent.core.lifecycle.isEnding { throw parent.finishedError() }
    let declarations = EnvironmentDeclarations(
      name: name, configuration: ConfigurationManager(parent: parent?.configuration))
    self.init(
      EnvironmentResources(declarations, traceOrigin: traceOrigin, log: parent?.log ?? .shared), parent: parent, .plain)
  }

  /// What a factory's `configure` is handed: declares, never starts.
  convenience init(configuring declarations: EnvironmentDeclarations, parent: Environment?) {
    self.init(
      EnvironmentResources(declarations, traceOrigin: false, log: parent?.log ?? .shared), parent: parent,
      [.plain, .template])
  }

  private init(_ resources: EnvironmentResources, parent: Environment?, _ kind: EnvironmentCore.Kind) {
    core = EnvironmentCore(parent: parent, kind, EnvironmentExtras(resources))
  }

  deinit {
    // Nearly always a request that has ended.
    if !core.lifecycle.isReleased { letGoOfBeans() }
    if !core.kind.isDisjoint(with: .withScope) { dropScope() }
  }

  /// For reports and errors; the scope's name in the children of factories.
  public var name: String { existingExtras?.resources?.name ?? core.compiledPlan.with { $0.name } }

  /// The environment whose beans this one sees.
  public var parent: Environment? { core.parent?.object }

  /// The child environment that is current for the running task or synchronous scope; see `withChild`.
  @TaskLocal public static var current: Environment?

  /// The environment whose asynchronous release the running task is part of.
  @TaskLocal static var releasing: Environment?

  var existingExtras: EnvironmentExtras? { core.extras?.object }

  /// What most children never need; made when something of it is.
  var extras: EnvironmentExtras { (core.extras ?? core.offer(EnvironmentExtras())).object }

  /// The resources of the nearest environment that is no child of a factory.
  var homeResources: EnvironmentResources? {
    var next = Optional(Unretained(self))
    while let environment = next {
      if let resources = environment.with({ $0.existingExtras?.resources }) { return resources }
      next = environment.with { $0.core.parent }
    }
    return nil
  }

  var log: ContainerLog { homeResources?.log ?? .shared }

  var configuration: ConfigurationManager {
    existingExtras?.resources?.configuration ?? core.compiledPlan.with { $0.configuration }
  }

  @inline(__always)
  var creationLog: CreationLog { core.compiledPlan.with { CreationLog(of: core.slots, $0.layout) } }

  /// Beans created here so far; the seed is none.
  var createdBeans: Int { core.plan == nil ? 0 : creationLog.count }

  /// Whether `other` is this environment's parent, or its parent's, and so on.
  func isDescendant(of other: Environment) -> Bool { isDescendant(of: Unretained(other)) }

  func isDescendant(of other: Unretained<Environment>) -> Bool {
    var next = core.parent
    while let environment = next {
      if environment == other { return true }
      next = environment.with { $0.core.parent }
    }
    return false
  }

  /// The environment so many steps further out. The plan knows that it exists.
  @inline(__always)
  func ancestor(_ hops: Int32) -> Unretained<Environment> {
    var environment = Unretained(self)
    var hops = hops
    while hops != 0, let parent = environment.with({ $0.core.parent }) {
      environment = parent
      hops &-= 1
    }
    return environment
  }
}
