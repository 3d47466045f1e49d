/// The seed of a session: an object the service has anyhow.
final class SessionKey: Sendable {}

final class Basket: Sendable {
  let key: SessionKey

  init(key: SessionKey) { self.key = key }
}

final class Profile: Sendable {
  let basket: Basket

  init(basket: Basket) { self.basket = basket }
}
