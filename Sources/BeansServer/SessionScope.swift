public import Beans
public import BeansEventLoop
import Glibc
import Synchronization

/// The scope of one session: it ends by itself when nobody has used it for a while, and releases on its loop's thread.
///
/// A lookup in the session's environment, a `touch()` and a live request all count as use; the idle time begins when the
/// last request has ended. One object per child: do not share it.
public final class SessionScope: AbstractBeanScope, HostedScope, @unchecked Sendable {
  // The superclass is `@unchecked Sendable`; `host` guards its own state, `lastUse` is atomic.
  private let host: LoopHost
  /// In nanoseconds, as `lastUse`.
  private let idleTimeout: UInt64
  private let lastUse: Atomic<UInt64>

  /// Creates the scope of one session.
  ///
  /// - Parameters:
  ///   - loop: where the beans are released, and whose timer ends the session.
  ///   - idleTimeout: how long nobody has to use it. Rounded up to the loop's milliseconds.
  public init(loop: EventLoop, idleTimeout: Duration) {
    self.host = LoopHost(loop)
    self.idleTimeout = Self.nanoseconds(idleTimeout)
    self.lastUse = Atomic(Self.now)
    super.init(name: "session")
  }

  /// Counts as use. Costs reading the clock; from any thread.
  public func touch() { lastUse.store(Self.now, ordering: .relaxed) }

  /// Finishes the session's environment and its requests. From any thread, idempotent; does not wait for the loop.
  public override func finish() { host.environment?.finish() }

  /// Called by the container.
  public func opened(_ environment: Environment) {
    host.opened(environment)
    touch()
    arm(after: idleTimeout)
  }

  /// One timer per session, armed again when it finds that the session has been used: a use costs no timer.
  private func arm(after delay: UInt64) {
    // Captures nothing but the scope, which costs no allocation; the end of the environment cancels it.
    host.arm(after: .nanoseconds(Int64(clamping: delay))) { self.finishIfIdle() }
  }

  private func finishIfIdle() {
    guard let environment = host.environment else { return }
    if environment.hasOpenChildren { return arm(after: idleTimeout) }
    // A use on another thread may be later than this reading of the clock.
    let (now, lastUse) = (Self.now, lastUse.load(ordering: .relaxed))
    let idle = now - min(lastUse, now)
    if idle >= idleTimeout { environment.finish() } else { arm(after: idleTimeout - idle) }
  }

  /// The kernel's monotonic clock; half the price of `ContinuousClock`, whose instants are 128 bits wide.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  /// Rounded up; none for a negative duration, `UInt64.max` for one beyond 584 years.
  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = whole.addingReportingOverflow(UInt64((attoseconds + 999_999_999) / 1_000_000_000))
    return overflow || sumOverflow ? .max : sum
  }

  /// Called by the container after a lookup in the session and at the end of a request.
  public func used() { touch() }

  /// Called by the container.
  public var canReleaseHere: Bool { host.canReleaseHere }

  /// Called by the container.
  public func release(_ work: @escaping @Sendable () -> Void) -> Bool { host.release(work) }

  /// Called by the container.
  public func release(asynchronously work: @escaping @Sendable () async -> Void) { host.release(asynchronously: work) }

  /// Called by the container.
  public func closed() { host.closed() }
}
