import Beans

// listing
struct RequestHandlers: APIProtocol {
  let cart: Cart

  func addItem(_ input: Operations.AddItem.Input) async throws -> Operations.AddItem.Output {
    cart.add(input.item)
    return .created(Components.Cart(items: cart.items))
  }
}

/// The handlers that are registered: they pass each operation on to the handlers of its request.
struct CurrentHandlers: APIProtocol {
  let handlers: Current<RequestHandlers>

  func addItem(_ input: Operations.AddItem.Input) async throws -> Operations.AddItem.Output {
    try await handlers.get().addItem(input)
  }
}

func declareRequestHandlers(in shop: Environment) throws {
  try shop
    .define(shop.bean(RequestHandlers.self, factory: RequestHandlers.init).scope("request"))
    .define(shop.bean(CurrentHandlers.self, factory: CurrentHandlers.init))
}
// end
