import Builtin
public import Synchronization

/// A container. Environments form a tree: a child sees everything its ancestors declare and changes nothing of theirs.
///
/// Declare beans on one thread, then start. After that every lookup is safe from any thread. The container publishes a
/// bean safely to every thread that looks it up; whether a bean may be *used* by several threads is the bean's own
/// contract, so singletons should be `Sendable`.
///
/// End it with `shutdown()`. An environment dropped without that lets go of its beans untold; one that has children, or
/// beans that hold it, is held by them and stays.
public final class Environment: @unchecked Sendable {
  // All mutable parts are atomic, guarded by the parent's list of children, or written before the environment is
  // published; each says which. One struct, so that the children of factories can be allocated with their slots.
  @exclusivity(unchecked)
  @usableFromInline var header: Header

  @usableFromInline
  struct Header: ~Copyable {
    /// Retained by a plain environment; the children of factories rely on their parent's plan, which holds it.
    @usableFromInline let plan: Unmanaged<Plan>
    /// Retained. Not a strong field, because reading one costs a retain and a release.
    let parent: Unmanaged<Environment>?
    @usableFromInline let state: Atomic<UInt>
    /// What most children of factories never need; see `Side`. Retained.
    let side: Atomic<UInt>
    // Links of the parent's list of children, guarded by that list.
    var previous: Unmanaged<Environment>?
    var next: Unmanaged<Environment>?
    /// Who fills which slot, while that is only written down here; see `claimAlone`. In the end, see `isReleased`.
    let leader = Atomic<UInt32>(0)
    let claim = Atomic<UInt16>(0)
    /// How many slots leaders have filled; see `CreationOrder`.
    let created = Atomic<UInt16>(0)

    /// Of a child of a factory.
    @inline(__always)
    init(plan: Plan, parent: Environment) {
      self.plan = .passUnretained(plan)
      self.parent = .passRetained(parent)
      self.state = Atomic(plan.initialState)
      self.side = Atomic(0)
    }

    /// Of a plain environment.
    init(plan: Plan, parent: Environment?, setup: Setup) {
      self.plan = .passRetained(plan)
      self.parent = parent.map { .passRetained($0) }
      self.state = Atomic(State.unstarted | State.unled | State.sharing | State.shared)
      // Threads that open children share a plain environment's list of them, so that has several parts.
      self.side = Atomic(UInt(bitPattern: Unmanaged.passRetained(Side(shards: 8, setup: setup)).toOpaque()))
    }

    /// nil in the children of factories.
    var setup: Setup? {
      Unmanaged<Side>.word(side.load(ordering: .acquiring))?._withUnsafeGuaranteedRef { $0.setup }
    }
  }

  /// Creates an empty environment, to be declared, then started.
  ///
  /// - Parameters:
  ///   - name: for reports and errors.
  ///   - parent: the environment whose beans, scopes and post processors this one sees. It may be started or not; it
  ///     is started before this one.
  ///   - traceOrigin: keeps the origins of declarations in `report()`. Errors name them anyhow.
  /// - Throws: `.finished` when the parent has been finished.
  public init(name: String = "environment", parent: Environment? = nil, traceOrigin: Bool = false) throws {
    if let parent, parent.isFinishing { throw parent.finishedError() }
    header = Header(
      plan: Plan(name: name, scopeName: nil, parent: parent?.plan), parent: parent,
      setup: Setup(traceOrigin: traceOrigin))
    plan.home = Self.canLend ? .passUnretained(self) : nil
  }

  /// What a factory's `configure` is handed: declares, never starts.
  init(configuring plan: Plan, parent: Environment?) {
    header = Header(plan: plan, parent: parent, setup: Setup(isTemplate: true))
  }

  /// A child of a factory, together with what it keeps; see `Tail`.
  static func allocate(plan: Plan, parent: Environment) -> Environment {
    let child = Builtin.allocWithTailElems_1(Environment.self, plan.tail.words._builtinWordValue, Slot.self)
    let slots = child.tail
    for index in 0..<plan.slotCount { (slots + index).initialize(to: Slot()) }
    withUnsafeMutablePointer(to: &child.header) { $0.initialize(to: Header(plan: plan, parent: parent)) }
    return child
  }

  /// Where the memory of a factory's child goes on behind its header. A plain environment ends there.
  @inline(__always)
  var tail: UnsafeMutablePointer<Slot> { UnsafeMutablePointer(Builtin.projectTailElems(self, Slot.self)) }

  /// One per bean; see `Slot`.
  @inline(__always)
  var slots: UnsafeMutablePointer<Slot> { header.plan._withUnsafeGuaranteedRef { $0.slots } ?? tail }

  deinit {
    // Nearly always: a factory's child that has ended.
    if header.side.load(ordering: .relaxed) != 0 || isCustomScope || isHosted || !isReleased { letGo() }
    header.parent?.release()
  }

  private func letGo() {
    // Only an environment that was never finished still holds beans; there is nobody left to tell them.
    releaseAbandoned()
    // Recipes hold each other: letting go of the plan as it is would walk the longest chain by recursion.
    if header.setup?.isTemplate == false, !isReleased { plan.dismantle() }
    dropScope()
    if header.setup != nil { header.plan.release() }
    Unmanaged<Side>.word(header.side.load(ordering: .relaxed))?.release()
  }

  var plan: Plan { header.plan._withUnsafeGuaranteedRef { $0 } }

  /// For reports and errors; the scope's name in the children of a factory.
  public var name: String { plan.name }

  /// The environment whose beans this one sees.
  public var parent: Environment? { header.parent?._withUnsafeGuaranteedRef { $0 } }

  /// The child environment that is current for the running task or synchronous scope; see `withChild`.
  @TaskLocal public static var current: Environment?

  /// The environment whose asynchronous release the running task is part of.
  @TaskLocal static var releasing: Environment?

  /// Whether `other` is this environment's parent, or its parent's, and so on.
  func isDescendant(of other: Environment) -> Bool {
    var next = header.parent
    while let environment = next {
      if environment.toOpaque() == Unmanaged.passUnretained(other).toOpaque() { return true }
      next = environment._withUnsafeGuaranteedRef { $0.header.parent }
    }
    return false
  }

  /// The environment so many steps further out. The plan knows that it exists.
  @inline(__always)
  func ancestor(_ hops: Int) -> Unmanaged<Environment> {
    var environment = Unmanaged.passUnretained(self)
    for _ in 0..<hops {
      environment = environment._withUnsafeGuaranteedRef { $0.header.parent.unsafelyUnwrapped }
    }
    return environment
  }
}
