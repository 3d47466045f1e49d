// listing
import Beans
import NIOCore
import NIOPosix

/// The seed of a connection's environment.
struct Connection: Sendable { let channel: any Channel }

/// Releases the beans of a connection on its event loop, whichever thread ends it. Open the connection on that loop.
final class ConnectionScope: AbstractBeanScope, HostedScope, @unchecked Sendable {  // `loop` does not change
  private let loop = MultiThreadedEventLoopGroup.currentEventLoop

  init() { super.init(name: "connection") }

  var canReleaseHere: Bool { loop?.inEventLoop ?? true }

  func release(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard let loop, !loop.inEventLoop else { return false }
    loop.execute(work)
    return true
  }

  func release(asynchronously work: @escaping @Sendable () async -> Void) { Task { await work() } }

  func opened(_ environment: Environment) {}
  func used() {}
  func closed() {}
}
// end
