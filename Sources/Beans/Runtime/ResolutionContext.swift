import CBeansRuntime
import Synchronization

/// What the current thread is doing in the container: a lookup, a build or a release, within others further out.
///
/// Stands on the thread's own stack and is linked through one thread-local pointer, so that a lookup made by a factory
/// finds the build it belongs to: that is how circles are seen that no plan could foresee. A slot that is claimed holds the
/// address of the context that has claimed it.
///
/// Other threads read it, and change it under the environment's lock, while its own thread reads it without: whatever
/// changes is atomic.
struct ResolutionContext: ~Copyable {
  let environment: Unretained<Environment>
  let thread: UInt
  private let outerAddress: UInt
  /// What was asked for; 0 for a release, and for a lookup that builds nothing of its own.
  private let askedAddress: UInt
  /// The address of the recipe that is being built now, or 0. Other threads read it under the environment's lock.
  let current = Atomic<UInt>(0)
  /// The address of the next build of the same environment, or 0; under its lock.
  private let nextAddress = Atomic<UInt>(0)
  /// The address of the first step that this build has yet to log; under the environment's lock.
  let logged = Atomic<UInt>(0)
  /// Steps before this address are stored without the lock, and logged later; those behind it are logged when they are
  /// stored. Lowered under the environment's lock, where another build takes a step over.
  let own = Atomic<UInt>(0)
  /// Whether the thread waits for the bean that is `current`, instead of building it.
  let isWaiting = Atomic(false)
  /// The address of the notes of this build, or 0; retained.
  private let notesAddress = Atomic<UInt>(0)

  @inline(__always)
  init(_ environment: Unretained<Environment>, _ asked: FrozenReference<Recipe>?) {
    self.environment = environment
    askedAddress = asked?.address ?? 0
    thread = UInt(beans_thread())
    outerAddress = UInt(beans_resolution())
  }

  var outer: StackReference<ResolutionContext>? { StackReference(address: outerAddress) }

  var next: StackReference<ResolutionContext>? {
    get { StackReference(address: nextAddress.load(ordering: .relaxed)) }
    nonmutating set { nextAddress.store(newValue?.address ?? 0, ordering: .relaxed) }
  }

  /// The notes of this build, if there are any; for its own thread.
  private var existingNotes: Unretained<BuildNotes>? {
    Unretained(address: notesAddress.load(ordering: .relaxed))
  }

  /// The notes of this build, for its own thread.
  var notes: BuildNotes {
    if let notes = existingNotes { return notes.object }
    let notes = BuildNotes()
    notesAddress.store(ObjectReference(notes).address, ordering: .relaxed)
    return notes
  }

  var asked: FrozenReference<Recipe>? { FrozenReference(address: askedAddress) }

  var building: FrozenReference<Recipe>? { FrozenReference(address: current.load(ordering: .relaxed)) }

  /// The context of the thread that looks, if it has one.
  @inline(__always)
  static var innermost: StackReference<ResolutionContext>? {
    StackReference(address: UInt(beans_resolution()))
  }

  /// Runs `body` within a new context.
  @inline(__always)
  static func with<R>(
    _ environment: Unretained<Environment>, _ asked: FrozenReference<Recipe>?,
    _ body: (StackReference<ResolutionContext>) throws -> R
  ) rethrows -> R {
    var context = ResolutionContext(environment, asked)
    return try StackReference.with(&context) { context in
      beans_set_resolution(UInt(context.address))
      defer {
        beans_set_resolution(context.value.outerAddress)
        context.value.existingNotes?.release()
      }
      return try body(context)
    }
  }

  /// Another build has taken over the step of that slot; under the environment's lock.
  func giveAway(_ slot: Int32) {
    guard let step = asked?.value.steps.first(where: { $0.slot == slot }) else { return }
    own.store(min(own.load(ordering: .relaxed), step.address), ordering: .relaxed)
  }

  /// Notes a child that the thread has opened.
  @inline(never)
  func note(_ child: Unretained<Environment>) { notes.opened.append(child.address) }

  /// All contexts of this thread, innermost first.
  private static var all: some Sequence<StackReference<ResolutionContext>> {
    sequence(state: innermost) { next -> StackReference<ResolutionContext>? in
      defer { next = next?.value.outer }
      return next
    }
  }

  /// Whether this thread is inside the environment, so that waiting for the environment would never end.
  static func isInside(_ environment: Environment) -> Bool {
    func isWithin(_ inner: Unretained<Environment>) -> Bool {
      inner.with { $0 === environment || $0.isDescendant(of: environment) }
    }
    return all.contains { isWithin($0.value.environment) }
      || HazardPointer.owners.contains { Unretained<Environment>(address: $0).map(isWithin) ?? false }
  }

  /// Whether this thread is building that bean there.
  static func isBuilding(_ recipe: FrozenReference<Recipe>, in environment: Environment) -> Bool {
    innermost?.value.isBuildingFurtherOut(recipe, in: environment) == true
  }

  /// Whether this context, or one further out, is building that bean there.
  func isBuildingFurtherOut(_ recipe: FrozenReference<Recipe>, in environment: Environment) -> Bool {
    isBuild(of: recipe, in: environment) || outer?.value.isBuildingFurtherOut(recipe, in: environment) == true
  }

  private func isBuild(of recipe: FrozenReference<Recipe>, in environment: Environment) -> Bool {
    current.load(ordering: .relaxed) == recipe.address && self.environment == Unretained(environment)
  }

  // MARK: paths

