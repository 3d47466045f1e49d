public import Beans
public import BeansEventLoop

/// The scope of one request: its beans are released on the loop's thread, regardless of the thread that ends it.
///
/// ```swift
/// let requests = try application.childFactory("request", seed: Request.self, scope: { RequestScope(loop: loop) })
/// ```
///
/// The request ends by `Environment.finish()` or `finish()` here, from any thread; by the loop when the deadline has
/// passed; by the end of its session or application. One object per child: do not share it.
public final class RequestScope: LoopScope, ScopeOfOneName, @unchecked Sendable {
  // Adds nothing to its superclass.
  package static let scopeName = "request"

  /// Creates the scope of one request.
  ///
  /// - Parameters:
  ///   - loop: the loop on which the beans are released.
  ///   - deadline: the time after which the loop finishes the request; nil for never. Costs a timer.
  public init(loop: EventLoop, deadline: Duration? = nil) {
    super.init(name: Self.scopeName, loop: loop, deadline: deadline)
  }
}
