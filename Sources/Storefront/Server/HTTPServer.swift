@_spi(BeansPackage) import BeansSupport
import BeansEventLoop
import Dispatch

/// An HTTP/1.1 server on one or several event loops.
///
/// Each loop has a listener of its own on the same address (`SO_REUSEPORT`), so the kernel spreads the connections, and a
/// connection stays on its loop for life. Safe from any thread.
final class HTTPServer: Sendable {
  private let settings: HTTPServerSettings
  private let handler: HTTPHandler
  private let open = HTTPOpenConnections()
  private let endpoints = Locked<[HTTPEndpoint]>([])

  init(settings: HTTPServerSettings = HTTPServerSettings(), handler: @escaping HTTPHandler) {
    self.settings = settings
    self.handler = handler
  }

  /// Listens on one more loop. On that loop's thread, or before it runs. Returns the port: where it was 0, give the other
  /// loops the one that is returned. Throws where the address is taken or not allowed.
  func listen(on loop: EventLoop, host: String, port: Int) throws(EventLoopError) -> Int {
    let endpoint = HTTPEndpoint(loop: loop, settings: settings, open: open, handler: handler)
    let bound = try endpoint.listen(host: host, port: port)
    endpoints.withLock { $0.append(endpoint) }
    return bound
  }

  /// Listens on all loops, which run on threads of their own. Blocks the caller until all of them listen, and must not be
  /// called on one of the loops. Returns the port. Where one loop cannot listen, those that do are drained, and its error is
  /// thrown.
  func start(host: String, port: Int, on threads: [EventLoopThread]) throws(EventLoopError) -> Int {
    var port = port
    for thread in threads {
      precondition(!thread.loop.isCurrent, "a loop's thread cannot wait for itself")
      let answer = HTTPListenAnswer()
      thread.loop.execute { [port] in
        answer.give(
          Result { () throws(EventLoopError) in try self.listen(on: thread.loop, host: host, port: port) })
      }
      do throws(EventLoopError) {
        port = try answer.wait()
      } catch {
        drain(within: .zero) {}
        throw error
      }
    }
    return port
  }

  /// Stops accepting, answers every request that has arrived, in part or as a whole, closes every connection, and then calls
  /// `completion`, on a thread of Dispatch. What has not ended after `limit` is cut off. A second call can shorten the time.
  func drain(within limit: Duration, completion: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for endpoint in endpoints.withLock({ $0 }) {
      group.enter()
      let taken = endpoint.loop.tryExecute { endpoint.drain(within: limit) { group.leave() } }
      // The loop has ended, and with it every connection.
      if !taken { group.leave() }
    }
    group.notify(queue: .global(), execute: completion)
  }

  /// The sum over all loops. Each number is exact; while requests run, they need not be of the same moment.
  var counts: HTTPCounts {
    endpoints.withLock { $0 }.reduce(HTTPCounts()) { $0 + $1.counters.counts }
  }
}

/// The port, or the error, that one thread hands to another which waits for it.
private final class HTTPListenAnswer: Sendable {
  private let content = Locked<Result<Int, EventLoopError>?>(nil)
  private let isGiven = DispatchSemaphore(value: 0)

  func give(_ result: Result<Int, EventLoopError>) {
    content.withLock { $0 = result }
    isGiven.signal()
  }

  /// Blocks until `give` was called. Once.
  func wait() throws(EventLoopError) -> Int {
    isGiven.wait()
    guard let result = content.withLock({ $0 }) else { preconditionFailure("signalled before the answer was given") }
    return try result.get()
  }
}