  /// The beans under construction here, outermost first.
  private var steps: [EnvironmentError.Step] {
    guard let building, let asked else { return building.map { [$0.value.entry.step] } ?? [] }
    // What it waits for is under construction elsewhere.
    let left = Self.chain(from: building, to: asked).dropFirst(isWaiting.load(ordering: .relaxed) ? 1 : 0)
    return left.reversed().map { $0.value.entry.step }
  }

  /// The beans that one bean is built for, itself first.
  static func chain(
    from built: FrozenReference<Recipe>, to asked: FrozenReference<Recipe>
  ) -> [FrozenReference<Recipe>] {
    var chain = [built]
    let steps = asked.value.steps
    var index = (0..<steps.count).first { steps[$0].slot == built.value.slot }
    while let step = index {
      let dependent = steps[step].dependent
      index = dependent < 0 ? nil : Int(dependent)
      if let index { chain.append(built.sibling(steps[index].slot, of: built.value.number)) }
    }
    if chain.last != asked { chain.append(asked) }
    return chain
  }

  /// Labels of the beans under construction on this thread, outermost first.
  static var path: [String] { steps.map(\.label) }

  /// The beans under construction on this thread, outermost first.
  static var steps: [EnvironmentError.Step] { Array(all).reversed().flatMap { $0.value.steps } }

  /// The beans on a circle, of which the first is also the last.
  ///
  /// - Parameters:
  ///   - recipe: what is being built further out on this thread, and asked for again.
  ///   - environment: where it is built.
  ///   - isInside: whether the innermost context is the one that asks.
  static func circle(
    closing recipe: FrozenReference<Recipe>, in environment: Environment, isInside: Bool
  ) -> [EnvironmentError.Step] {
    var contexts = Array(all)[...]
    var inner = [recipe.value.entry.step]
    if isInside, let asking = contexts.popFirst() { inner = asking.value.steps }
    for context in contexts {
      if context.value.isBuild(of: recipe, in: environment) { break }
      inner = context.value.steps + inner
    }
    return [recipe.value.entry.step] + inner
  }

  /// The bean that this thread is building in an environment further out than one, and that will be kept there; nil where
  /// a build of the thread's has opened the environment itself.
  static func holder(above environment: Environment) -> FrozenReference<Recipe>? {
    let own = Unretained(environment).address
    guard let keeper = keeper(above: environment) else { return nil }
    return all.contains { $0.value.existingNotes?.with { $0.opened.contains(own) } == true } ? nil : keeper
  }

  /// The bean that this thread is building, where that will be kept in an environment further out than one.
  @inline(__always)
  static func keeper(above environment: Environment) -> FrozenReference<Recipe>? {
    innermost == nil ? nil : findKeeper(above: environment)
  }

  private static func findKeeper(above environment: Environment) -> FrozenReference<Recipe>? {
    for context in all {
      guard let recipe = context.value.building else { continue }
      switch recipe.value.kind {
      case .prototype: continue
      case .slot: return environment.isDescendant(of: context.value.environment) ? recipe : nil
      // A registered scope decides for itself.
      case .scoped, .product: return nil
      }
    }
    return nil
  }
}

// MARK: objects that are beans already

extension ResolutionContext {
  /// Whether this build has made or got a bean that is no other environment's to tell of; see `BuildNotes`.
  func made(_ identity: ObjectIdentifier) -> BuildNotes.Maker? {
    existingNotes?.with { notes in notes.beans.last { $0.identity == identity }?.maker }
  }

  /// The build that takes what this one makes, or the `Owned` that does; nil for a lookup outside of both.
  var taker: StackReference<ResolutionContext>? { Self.nearestBuild(from: outer) }

  /// The innermost build of this thread, or `Owned`; nil outside of both.
  static var nearestBuild: StackReference<ResolutionContext>? { nearestBuild(from: innermost) }

  private static func nearestBuild(
    from context: StackReference<ResolutionContext>?
  ) -> StackReference<ResolutionContext>? {
    var next = context
    while let context = next, context.value.building == nil, context.value.existingNotes?.with({ $0.parts }) == nil {
      next = context.value.outer
    }
    return next
  }

  /// Whether the object that the build has asked for is another face of a bean.
  var isFace: Bool { existingNotes?.with { $0.isFace } == true }

  /// The notes that collect the prototypes which this build takes now, for the `Owned` that they belong to.
  var collection: BuildNotes? {
    // What a bean takes that its environment or a scope keeps belongs to that bean.
    if let kind = building?.value.kind, kind == .slot || kind == .scoped { return nil }
    let known = existingNotes?.object
    if let known, known.parts != nil { return known }
    guard let outer else { return nil }
    if let collection = known?.collection { return collection }
    let collection = outer.value.collection
    known?.collection = collection
    return collection
  }
}

/// Notes of one build, by its thread alone.
final class BuildNotes {
  /// The maker of an object that no slot tells of.
  enum Maker {
    /// A prototype, which nothing keeps.
    case prototype
    /// A bean of a scope that keeps its beans by itself.
    case scope
  }

  /// A prototype that belongs to an `Owned`.
  typealias Part = (object: AnyObject, recipe: FrozenReference<Recipe>)

  /// Addresses of the children that the thread has opened meanwhile.
  var opened: [UInt] = []
  /// Beans that were made for the build, or that it got from scopes. Kept, so that no other object gets the identity of one.
  var beans: [(identity: ObjectIdentifier, object: AnyObject, maker: Maker)] = []
  /// Whether the object that the build has asked for is another face of a bean.
  var isFace = false
  /// For an `Owned`: the prototypes that belong to it, in the order in which they were made.
  var parts: [Part]?
  /// The notes further out that collect prototypes, where they have been looked for.
  var collection: BuildNotes?
}
