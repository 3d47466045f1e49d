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
  /// The address of the last of the children that this thread has opened meanwhile, or 0; retained.
  private let openedAddress = Atomic<UInt>(0)

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

  private var opened: Unretained<OpenedChild>? { Unretained(address: openedAddress.load(ordering: .relaxed)) }

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
        context.value.opened?.release()
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
  func note(_ child: Unretained<Environment>) {
    openedAddress.store(
      ObjectReference(OpenedChild(child.address, earlier: opened)).address, ordering: .relaxed)
  }

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
    return all.contains { $0.value.opened?.with { $0.contains(own) } == true } ? nil : keeper
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

/// A child that a build has opened.
final class OpenedChild {
  private let address: UInt
  private let earlier: Unretained<OpenedChild>?

  /// Takes over the reference to the earlier one.
  init(_ address: UInt, earlier: Unretained<OpenedChild>?) { (self.address, self.earlier) = (address, earlier) }

  deinit { earlier?.release() }

  func contains(_ address: UInt) -> Bool {
    self.address == address || earlier?.with { $0.contains(address) } == true
  }
}
