import Synchronization

/// What has happened on one loop, or, summed up, on all. A request counts as soon as it was handed to the handler.
struct HTTPCounts: Equatable, Sendable {
  /// Connections, those that were refused included.
  var acceptedConnections = 0
  var openConnections = 0
  /// Connections that got `503` or were dropped because there were too many.
  var refusedConnections = 0
  /// Complete requests handed to the handler.
  var requests = 0
  /// Requests whose whole response the system has taken.
  var answered = 0
  /// Requests that lost their connection before that.
  var aborted = 0
  /// Messages that were answered with an error instead of being handed to the handler.
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

/// The counters of one loop: only its thread writes, so that loops do not fight for a cache line; any thread may read.
final class HTTPCounters: Sendable {
  let acceptedConnections = Atomic(0)
  let openConnections = Atomic(0)
  let refusedConnections = Atomic(0)
  let requests = Atomic(0)
  let answered = Atomic(0)
  let aborted = Atomic(0)
  let refusedRequests = Atomic(0)

  /// For those that change with every request: the loop's thread alone writes them, so no locked instruction is needed.
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
