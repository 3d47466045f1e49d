import Synchronization

/// Who is shopping, for as long as the session lasts. Safe from any thread.
final class VisitorProfile: Sendable {
  /// Names the visitor in the store. Not the session id, which is a secret between the browser and this service.
  let id: String

  private let requestCount = Atomic(0)
  private let orderCount = Atomic(0)

  init(ids: IdGenerator) { id = ids.next() }

  /// How many requests this session has seen.
  var requests: Int { requestCount.load(ordering: .relaxed) }
  /// How many orders this session has placed.
  var orders: Int { orderCount.load(ordering: .relaxed) }

  func noteRequest() { requestCount.add(1, ordering: .relaxed) }
  func noteOrder() { orderCount.add(1, ordering: .relaxed) }
}
