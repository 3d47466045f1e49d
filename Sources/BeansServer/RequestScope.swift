public import Beans
public import BeansEventLoop
import Synchronization

/// The scope of one request: its beans are released on the loop's thread, whoever ends it.
///
/// ```swift
/// let requests = try application.childFactory("request", seed: Request.self, scope: { RequestScope(loop: loop) })
/// ```
///
/// The request ends by `Environment.finish()` or `finish()` here, from any thread; by the loop when the deadline has
/// passed; by its session or application ending. One object per child: do not share it.
public final class RequestScope: AbstractBeanScope, HostedScope, @unchecked Sendable {
  // The superclass is `@unchecked Sendable`; `host` guards what this class adds.
  private let host: LoopHost
  private let deadline: Duration?

  /// Creates the scope of one request.
  ///
  /// - Parameters:
  ///   - loop: where the beans are released.
  ///   - deadline: the loop finishes the request when it has passed; nil for never. Costs a timer.
  public init(loop: EventLoop, deadline: Duration? = nil) {
    self.host = LoopHost(loop)
    self.deadline = deadline
    super.init(name: "request")
  }

  /// Finishes the request's environment. From any thread, idempotent; does not wait for the loop.
  public override func finish() { host.environment?.finish() }

  /// Called by the container.
  public func opened(_ environment: Environment) {
    host.opened(environment)
    guard let deadline else { return }
    host.arm(after: deadline) { [weak environment] in environment?.finish() }
  }

  /// Called by the container; a request does not count its lookups.
  public func used() {}

  /// Called by the container.
  public var canReleaseHere: Bool { host.canReleaseHere }

  /// Called by the container.
  public func release(_ work: @escaping @Sendable () -> Void) -> Bool { host.release(work) }

  /// Called by the container.
  public func release(asynchronously work: @escaping @Sendable () async -> Void) { host.release(asynchronously: work) }

  /// Called by the container.
  public func closed() { host.closed() }
}
