import Beans
import OpenAPIRuntime
import Synchronization

/// The carts of all requests.
final class Carts: Sendable {
  let items = Mutex<[String]>([])
}

/// The unit of work of one request.
final class Cart: Sendable {
  private let carts: Carts
  let operation: String
  let isOpen = Mutex(true)
  init(_ carts: Carts, _ operation: Operation) { (self.carts, self.operation) = (carts, operation.id) }

  func add(_ item: String) { carts.items.withLock { $0.append("\(item)@\(operation)") } }
  var items: [String] { carts.items.withLock { $0 } }
  func close() { isOpen.withLock { $0 = false } }
}

// listing
struct ShopHandlers: APIProtocol {
  let cart: Current<Cart>

  func addItem(_ input: Operations.AddItem.Input) async throws -> Operations.AddItem.Output {
    let cart = try cart.get()
    cart.add(input.item)
    return .created(Components.Cart(items: cart.items))
  }
}

func declareShop(in shop: Environment) throws {
  try shop.childFactory("request", seed: Operation.self) { request in
    try request.define(request.bean(Cart.self, factory: Cart.init).onDestroy { cart in cart.close() })
  }
  try shop
    .define(shop.bean(Carts.self, factory: Carts.init))
    .define(shop.bean(RequestEnvironments.self, factory: RequestEnvironments.init))
    .define(shop.bean(ShopHandlers.self, factory: ShopHandlers.init))
}

func serve(_ shop: Environment, on transport: any ServerTransport) throws {
  try shop.getBean(ShopHandlers.self)
    .registerHandlers(on: transport, middlewares: [shop.getBean(RequestEnvironments.self)])
}
// end
