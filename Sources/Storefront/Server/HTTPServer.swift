import BeansEventLoop
import Dispatch

/// An HTTP/1.1 server on one or several event loops.
///
/// Each loop has a listener of its own on the same address (`SO_REUSEPORT`), so the kernel spreads the connections, and a
/// connection stays on its loop for life. Safe from any thread.
final class HTTPServer: Sendable {
  private struct State {
    var endpoints: [HTTPEndpoint] = []
    var isDraining = false
  }

  private let settings: HTTPServerSettings
  private let open = HTTPOpenConnections()
  private let state = Guarded(State())

  init(settings: HTTPServerSettings = HTTPServerSettings()) { self.settings = settings }

  /// Listens on all loops, which run on threads of their own. Blocks the caller until all of them listen, and must not be
  /// called on one of the loops. Where one loop cannot listen, those that do are drained, and its error is thrown:
  /// `.addressInUse` where anybody else listens there.
  ///
  /// - Parameters:
  ///   - host: a numeric address.
  ///   - port: 0 lets the system choose.
  ///   - threads: whose loops serve.
  ///   - handler: what answers requests.
  ///   - onUnanswered: told, on its loop's thread, of each request that the handler has let go of without an answer.
  /// - Returns: the port; nil where the server has been told to drain before all loops listened.
  func start(
    host: String, port: Int, on threads: [EventLoopThread], handler: @escaping HTTPHandler,
    onUnanswered: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
  ) throws(EventLoopError) -> Int? {
    var port = port
    for (number, thread) in threads.enumerated() {
      precondition(!thread.loop.isCurrent, "a loop's thread cannot wait for itself")
      let endpoint = HTTPEndpoint(
        loop: thread.loop, settings: settings, open: open, handler: handler, onUnanswered: onUnanswered)
      // Known before it listens, so that a drain that comes now finds it, and its loop runs one after the other.
      let isIn = state.withLock { state in
        if !state.isDraining { state.endpoints.append(endpoint) }
        return !state.isDraining
      }
      if !isIn { return nil }
      let answer = HTTPListenAnswer()
      thread.loop.execute { [port] in
        answer.give(
          Result { () throws(EventLoopError) in
            try endpoint.listen(host: host, port: port, isFirst: number == 0)
          })
      }
      do throws(EventLoopError) {
        guard let bound = try answer.wait() else { return nil }
        port = bound
      } catch {
        drain(within: .zero) {}
        throw error
      }
    }
    return port
  }

  /// Stops accepting, answers every request that has arrived, in part or as a whole, closes every connection, and then calls
  /// `completion`, on a thread of Dispatch. What has not ended after `limit` is cut off. A second call can shorten the time. A
  /// server that drains does not listen any more, nor begin to.
  func drain(within limit: Duration, completion: @escaping @Sendable () -> Void) {
    let endpoints = state.withLock { state in
      state.isDraining = true
      return state.endpoints
    }
    let group = DispatchGroup()
    for endpoint in endpoints {
      group.enter()
      let taken = endpoint.loop.tryExecute { endpoint.drain(within: limit) { group.leave() } }
      // The loop has ended, and with it every connection.
      if !taken { group.leave() }
    }
    group.notify(queue: .global(), execute: completion)
  }

  /// The sum over all loops. Each number is exact; while requests run, they need not be of the same moment.
  var counts: HTTPCounts {
    state.withLock { $0.endpoints }.reduce(HTTPCounts()) { $0 + $1.counters.counts }
  }
}

/// The port, or the error, that one thread hands to another which waits for it.
private final class HTTPListenAnswer: Sendable {
  private let content = Guarded<Result<Int?, EventLoopError>?>(nil)
  private let isGiven = DispatchSemaphore(value: 0)

  func give(_ result: Result<Int?, EventLoopError>) {
    content.withLock { $0 = result }
    isGiven.signal()
  }

  /// Blocks until `give` was called. Once.
  func wait() throws(EventLoopError) -> Int? {
    isGiven.wait()
    guard let result = content.withLock({ $0 }) else { preconditionFailure("signalled before the answer was given") }
    return try result.get()
  }
}
