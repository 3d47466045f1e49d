/// The visitor of the request at hand.
final class CurrentVisitor: Sendable {
  let profile: VisitorProfile
  private let cart: Cart

  init(profile: VisitorProfile, cart: Cart) {
    self.profile = profile
    self.cart = cart
  }

  /// Takes an order that has been placed out of the cart, and counts it. Does nothing where that has been done.
  func settle(_ order: Order) {
    if cart.settle(order) { profile.noteOrder() }
  }
}
