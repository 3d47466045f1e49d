@_spi(BeansPackage) import BeansErrors
import CBeansRuntime
import Synchronization

/// Opens the children of one factory. The environment that declares the factory retains this object.
@usableFromInline
final class ChildOpening: Sendable {
  let scopeName: String
  private let outerName: String
  /// The environment in which children open; nil for a factory nested in another one. The factory retains it.
  private let home: Unretained<Environment>?
  private let makeScope: (@Sendable () -> any ChildScope)?
  /// Whether children have scope objects or observers.
  private let needsCare: Atomic<Bool>
  /// The plan, which the environment retains; nil before startup.
  private let plan = Atomic<Unretained<Plan>?>(nil)
  /// The reason why startup has made no plan, or the error of startup.
  private let reason = Locked<(any Error)?>(nil)
  /// Whether the first scope object has been checked to have the scope's name.
  private let hasScopeName = Atomic(false)
  private let declared = Locked(SharedDeclarations())

  init(
    _ scopeName: String, outerName: String, of home: Unretained<Environment>?,
    _ makeScope: (@Sendable () -> any ChildScope)?
  ) {
    self.scopeName = scopeName
    self.outerName = outerName
    self.home = home
    self.makeScope = makeScope
    needsCare = Atomic(makeScope != nil)
  }

  func declared(_ declarations: EnvironmentDeclarations?) {
    let shared = SharedDeclarations(open: declarations)
    declared.withLock { $0 = shared }
  }

  /// Returns the declarations for the children.
  func declarations(at location: SourceLocation) throws -> EnvironmentDeclarations {
    if let declared = declared.withLock({ $0 }).open { return declared }
    // The declarations are closed, also if the children are inactive.
    if let reason = reason.withLock({ $0 }), (reason as? EnvironmentError)?.cause != .inactiveChildren { throw reason }
    throw EnvironmentError(
      .frozen, "childFactory: the environment around '\(scopeName)' has started, its declarations are closed",
      path: ["'\(scopeName)'"], origin: location.origin)
  }

  /// Stores the plan, or the reason why there is none.
  func settled(_ outcome: Result<Plan, any Error>) {
    declared(nil)
    switch outcome {
    case .success(let plan):
      if !plan.observers.isEmpty { needsCare.store(true, ordering: .relaxed) }
      self.plan.store(Unretained(plan), ordering: .releasing)
    case .failure(let reason): self.reason.withLock { $0 = reason }
    }
  }

  /// Opens a child. Takes over the reference `seed`, for the first slot; nil without a seed.
  ///
  /// - Parameters:
  ///   - parent: the environment in which the child opens; nil for the usual one.
  ///   - place: the call that opens the child.
  ///   - owner: the party that decides the outcome of the child.
  @usableFromInline
  func open(
    _ seed: ObjectReference?, in parent: Environment?, at place: CallPlace, for owner: OutcomeOwner
  ) throws -> Environment {
    do {
      let opening: Opening
      if parent == nil, let home, home.with({ $0.core.lifecycle.isOpen }), let plan = plan.load(ordering: .acquiring) {
        opening = (home, plan)
      } else {
        opening = try admit(seed, in: parent)
      }
      let child: Environment
      if needsCare.load(ordering: .relaxed) {
        child = try openWithCare(seed, opening, place, owner)
      } else {
        child = make(seed, opening, .none, place, owner)
        try Self.join(child, opening.parent, opening.plan)
      }
      if let context = ResolutionContext.innermost { context.value.note(Unretained(child)) }
      return child
    } catch { throw SourceLocation.literal(place).met(error) }
  }

  /// The parent of a child, and the plan of the child.
  private typealias Opening = (parent: Unretained<Environment>, plan: Unretained<Plan>)

  /// Returns the parent of a child once it has started, and the plan. Releases the seed of a child that does not open.
  @inline(never)
  private func admit(_ seed: ObjectReference?, in parent: Environment?) throws -> Opening {
    do {
      let parent = try self.parent(parent)
      if !parent.with({ $0.core.lifecycle.isOpen }) { try parent.object.using {} }
      // Startup has set the plan, unless the children are inactive.
      if let plan = plan.load(ordering: .acquiring) { return (parent, plan) }
      throw reason.withLock { $0 } ?? EnvironmentError(.scopeNotActive, "'\(scopeName)' has no plan")
    } catch {
      seed?.release()
      throw error
    }
  }

  /// Returns the given parent or the usual one, or the nearest environment around the current one in which children open.
  /// The caller or the task retains it.
  private func parent(_ parent: Environment?) throws -> Unretained<Environment> {
    if parent == nil, let home { return home }
    if let parent, home == Unretained(parent) || isHome(parent) { return Unretained(parent) }
    if let reason = reason.withLock({ $0 }) { throw reason }
    if let parent {
      throw misplaced("'\(parent.name)' is not where children of '\(scopeName)' open: that is '\(outerName)'")
    }
    var next = Environment.current
    while let environment = next {
      if isHome(environment) { return Unretained(environment) }
      next = environment.parent
    }
    throw misplaced("a child of '\(scopeName)' opens in a child of '\(outerName)', and none is current")
  }

