import BeansEventLoop
import Synchronization

/// The part of a server on one loop: a listener and connections.
///
/// `@unchecked Sendable` because everything but `counters` and the constants is used on the loop's thread only, or
/// before the loop runs; the handles of the endpoint check that.
final class HTTPEndpoint: @unchecked Sendable {
  let loop: EventLoop
  let settings: HTTPServerSettings
  let handler: HTTPHandler
  let onUnanswered: @Sendable (HTTPRequest) -> Void
  let counters = HTTPCounters()
  var date = HTTPDate()

  let openOnAllLoops: HTTPOpenConnections
  private var listener: TCPListener?
  private var connections: [ObjectIdentifier: HTTPConnection] = [:]
  private(set) var isDraining = false
  private var deadline: EventLoop.Scheduled?
  private var completions: [@Sendable () -> Void] = []

  init(
    loop: EventLoop, settings: HTTPServerSettings, open: HTTPOpenConnections, handler: @escaping HTTPHandler,
    onUnanswered: @escaping @Sendable (HTTPRequest) -> Void
  ) {
    self.loop = loop
    self.settings = settings
    self.handler = handler
    self.onUnanswered = onUnanswered
    openOnAllLoops = open
  }

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - host: a numeric address.
  ///   - port: the port; with 0 the system chooses one.
  ///   - isFirst: whether no other listener may have the address yet.
  /// - Returns: the port; nil if the endpoint is draining already.
  func listen(host: String, port: Int, isFirst: Bool) throws(EventLoopError) -> Int? {
    if isDraining { return nil }
    let listener = try TCPListener(on: loop, host: host, port: port, backlog: 1024, reusePort: !isFirst) {
      self.accept($0)
    }
    self.listener = listener
    if isFirst { try listener.allowReusingPort() }
    return listener.port
  }

  private func accept(_ tcp: TCPConnection) {
    counters.acceptedConnections.add(1, ordering: .relaxed)
    let open = openOnAllLoops.count.add(1, ordering: .relaxed).newValue
    counters.openConnections.add(1, ordering: .relaxed)
    let connection = HTTPConnection(tcp, endpoint: self)
    connections[ObjectIdentifier(connection)] = connection
    if open <= settings.maximumConnections { return connection.start() }
    counters.refusedConnections.add(1, ordering: .relaxed)
    connection.start(refusing: HTTPError(.serviceUnavailable, "There are too many connections. Try again."))
    if open > settings.maximumConnections + settings.maximumRefusals { connection.abort() }
  }

  func didClose(_ connection: HTTPConnection, aborted: Int) {
    connections[ObjectIdentifier(connection)] = nil
    openOnAllLoops.count.subtract(1, ordering: .relaxed)
    counters.openConnections.subtract(1, ordering: .relaxed)
    counters.aborted.add(aborted, ordering: .relaxed)
    finishDrain()
  }

  /// Stops accepting and closes every connection when it is idle, at the latest after `limit`. `completion` is called
  /// on the loop's thread. A second call can only shorten the time.
  func drain(within limit: Duration, completion: @escaping @Sendable () -> Void) {
    completions.append(completion)
    let isFirst = !isDraining
    isDraining = true
    if !isFirst { deadline?.cancel() }
    deadline = loop.schedule(after: limit) { self.abort() }
    // Delayed until the loop has polled its sockets once more: a connection that the system has accepted, or a request
    // in a socket's buffer, came before the drain and must get a response. If the system refuses the filter, a client
    // that connects at this very moment may be reset.
    try? listener?.stopAccepting()
    loop.execute { self.loop.execute { self.stopAccepting() } }
  }

  private func stopAccepting() {
    listener?.close()
    listener = nil
    for connection in connections.values { connection.settle() }
    finishDrain()
  }

  private func abort() {
    for connection in connections.values { connection.abort() }
  }

  private func finishDrain() {
    guard isDraining, listener == nil, connections.isEmpty, !completions.isEmpty else { return }
    deadline?.cancel()
    deadline = nil
    let completions = completions
    self.completions = []
    for completion in completions { completion() }
  }
}

/// The resources that connections use on all loops of a server.
final class HTTPOpenConnections: Sendable {
  let count = Atomic(0)
  /// The bytes of requests without a response.
  let input = Atomic(0)
}
