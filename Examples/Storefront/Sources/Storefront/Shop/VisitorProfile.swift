import BeansSessions

/// The identity of a visitor, for the length of the session. Safe from any thread.
///
/// A cart requires the profile, so that the visitor's id is saved from the first change of the cart on: two nodes that
/// turn one cart into an order at once do it for one visitor.
final class VisitorProfile: Sendable {
  /// The id of the visitor in the store. Not the session id, which is a secret between the browser and this service.
  let id: String
  private let orderCount: SessionValue<Int>

  init(ids: IdGenerator, state: SessionState) throws {
    id = try state.value("visitor", default: ids.next()).value
    orderCount = try state.value("orders", default: 0)
  }

  /// The number of orders that this session has placed.
  var orders: Int { orderCount.value }

  func noteOrder() { orderCount.update { $0 += 1 } }
}
