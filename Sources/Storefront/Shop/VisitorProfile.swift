import BeansSessions

/// Who is shopping, for as long as the session lasts. Safe from any thread.
///
/// A cart requires it, so that its id is kept from the first change of the cart on: two nodes that turn one cart into an order at
/// once do it for one visitor.
final class VisitorProfile: Sendable {
  /// Names the visitor in the store. Not the session id, which is a secret between the browser and this service.
  let id: String
  private let orderCount: SessionValue<Int>

  init(ids: IdGenerator, state: SessionState) throws {
    id = try state.value("visitor", default: ids.next()).value
    orderCount = try state.value("orders", default: 0)
  }

  /// How many orders this session has placed.
  var orders: Int { orderCount.value }

  func noteOrder() { orderCount.update { $0 += 1 } }
}
