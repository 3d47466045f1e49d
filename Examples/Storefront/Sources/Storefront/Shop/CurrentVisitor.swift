/// The visitor of the current request.
final class CurrentVisitor: Sendable {
  let profile: VisitorProfile
  private let cart: Cart

  init(profile: VisitorProfile, cart: Cart) {
    self.profile = profile
    self.cart = cart
  }

  /// Removes the goods of a placed order from the cart, and counts the order. Does nothing if that has been done.
  func settle(_ order: Order) {
    if cart.settle(order) { profile.noteOrder() }
  }
}
