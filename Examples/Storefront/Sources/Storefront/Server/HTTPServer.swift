public import BeansEventLoop
import Dispatch

/// An HTTP/1.1 server on one or several event loops.
///
/// Each loop has its own listener on the same address (`SO_REUSEPORT`). So the kernel distributes the connections, and
/// a connection stays on its loop for life. Safe from any thread.
public final class HTTPServer: Sendable {
  private struct State {
    var endpoints: [HTTPEndpoint] = []
    var isDraining = false
  }

  private let settings: HTTPServerSettings
  private let open = HTTPOpenConnections()
  private let state = Guarded(State())

  /// Creates a server that does not listen yet.
  public init(settings: HTTPServerSettings = HTTPServerSettings()) { self.settings = settings }

  /// Listens on all loops, which run on threads of their own. Blocks the caller until all of them listen, and must not
  /// be called on one of the loops.
  ///
  /// If one loop cannot listen, the listening ones are drained.
  ///
  /// - Parameters:
  ///   - host: a numeric address.
  ///   - port: the port; with 0 the system chooses one.
  ///   - threads: the threads whose loops serve.
  ///   - handler: responds to requests.
  ///   - onUnanswered: called on the loop's thread for each request that the handler drops without a response.
  /// - Returns: the port; nil if the server was drained before all loops listened.
  /// - Throws: the error of the loop that cannot listen; `.addressInUse` if another socket listens there.
  public func start(
    host: String, port: Int, on threads: [EventLoopThread], handler: @escaping HTTPHandler,
    onUnanswered: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
  ) throws(EventLoopError) -> Int? {
    var port = port
    for (number, thread) in threads.enumerated() {
      precondition(!thread.loop.isCurrent, "a loop's thread cannot wait for itself")
      let endpoint = HTTPEndpoint(
        loop: thread.loop, settings: settings, open: open, handler: handler, onUnanswered: onUnanswered)
      // Registered before it listens, so that a concurrent drain finds it; its loop runs the two calls one after the
      // other.
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

  /// Stops accepting, responds to every request that has arrived in part or as a whole, closes every connection, and
  /// then calls `completion` on a thread of Dispatch. Connections that are open after `limit` are aborted. A second
  /// call can shorten the time. A draining server stops listening, and cannot start again.
  public func drain(within limit: Duration, completion: @escaping @Sendable () -> Void) {
    let endpoints = state.withLock { state in
      state.isDraining = true
      return state.endpoints
    }
    let group = DispatchGroup()
    for endpoint in endpoints {
      group.enter()
      let taken = endpoint.loop.tryExecute { endpoint.drain(within: limit) { group.leave() } }
      // The loop has ended, and all its connections with it.
      if !taken { group.leave() }
    }
    group.notify(queue: .global(), execute: completion)
  }

  /// The sum over all loops. Each number is exact; while requests run, the numbers may be of different moments.
  var counts: HTTPCounts {
    state.withLock { $0.endpoints }.reduce(HTTPCounts()) { $0 + $1.counters.counts }
  }
}

/// The port, or the error, that one thread passes to another thread that waits for it.
private final class HTTPListenAnswer: Sendable {
  private let content = Guarded<Result<Int?, EventLoopError>?>(nil)
  private let isGiven = DispatchSemaphore(value: 0)

  func give(_ result: Result<Int?, EventLoopError>) {
    content.withLock { $0 = result }
    isGiven.signal()
  }

  /// Blocks until `give` has been called. To be called once.
  func wait() throws(EventLoopError) -> Int? {
    isGiven.wait()
    guard let result = content.withLock({ $0 }) else { preconditionFailure("signalled before the answer was given") }
    return try result.get()
  }
}
