@_spi(BeansPackage) public import Beans
@_spi(BeansPackage) import BeansErrors
public import BeansEventLoop
import Synchronization

/// A scope bound to a loop: its beans are released on the loop's thread, regardless of the thread that ends the scope.
/// The loop may end it.
///
/// ```swift
/// final class TenantScope: LoopScope, @unchecked Sendable {  // adds nothing
///   init(loop: EventLoop) { super.init(name: "tenant", loop: loop, idleTimeout: .seconds(600)) }
/// }
/// ```
///
/// As a factory's scope object it is the life of one child. It may instead be registered with `registerScope`, or be
/// defined as a bean: it then keeps its beans itself, and ends with the environment or by its own `finish()`.
open class LoopScope: AbstractBeanScope, HostedScope, @unchecked Sendable {
  // The superclass is `@unchecked Sendable`; `state` guards the mutable state of this class, `lastUse` is atomic.
  private let loop: EventLoop
  private let state: Locked<State>
  /// The idle timeout in nanoseconds, like `lastUse`; the largest number for never.
  private let idleTimeout: UInt64
  private let lastUse: Atomic<UInt64>

  private enum Phase {
    case new
    /// The scope is the life of a child.
    case opened
    /// The scope is registered, and a bean of it has been prepared or looked up.
    case asked
    /// The scope has finished without a child.
    case finished
    /// The child has ended.
    case closed
  }

  private struct State {
    /// The child, held until everything is released; the environment holds the scope meanwhile.
    var environment: Environment?
    var timer: EventLoop.Scheduled?
    // In this position the flags cost no memory; there may be many scopes.
    var phase = Phase.new
    /// Whether the timer has ended the child.
    var hasExpired = false
    /// The time at which the child was opened, as `CoarseTime`; 0 if unknown.
    var openedAt: UInt32 = 0
    /// The time allowed; once begun, the time by the clock. The largest number for never.
    var deadline: UInt64
  }

  /// Creates a scope that has not begun.
  ///
  /// - Parameters:
  ///   - name: the name of the scope in declarations. The scope object of a factory's children has the name of the
  ///     factory's scope: opening the first child throws `.invalidDeclaration` for another name.
  ///   - loop: the loop on which beans are released, and whose timer ends the scope.
  ///   - deadline: the time after which the loop ends the scope; nil for never. It begins when the child is opened, or
  ///     when the first bean is prepared.
  ///   - idleTimeout: the time without use after which the loop ends the scope; nil for never. A lookup, a `touch()`, a
  ///     live child, and being inside (see `Sessions.withSession`) are uses.
  public init(name: String, loop: EventLoop, deadline: Duration? = nil, idleTimeout: Duration? = nil) {
    self.loop = loop
    self.state = Locked(State(deadline: Self.nanoseconds(deadline)))
    self.idleTimeout = Self.nanoseconds(idleTimeout)
    self.lastUse = Atomic(0)
    super.init(name: name)
  }

  /// Marks a use. Costs a reading of the clock. Callable from any thread.
  public final func touch() { lastUse.store(Self.now, ordering: .relaxed) }

  // MARK: registered

  /// Begins the deadline and the idle time of a registered scope, at the first call. The container calls this for each bean
  /// at startup.
  ///
  /// - Throws: the error that a subclass throws; nothing here.
  open override func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {
    begin()
    try super.prepare(bean: bean, factory: factory)
  }

  /// Notes a lookup, which is a use of the scope.
  @_spi(BeansPackage) public final override func noteLookup() {
    begin()
    touch()
  }

  private func begin() {
    state.withLock { state in
      guard state.phase == .new else { return }
      state.phase = .asked
      start(&state)
    }
  }

  // MARK: the end

  /// Ends the child, or releases the beans that the scope itself keeps. Callable from any thread, idempotent; does not
  /// wait for the loop.
  open override func finish() {
    let (environment, timer, isOwn) = state.withLock { state in
      if let environment = state.environment { return (Optional(environment), EventLoop.Scheduled?.none, false) }
      let (timer, isOwn) = (state.timer, state.phase != .closed)
      state.timer = nil
      if isOwn { state.phase = .finished }
      return (nil, timer, isOwn)
    }
    timer?.cancel()
    environment?.finish()
    if isOwn { super.finish() }
  }

  /// The time of the last use of the child, in nanoseconds like `now`; nil if no idle time is measured.
  package final var lastUseIfMeasured: UInt64? { idleTimeout == .max ? nil : lastUse.load(ordering: .relaxed) }

  /// Returns the time since the child was opened, to a tenth of a second; nil if unknown.
  package final func age(at now: UInt64) -> Duration? {
    let openedAt = state.withLock { $0.openedAt }
    if openedAt == 0 { return nil }
    let now = CoarseTime.of(now)
    return .milliseconds(100 * Int64(now - min(openedAt, now)))
  }

  /// Whether the deadline or the idle time has ended the child.
  package final var hasExpired: Bool { state.withLock { $0.hasExpired } }

