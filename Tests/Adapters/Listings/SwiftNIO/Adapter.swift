// listing
import Beans
import BeansSessions
import NIOCore
import NIOPosix

/// The seed of a connection's environment.
struct Connection: Sendable { let channel: any Channel }

/// Returns a scope that releases the beans of a connection on its event loop, whichever thread ends it. Open the connection
/// on that loop.
func connectionScope() -> any ChildScope {
  guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return AbstractBeanScope(name: "connection") }
  return ExecutorScope(name: "connection", executor: loop.taskExecutor)
}
// end
