public import Beans
public import BeansEventLoop
import Synchronization

/// The scope of one session: it ends by itself when nobody has used it for a while, and releases on its loop's thread.
///
/// A lookup in the session's environment, a `touch()` and a live request all count as use; the idle time begins when the
/// last request has ended. One object per child: do not share it.
public final class SessionScope: AbstractBeanScope, HostedScope, @unchecked Sendable {
  // The superclass is `@unchecked Sendable`; `host` guards its own state, `lastUse` is atomic.
  private let host: LoopHost
  private let idleTimeout: Duration
  private let lastUse: Atomic<UInt64>

  /// Creates the scope of one session.
  ///
  /// - Parameters:
  ///   - loop: where the beans are released, and whose timer ends the session.
  ///   - idleTimeout: how long nobody has to use it. Rounded up to the loop's milliseconds.
  public init(loop: EventLoop, idleTimeout: Duration) {
    self.host = LoopHost(loop)
    self.idleTimeout = idleTimeout
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
  private func arm(after delay: Duration) {
    host.arm(after: delay) { [weak self] in self?.finishIfIdle() }
  }

  private func finishIfIdle() {
    guard let environment = host.environment else { return }
    if environment.hasOpenChildren { return arm(after: idleTimeout) }
    let idle = Duration.nanoseconds(Int64(clamping: Self.now &- lastUse.load(ordering: .relaxed)))
    if idle >= idleTimeout { environment.finish() } else { arm(after: idleTimeout - idle) }
  }

  private static var now: UInt64 {
    let elapsed = start.duration(to: .now).components
    return UInt64(elapsed.seconds) &* 1_000_000_000 &+ UInt64(elapsed.attoseconds / 1_000_000_000)
  }

  private static let start = ContinuousClock.now

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
