import Synchronization

/// Counts of connections and requests of one loop, or the sum over all loops. A request is counted when it is passed to
/// the handler.
struct HTTPCounts: Equatable, Sendable {
  /// All connections, including refused ones.
  var acceptedConnections = 0
  var openConnections = 0
  /// Connections that got `503` or were dropped because there were too many.
  var refusedConnections = 0
  /// Complete requests passed to the handler.
  var requests = 0
  /// Requests whose whole response the system has accepted.
  var answered = 0
  /// Requests whose connection was lost before that.
  var aborted = 0
  /// Messages that got an error response without a call of the handler.
  var refusedRequests = 0

  static func + (left: HTTPCounts, right: HTTPCounts) -> HTTPCounts {
    HTTPCounts(
      acceptedConnections: left.acceptedConnections + right.acceptedConnections,
      openConnections: left.openConnections + right.openConnections,
      refusedConnections: left.refusedConnections + right.refusedConnections,
      requests: left.requests + right.requests, answered: left.answered + right.answered,
      aborted: left.aborted + right.aborted, refusedRequests: left.refusedRequests + right.refusedRequests)
  }
}

/// The counters of one loop. Only its thread writes, so that loops do not contend for a cache line; any thread may
/// read.
final class HTTPCounters: Sendable {
  let acceptedConnections = Atomic(0)
  let openConnections = Atomic(0)
  let refusedConnections = Atomic(0)
  let requests = Atomic(0)
  let answered = Atomic(0)
  let aborted = Atomic(0)
  let refusedRequests = Atomic(0)

  /// Increases a counter that changes with every request. The loop's thread alone writes the counter, so no locked
  /// instruction is needed.
  static func increase(_ counter: borrowing Atomic<Int>, by number: Int = 1) {
    counter.store(counter.load(ordering: .relaxed) + number, ordering: .relaxed)
  }

  var counts: HTTPCounts {
    HTTPCounts(
      acceptedConnections: acceptedConnections.load(ordering: .relaxed),
      openConnections: openConnections.load(ordering: .relaxed),
      refusedConnections: refusedConnections.load(ordering: .relaxed), requests: requests.load(ordering: .relaxed),
      answered: answered.load(ordering: .relaxed), aborted: aborted.load(ordering: .relaxed),
      refusedRequests: refusedRequests.load(ordering: .relaxed))
  }
}