  // MARK: the timer

  /// Begins the deadline and the idle time. Called under the lock: a timer that fires at once and arms the next must
  /// not find this timer stored after its own.
  private func start(_ state: inout State) {
    touch()
    let now = lastUse.load(ordering: .relaxed)
    if state.deadline != .max { state.deadline = Self.sum(now, state.deadline) }
    arm(&state, now, idleTimeout)
  }

  /// Arms one timer for both limits, and again if it fires and the scope has been used: a use costs no timer.
  ///
  /// - Parameter idleRest: the time until the next check for idleness.
  private func arm(_ state: inout State, _ now: UInt64, _ idleRest: UInt64) {
    let delay = min(state.deadline - min(state.deadline, now), idleRest)
    // Without either limit there is no timer.
    if state.deadline == .max, idleRest == .max { return }
    // The closure captures only the scope, which costs no allocation; the end cancels the timer.
    state.timer = loop.schedule(after: .nanoseconds(Int64(clamping: delay))) { self.timeHasPassed() }
  }

  private func timeHasPassed() {
    let (isOver, isLate, environment) = state.withLock { state -> (Bool, Bool, Environment?) in
      guard state.phase == .opened || state.phase == .asked else { return (false, false, nil) }
      // A use on another thread may be later than this reading of the clock.
      let lastUse = lastUse.load(ordering: .relaxed)
      let now = Self.sum(Self.now, loop.skips?.since(lastUse) ?? 0)
      let idle = now - min(lastUse, now)
      let isLate = now >= state.deadline
      if isLate || idle >= idleTimeout, isEnding(&state, isIdle: !isLate) {
        return (true, isLate, state.environment)
      }
      // A caller inside the child uses it now.
      arm(&state, now, idleTimeout == .max ? .max : idle < idleTimeout ? idleTimeout - idle : idleTimeout)
      return (false, false, nil)
    }
    guard isOver else { return }
    // The end of a child calls `finish()` by itself.
    guard let environment else { return finish() }
    if isLate { environment.abandon(.deadline) } else { environment.finish(by: .idle) }
  }

  /// Returns whether the timer ends the scope, and closes an idle child for that. Called under the lock. A caller that
  /// enters an idle child at this moment either keeps it alive, or finds it closed.
  private func isEnding(_ state: inout State, isIdle: Bool) -> Bool {
    guard let environment = state.environment, !environment.isFinished else { return true }
    if isIdle, !environment.closeIfUnused(.idle) { return false }
    state.hasExpired = true
    return true
  }

  /// The kernel's monotonic clock in nanoseconds.
  package static var now: UInt64 { MonotonicClock.now }

  /// Converts a duration to nanoseconds, rounded up; 0 for a negative duration, `UInt64.max` for one beyond 584 years,
  /// and for nil.
  private static func nanoseconds(_ duration: Duration?) -> UInt64 {
    guard let (seconds, attoseconds) = duration?.components else { return .max }
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : sum(whole, UInt64((attoseconds + 999_999_999) / 1_000_000_000))
  }

  private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }

  // MARK: called by the container for the child

  /// Begins the deadline and the idle time. Called by the container.
  package final func opened(_ environment: Environment) {
    let isFinished = state.withLock { state -> Bool in
      // The end of a parent can end a child that is still being opened.
      guard state.phase == .new else { return state.phase == .finished }
      state.environment = environment
      state.phase = .opened
      if state.deadline != .max || idleTimeout != .max {
        start(&state)
        state.openedAt = CoarseTime.of(lastUse.load(ordering: .relaxed))
      } else {
        state.openedAt = CoarseTime.latest
      }
      return false
    }
    if isFinished { environment.finish() }
  }

  /// Marks a use, if idle time is measured. Called by the container after a lookup in the child and at the end of one
  /// of its children.
  package final func used() { if idleTimeout != .max { touch() } }

  /// Whether the calling thread may release beans: the loop's thread, or any thread if the loop does not run and so has
  /// none. Called by the container.
  package final var canReleaseHere: Bool { loop.isCurrent || !loop.isRunning }

  /// Runs the work at once on the loop's thread, otherwise hands it to the loop. Called by the container.
  package final func release(_ work: @escaping @Sendable () -> Void) -> Bool {
    if loop.isCurrent {
      work()
      return true
    }
    return loop.tryExecute(work)
  }

  /// Runs the work in a task on the loop. Called by the container.
  package final func release(asynchronously work: @escaping @Sendable () async -> Void) {
    Task(executorPreference: loop, operation: work)
  }

  /// Calls the scope's own `finish()` after the release of all beans. Called by the container.
  package final func closed() {
    let (environment, timer) = state.withLock { state in
      let old = (state.environment, state.timer)
      (state.environment, state.timer, state.phase) = (nil, nil, .closed)
      return old
    }
    timer?.cancel()
    if environment != nil { finish() }
  }
}

extension LoopScope: MeasuredScope {}
