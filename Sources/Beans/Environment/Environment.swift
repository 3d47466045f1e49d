import Builtin
import Synchronization

/// A container. Environments form a tree: a child sees everything its ancestors declare and changes nothing of theirs.
///
/// Declare beans on one thread, then start. After that every lookup is safe from any thread. The container publishes a
/// bean safely to every thread that looks it up; whether a bean may be *used* by several threads is the bean's own
/// contract, so singletons should be `Sendable`.
public final class Environment: @unchecked Sendable {
  // All mutable parts are atomic, guarded by the parent's list of children, or written before the environment is
  // published; each says which. One struct, so that the children of factories can be allocated with their slots.
  @exclusivity(unchecked)
  var header: Header

  struct Header: ~Copyable {
    /// Retained by a plain environment; the children of a factory rely on their parent's plan, which holds it.
    let plan: Unmanaged<Plan>
    /// Retained. Not a strong field, because reading one costs a retain and a release.
    let parent: Unmanaged<Environment>?
    /// What a plain environment needs until it has started; nil in the children of factories.
    let setup: Setup?
    let state: Atomic<UInt>
    /// One word per slot; see `Slot`.
    var slots: UnsafeMutablePointer<Slot>
    /// The slots in the order in which leaders filled them; see `CreationOrder`.
    var order: UnsafeMutablePointer<UInt32>
    /// How many of `order` are written.
    let created = Atomic<UInt32>(0)
    /// What the leader is filling; see `claimAlone`.
    let claim = Atomic<UInt>(0)
    /// Children, failures and waiters, for environments that have any.
    let side = Atomic<UInt>(0)
    /// What the factory made for this child. Written before the child is published.
    var scope = ScopeObject.none
    // Links of the parent's list of children, guarded by that list.
    var previous: Unmanaged<Environment>?
    var next: Unmanaged<Environment>?
    /// Which part of the list, or -1 for an environment that is in none.
    var shard: Int32 = -1

    /// Of a child of a factory, which brings its slots.
    @inline(__always)
    init(plan: Plan, parent: Environment, slots: UnsafeMutablePointer<Slot>, count: Int) {
      self.plan = .passUnretained(plan)
      self.parent = .passRetained(parent)
      self.setup = nil
      self.state = Atomic(plan.initialState)
      self.slots = slots
      self.order = UnsafeMutableRawPointer(slots + count).assumingMemoryBound(to: UInt32.self)
    }

    /// Of a plain environment, which gets its slots when it starts.
    init(plan: Plan, parent: Environment?, setup: Setup) {
      self.plan = .passRetained(plan)
      self.parent = parent.map { .passRetained($0) }
      self.setup = setup
      self.state = Atomic(State.unstarted | State.sharing | State.shared)
      self.slots = Self.nothing
      self.order = UnsafeMutableRawPointer(Self.nothing).assumingMemoryBound(to: UInt32.self)
    }

    /// Never read or written: an environment without slots. Protected by being empty.
    nonisolated(unsafe) static let nothing = UnsafeMutablePointer<Slot>.allocate(capacity: 1)
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
  }

  /// What a factory's `configure` is handed: declares, never starts.
  init(configuring plan: Plan, parent: Environment?) {
    header = Header(plan: plan, parent: parent, setup: Setup(isTemplate: true))
  }

  /// A child of a factory, together with its slots: one allocation.
  static func allocate(plan: Plan, parent: Environment) -> Environment {
    let count = plan.slotCount
    // Slots are words; the order of creation follows, two numbers to a word.
    let words = count + (count + 1) / 2
    let child = Builtin.allocWithTailElems_1(Environment.self, words._builtinWordValue, Slot.self)
    let slots = UnsafeMutablePointer<Slot>(Builtin.projectTailElems(child, Slot.self))
    for index in 0..<count { (slots + index).initialize(to: Slot()) }
    withUnsafeMutablePointer(to: &child.header) { header in
      header.initialize(to: Header(plan: plan, parent: parent, slots: slots, count: count))
    }
    return child
  }

  deinit {
    // Only an environment that was never finished still holds beans; there is nobody left to tell them.
    releaseAbandoned()
    // Recipes hold each other: letting go of the plan as it is would walk the longest chain by recursion.
    if header.setup?.isTemplate == false, !isReleased { plan.dismantle() }
    // A child's slots went with its own memory.
    if header.setup != nil, header.slots != Header.nothing {
      header.slots.deallocate()
      header.order.deallocate()
    }
    Unmanaged<Side>.word(header.side.load(ordering: .relaxed))?.release()
    if header.setup != nil { header.plan.release() }
    header.parent?.release()
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