  private func misplaced(_ message: String) -> any Error {
    EnvironmentError(cause: .misplacedChild, message, path: ["'\(scopeName)'"])
  }

  /// Whether children of the factory open in an environment.
  private func isHome(_ environment: Environment) -> Bool {
    guard let own = plan.load(ordering: .acquiring), let plan = environment.core.plan else { return false }
    return own.with { own in plan.with { own.parent === $0 } }
  }

  @inline(__always)
  private func make(
    _ seed: ObjectReference?, _ opening: Opening, _ scope: ScopeObject, _ place: CallPlace, _ owner: OutcomeOwner
  ) -> Environment {
    let child = opening.plan.with { plan in
      Environment(plan.layout, EnvironmentCore(opening.plan, parent: opening.parent, place, owner), scope)
    }
    if let seed { child.core.slots[0].store(.filled(seed)) }
    return child
  }

  /// Opens a child that has a scope object or observers. A scope object without a host prepares every bean after the
  /// child has joined its parent: then a shutdown would wait for the child.
  @inline(never)
  private func openWithCare(
    _ seed: ObjectReference?, _ opening: Opening, _ place: CallPlace, _ owner: OutcomeOwner
  ) throws -> Environment {
    let scope: ScopeObject
    do { scope = try makeScopeObject(opening.plan) } catch {
      seed?.release()
      throw error
    }
    let child = make(seed, opening, scope, place, owner)
    do { try scope.attach(child) } catch { throw Self.abandoned(child, error) }
    try Self.join(child, opening.parent, opening.plan)
    switch scope {
    case .none: break
    case .host(let host): host.opened(child)
    case .life(let scope): try prepare(child, by: scope)
    }
    if opening.plan.with({ !$0.observers.isEmpty }) { ChildObservation.begin(of: child) }
    return child
  }

  private func makeScopeObject(_ plan: Unretained<Plan>) throws -> ScopeObject {
    guard let scope = makeScope?() else { return .none }
    if !hasScopeName.load(ordering: .relaxed) { try check(scope, plan) }
    return try ScopeObject(claiming: scope, for: scopeName)
  }

  /// Rejects a scope object whose name is not that of the scope. The name is users' code, and is read once.
  @inline(never)
  private func check(_ scope: any ChildScope, _ plan: Unretained<Plan>) throws {
    let name = scope.name
    if !(scope is any ScopeOfOneName), name != scopeName {
      throw EnvironmentError(
        cause: .otherScopeName,
        "the scope object of '\(scopeName)' is called '\(name)': its declarations would name a scope that does not open",
        path: ["'\(scopeName)'"], origin: plan.with { $0.opening?.origin })
    }
    hasScopeName.store(true, ordering: .relaxed)
  }

  // MARK: joining the parent

  /// Adds a child to those of its parent; from then on, other threads may see the child.
  @inline(__always)
  static func join(_ child: Environment, _ parent: Unretained<Environment>, _ plan: Unretained<Plan>) throws {
    let child = Unretained(child)
    let hasJoined = parent.with { parent -> Bool in
      let extras = parent.core.extras ?? parent.core.offer(EnvironmentExtras())
      let place = ScopeCounts.ownPlace
      return parent.core.lock.withLock {
        if parent.core.lifecycle.isEnding { return false }
        parent.core.change { $0.enter() }
        extras.with { $0.children.join(child, at: place) }
        plan.with { $0.counts.open(at: place) }
        return true
      }
    }
    if !hasJoined { throw abandoned(child.object, parent.object.finishedError()) }
  }

  /// Closes a child that never joined; the child releases its seed when it is deallocated.
  @inline(never)
  private static func abandoned(_ child: Environment, _ error: any Error) -> any Error {
    child.changeLocked { $0.close(.parent) }
    return error
  }

  /// Prepares every bean of a child by the child's scope object.
  private func prepare(_ child: Environment, by scope: any ChildScope) throws {
    do {
      try child.using {
        for number in 0..<Int32(child.core.compiledPlan.with { $0.layout.slots }) {
          let recipe = child.recipe(number)
          guard let declaration = recipe.value.code.with({ $0.declaration }) else { continue }
          try scope.prepare(bean: declaration, factory: ScopedBean(recipe, in: child, isOfChild: true))
        }
      }
    } catch {
      child.beginFinish(.finish)
      throw error
    }
    // The parent may have ended meanwhile.
    if child.core.lifecycle.isEnding { throw child.finishedError() }
  }
}
