public import Synchronization

/// The state of one environment. What is not atomic is never written; what is written under the lock says so.
@usableFromInline
struct EnvironmentCore: ~Copyable, Sendable {
  /// The environment further out, if there is one; retained.
  let parent: Unretained<Environment>?
  /// The address of the plan; 0 until startup. A child's is kept by the environment that declared its factory.
  private let planWord: Atomic<UInt>
  /// Where slots begin; changed once, by startup.
  private let slotsWord: Atomic<UInt>
  /// See `Lifecycle`; written under the lock.
  @usableFromInline let lifecycleWord: Atomic<UInt32>
  let lock = SpinLock()
  /// Whether some thread waits for a bean that is built here.
  let isAwaited = Atomic<Bool>(false)
  private let kindByte: Atomic<UInt8>
  /// Whether the release waits for threads that use a bean, or for a loop: whoever takes it back releases.
  let isPostponed = Atomic<Bool>(false)
  /// The address of the innermost of the builds under way, or 0; under the lock.
  private let buildsWord = Atomic<UInt>(0)
  // Neighbours among the parent's children; under the parent's lock.
  let previous = Atomic<UInt>(0)
  let next = Atomic<UInt>(0)
  /// What most children never need. Retained.
  private let extrasWord = Atomic<UInt>(0)

  struct Kind: OptionSet {
    let rawValue: UInt8
    /// No child of a factory.
    static let plain = Kind(rawValue: 1)
    /// The child's scope object says where beans are released.
    static let hosted = Kind(rawValue: 2)
    /// The child's scope object is asked for beans.
    static let scoped = Kind(rawValue: 4)
    /// The child has been among its parent's children.
    static let joined = Kind(rawValue: 8)
    /// What `configure` is handed.
    static let template = Kind(rawValue: 16)

    /// The child has a scope object.
    static var withScope: Kind { [.hosted, .scoped] }
  }

  /// The core of a factory's child.
  @inline(__always)
  init(_ plan: Unretained<Plan>, parent: Unretained<Environment>, _ slots: Slots) {
    parent.retain()
    self.parent = parent
    planWord = Atomic(plan.address)
    slotsWord = Atomic(slots.address)
    lifecycleWord = Atomic(Lifecycle.Phase.open.rawValue)
    kindByte = Atomic(0)
  }

  /// The core of an environment that is no factory's child.
  init(parent: Environment?, _ kind: Kind, _ extras: EnvironmentExtras) {
    self.parent = parent.map { Unretained($0) }
    self.parent?.retain()
    planWord = Atomic(0)
    slotsWord = Atomic(Slots.none.address)
    lifecycleWord = Atomic(Lifecycle.Phase.declaring.rawValue)
    kindByte = Atomic(kind.rawValue)
    let extras = Unretained(extras)
    extras.retain()
    extrasWord.store(extras.address, ordering: .relaxed)
  }

  // MARK: from any thread

  @inline(__always)
  var lifecycle: Lifecycle { Lifecycle(word: lifecycleWord.load(ordering: .acquiring)) }

  /// As `lifecycle.isFinishing`, for code that is inlined into users' modules.
  @inlinable @inline(__always)
  var isFinishing: Bool { lifecycleWord.load(ordering: .acquiring) & 7 >= 4 }

  @inline(__always)
  var kind: Kind { Kind(rawValue: kindByte.load(ordering: .relaxed)) }

  @inline(__always)
  var slots: Slots { Slots(address: slotsWord.load(ordering: .relaxed)) }

  /// There is one once the environment has been compiled.
  @inline(__always)
  var plan: Unretained<Plan>? { Unretained(address: planWord.load(ordering: .acquiring)) }

  /// For whoever knows that there is one.
  @inline(__always)
  var compiledPlan: Unretained<Plan> { Unretained(known: planWord.load(ordering: .relaxed)) }

  @inline(__always)
  var extras: Unretained<EnvironmentExtras>? { Unretained(address: extrasWord.load(ordering: .acquiring)) }

  // MARK: by one thread, before others look

  func insert(_ kind: Kind) { kindByte.store(self.kind.union(kind).rawValue, ordering: .relaxed) }

  func remove(_ kind: Kind) { kindByte.store(self.kind.subtracting(kind).rawValue, ordering: .relaxed) }

  /// Keeps a plan of one's own.
  func compiled(_ plan: Plan, _ slots: Slots) {
    let plan = Unretained(plan)
    plan.retain()
    slotsWord.store(slots.address, ordering: .relaxed)
    planWord.store(plan.address, ordering: .releasing)
  }

  /// The other extras, where there are some already.
  func offer(_ extras: EnvironmentExtras) -> Unretained<EnvironmentExtras> {
    let offered = Unretained(extras)
    let (won, other) = extrasWord.compareExchange(
      expected: 0, desired: offered.address, ordering: .acquiringAndReleasing)
    if won { offered.retain() }
    return won ? offered : Unretained(address: other) ?? offered
  }

  // MARK: under the lock

  /// Runs a transition; everybody sees its result.
  @inline(__always)
  func change<R>(_ transition: (inout Lifecycle) -> R) -> R {
    var lifecycle = Lifecycle(word: lifecycleWord.load(ordering: .relaxed))
    defer { lifecycleWord.store(lifecycle.word, ordering: .releasing) }
    return transition(&lifecycle)
  }

  var builds: StackReference<ResolutionContext>? {
    @inline(__always) get { StackReference(address: buildsWord.load(ordering: .relaxed)) }
    @inline(__always) nonmutating set { buildsWord.store(newValue?.address ?? 0, ordering: .relaxed) }
  }

  deinit {
    extras?.release()
    if kind.contains(.plain) { plan?.release() }
    parent?.release()
  }
}
