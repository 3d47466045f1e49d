import CBeansRuntime
import Synchronization

/// The part of an `EnvironmentFactory` that does not depend on the seed's type: compiled once, called by all.
@usableFromInline
final class ChildOpener: Sendable {
  let plan: Plan
  /// The environment that declared the factory; nil where that is itself a child of a factory, of which there are many.
  let environment: Environment?
  /// The same, read without a retain and a release: all threads that open children would meet there.
  private let home: Unmanaged<Environment>?
  private let makeScope: ScopeMaker?
  /// Plans know their ancestors without holding them.
  private let ancestors: [Plan]

  init(_ plan: Plan, of environment: Environment?, _ makeScope: (@Sendable () -> any BeanScope)?) {
    self.plan = plan
    self.environment = environment
    self.home = environment.map { .passUnretained($0) }
    self.makeScope = makeScope.map { ScopeMaker($0) }
    plan.hasScopeObject = makeScope != nil
    self.ancestors = plan.chain.dropFirst().map(\.plan)
  }

  /// Takes over `seed`, which the first slot will hold; nil where there is no seed.
  @usableFromInline
  func open(_ seed: Unmanaged<AnyObject>?) throws -> Environment {
    if let home { return try home._withUnsafeGuaranteedRef { try open(seed, under: $0) } }
    return try openInCurrent(seed)
  }

  @inline(never)
  private func openInCurrent(_ seed: Unmanaged<AnyObject>?) throws -> Environment {
    var next = Environment.current
    while let candidate = next {
      if candidate.plan === plan.parent { return try open(seed, under: candidate) }
      next = candidate.parent
    }
    seed?.release()
    throw EnvironmentError(
      .scopeNotActive,
      "a child of '\(plan.name)' opens in a child of '\(plan.parent?.name ?? "")', and none is current",
      path: ["'\(plan.name)'"])
  }

  @usableFromInline
  func open(_ seed: Unmanaged<AnyObject>?, in parent: Environment) throws -> Environment {
    if parent.plan === plan.parent { return try open(seed, under: parent) }
    seed?.release()
    throw EnvironmentError(
      .scopeNotActive,
      "'\(parent.name)' is not where children of '\(plan.name)' open: "
        + "that is '\(plan.parent?.name ?? "")'", path: ["'\(plan.name)'"])
  }

  private func open(_ seed: Unmanaged<AnyObject>?, under parent: Environment) throws -> Environment {
    if parent.state & Environment.State.gate != 0 {
      do {
        try parent.startIfNeeded()
        if parent.isFinishing { throw parent.finishedError() }
      } catch {
        seed?.release()
        throw error
      }
    }
    let child = Environment.allocate(plan: plan, parent: parent)
    if let seed { child.plant(seed) }
    try child.open(in: parent, makeScope: makeScope)
    return child
  }
}

extension Environment {
  /// Puts the seed, with its reference, into the first slot: it is released last.
  @inline(__always)
  func plant(_ seed: Unmanaged<AnyObject>) {
    tail.pointee.word.store(UInt(bitPattern: seed.toOpaque()), ordering: .relaxed)
  }

  /// Joins the parent and gets its scope object; from then on others may see the child.
  @inline(__always)
  func open(in parent: Environment, makeScope: ScopeMaker?) throws {
    if let makeScope { keepScope(makeScope()) }
    let side = parent.sideReference ?? parent.makeSide()
    // Who finds a list sees the flag of a `finish()` that found none.
    guard !parent.isFinishing, side._withUnsafeGuaranteedRef({ $0.children.join(self, isShared: false) }) else {
      abandon()
      throw parent.finishedError()
    }
    guard makeScope != nil else { return }
    switch scope {
    case .none: break
    case .hosted(let host): host.opened(self)
    case .custom(let scope): try prepare(scope)
    }
  }

  /// A scope object of the user's own is told of every bean of the scope.
  private func prepare(_ scope: any BeanScope) throws {
    do {
      for recipe in plan.slotRecipes {
        guard let declaration = recipe.definition.declaration else { continue }
        try scope.prepare(bean: declaration, factory: RecipeFactory(environment: self, recipe: recipe))
      }
    } catch {
      finish()
      throw error
    }
  }

  /// Gives up a child that never joined.
  private func abandon() {
    header.state.bitwiseOr(State.finishing | State.releasing, ordering: .relaxed)
    dropScope()
  }

  /// Ends the declaring phase of what `configure` was handed.
  func closeDeclarations() { header.setup?.end(nil) }
}
