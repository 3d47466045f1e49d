import CBeansRuntime
import Synchronization

/// The current work of a thread in the container: a lookup, a build or a release, nested in others.
///
/// A context is on the thread's own stack and is linked through one thread-local pointer, so that a lookup made by a
/// factory finds the build to which it belongs. This reveals cycles that no plan could foresee. A slot that is claimed
/// holds the address of the context that has claimed it.
///
/// Other threads read only the number of its thread, under the environment's lock, while a claim names the context. The
/// mutable fields belong to its own thread. They are atomic because all holders of a context share one place in memory.
struct ResolutionContext: ~Copyable, Sendable {
  let environment: Unretained<Environment>
  let thread: UInt
  let outer: StackReference<ResolutionContext>?
  /// The requested recipe; nil for a release, and for a lookup that builds nothing of its own.
  let asked: FrozenReference<Recipe>?
  private let currentRecipe = Atomic<FrozenReference<Recipe>?>(nil)
  /// Whether the thread waits for the bean of `current`, instead of building it.
  let isWaiting = Atomic(false)
  /// The `BuildNotes` of this build; retained, for its own thread.
  private let notesReference = Atomic<ObjectReference?>(nil)

  @inline(__always)
  init(_ environment: Unretained<Environment>, _ asked: FrozenReference<Recipe>?) {
    self.environment = environment
    self.asked = asked
    thread = UInt(beans_thread())
    outer = Self.innermost
  }

  /// The recipe that is being built now; nil between two builds.
  var current: FrozenReference<Recipe>? {
    @inline(__always) get { currentRecipe.load(ordering: .relaxed) }
    @inline(__always) nonmutating set { currentRecipe.store(newValue, ordering: .relaxed) }
  }

  /// The notes of this build, if there are any; for its own thread.
  private var existingNotes: Unretained<BuildNotes>? {
    notesReference.load(ordering: .relaxed).map { Unretained($0) }
  }

  /// The notes of this build, made on demand; for its own thread.
  var notes: BuildNotes {
    if let notes = existingNotes { return notes.object }
    let notes = BuildNotes()
    notesReference.store(ObjectReference(notes), ordering: .relaxed)
    return notes
  }

  /// The innermost context of the calling thread, if it has one.
  @inline(__always)
  static var innermost: StackReference<ResolutionContext>? {
    ThreadReference.innermost.map { StackReference($0) }
  }

  /// Runs `body` within a new context.
  @inline(__always)
  static func with<R>(
    _ environment: Unretained<Environment>, _ asked: FrozenReference<Recipe>?,
    _ body: (StackReference<ResolutionContext>) throws -> R
  ) rethrows -> R {
    var context = ResolutionContext(environment, asked)
    return try StackReference.with(&context) { context in
      ThreadReference.innermost = context.erased
      defer {
        ThreadReference.innermost = context.value.outer?.erased
        context.value.existingNotes?.release()
      }
      return try body(context)
    }
  }

  /// Records a child that the thread has opened.
  @inline(never)
  func note(_ child: Unretained<Environment>) { notes.opened.append(child.identifier) }

  /// All contexts of this thread, innermost first.
  private static var all: some Sequence<StackReference<ResolutionContext>> {
    sequence(state: innermost) { next -> StackReference<ResolutionContext>? in
      defer { next = next?.value.outer }
      return next
    }
  }

  /// Whether this thread is inside the environment, so that waiting for the environment would never end.
  static func isInside(_ environment: Environment) -> Bool {
    let used = all.map { $0.value.environment } + HazardPointer.owners(Environment.self)
    return used.contains { $0.with { $0.isWithin(environment) } }
  }

  /// Whether this thread is building a bean in an environment.
  static func isBuilding(_ recipe: FrozenReference<Recipe>, in environment: Environment) -> Bool {
    innermost?.value.isBuildingFurtherOut(recipe, in: environment) == true
  }

  /// Whether this context, or one further out, is building a bean in an environment.
  func isBuildingFurtherOut(_ recipe: FrozenReference<Recipe>, in environment: Environment) -> Bool {
    isBuild(of: recipe, in: environment) || outer?.value.isBuildingFurtherOut(recipe, in: environment) == true
  }

  private func isBuild(of recipe: FrozenReference<Recipe>, in environment: Environment) -> Bool {
    current == recipe && self.environment == Unretained(environment)
  }

  // MARK: paths

  /// The beans under construction in this context, outermost first.
  private var steps: [EnvironmentError.Step] {
    guard let current, let asked else { return current.map { [$0.value.definition.step] } ?? [] }
    // The bean for which this context waits is under construction elsewhere.
    let left = Self.chain(from: current, to: asked).dropFirst(isWaiting.load(ordering: .relaxed) ? 1 : 0)
    return left.reversed().map { $0.value.definition.step }
  }

  /// Returns the beans for which a bean is built, itself first.
  static func chain(
    from built: FrozenReference<Recipe>, to asked: FrozenReference<Recipe>
  ) -> [FrozenReference<Recipe>] {
    var chain = [built]
    let steps = asked.value.steps
    var step = (0..<steps.count).map { steps[$0] }.first { $0.slot == built.value.slot }
    while let dependent = step?.dependent, dependent >= 0 {
      let next = steps[Int(dependent)]
      chain.append(built.advanced(by: Int(next.slot - built.value.number)))
      step = next
    }
    if chain.last != asked { chain.append(asked) }
    return chain
  }

  /// Labels of the beans under construction on this thread, outermost first.
  static var path: [String] { steps.map(\.label) }

  /// The beans under construction on this thread, outermost first.
  static var steps: [EnvironmentError.Step] { Array(all).reversed().flatMap { $0.value.steps } }

  /// Returns the beans on a cycle. The first one is also the last.
  ///
  /// - Parameters:
  ///   - recipe: the bean that is being built further out on this thread, and is requested again.
  ///   - environment: the environment in which the bean is built.
  ///   - isInside: whether the innermost context makes the request.
  static func circle(
    closing recipe: FrozenReference<Recipe>, in environment: Environment, isInside: Bool
  ) -> [EnvironmentError.Step] {
    var contexts = Array(all)[...]
    var inner = [recipe.value.definition.step]
    if isInside, let asking = contexts.popFirst() { inner = asking.value.steps }
    for context in contexts {
      if context.value.isBuild(of: recipe, in: environment) { break }
      inner = context.value.steps + inner
    }
    return [recipe.value.definition.step] + inner
  }

  /// Returns the bean that this thread is building further out than `environment`, and that will be kept there; nil
  /// where a build of this thread has opened `environment` itself.
  static func holder(above environment: Environment) -> FrozenReference<Recipe>? {
    let own = ObjectIdentifier(environment)
    guard let keeper = keeper(above: environment) else { return nil }
    let isOpenedHere = all.contains { $0.value.existingNotes?.with { $0.opened.contains(own) } == true }
    return if isOpenedHere { nil } else { keeper }
  }

  /// Returns the bean that this thread is building, if it will be kept further out than `environment`.
  @inline(never)
  static func keeper(above environment: Environment) -> FrozenReference<Recipe>? {
    for context in all {
      guard let recipe = context.value.current else { continue }
      switch recipe.value.kind {
      case .prototype: continue
      case .slot: return if environment.isDescendant(of: context.value.environment) { recipe } else { nil }
      // The container does not judge the lifetime of a registered scope.
      case .scoped, .product: return nil
      }
    }
    return nil
  }
}

// MARK: objects that are beans already

extension ResolutionContext {
  /// Returns the maker of a bean that this build has made or received, and that no slot records; see `BuildNotes`.
  func made(_ identity: ObjectIdentifier) -> BuildNotes.Maker? {
    existingNotes?.with { notes in notes.beans.last { $0.identity == identity }?.maker }
  }

  /// The build or `Owned` that takes the result of this build; nil for a lookup outside of both.
  var taker: StackReference<ResolutionContext>? { Self.nearestBuild(from: outer) }

  /// Returns the first context, from one outwards, that is a build or an `Owned`; nil if there is none.
  static func nearestBuild(
    from context: StackReference<ResolutionContext>?
  ) -> StackReference<ResolutionContext>? {
    var next = context
    while let context = next, context.value.current == nil, context.value.existingNotes?.with({ $0.parts }) == nil {
      next = context.value.outer
    }
    return next
  }

  /// Whether the requested object of this build is another face of a bean.
  var isFace: Bool { existingNotes?.with { $0.isFace } == true }

  /// The notes that collect the prototypes and owned beans which this build takes, for the `Owned` to which they belong.
  var collection: BuildNotes? {
    // Prototypes taken by a bean that its environment or a scope keeps belong to that bean.
    if let kind = current?.value.kind, kind == .slot || kind == .scoped { return nil }
    if let notes = existingNotes?.object, notes.parts != nil { return notes }
    return outer?.value.collection
  }
}

/// Notes of one build, used by its thread alone.
final class BuildNotes {
  /// The maker of an object that no slot records.
  enum Maker {
    /// A prototype, which is not kept.
    case prototype
    /// A bean of a scope that keeps its beans by itself.
    case scope
  }

  /// The children that the thread has opened during the build.
  var opened: [ObjectIdentifier] = []
  /// Beans that were made for the build, or that it received from scopes. Retained, so that no other object gets the
  /// identity of one of them.
  var beans: [(identity: ObjectIdentifier, object: AnyObject, maker: Maker)] = []
  /// Whether the requested object of the build is another face of a bean.
  var isFace = false
  /// The objects that belong to an `Owned`, in the order in which they were made; nil for a build.
  var parts: [OwnedBean.Part]?
}
