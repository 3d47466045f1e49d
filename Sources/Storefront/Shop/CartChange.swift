/// What the body of a `POST /api/cart` asks for.
struct CartChange: Equatable, Sendable {
  enum Action: String, Sendable {
    case add
    case set
    case remove
  }

  var action: Action
  var product: Int64
  var quantity: Int

  init(action: Action = .add, product: Int64, quantity: Int = 1) {
    self.action = action
    self.product = product
    self.quantity = quantity
  }

  /// Reads `{"product": 3, "quantity": 2, "action": "add"}`, or the same fields of a form. `quantity` and `action` may be
  /// left out. Throws `415` for another media type, `400` for a malformed body, `422` for values of the wrong kind.
  init(_ request: HTTPRequest) throws(HTTPError) {
    switch request.contentType {
    case "application/json":
      guard let json = try? JSONParser.parse(request.body), case .object = json else {
        throw HTTPError(.badRequest, "The body is no JSON object.")
      }
      try self.init(
        action: Self.field(json["action"], \.string), product: Self.field(json["product"], \.integer),
        quantity: Self.field(json["quantity"], \.integer))
    case "application/x-www-form-urlencoded":
      let form = try FormFields(request.body)
      try self.init(
        action: form["action"], product: Self.integer(form["product"]), quantity: Self.integer(form["quantity"]))
    default:
      throw HTTPError(.unsupportedMediaType, "The body must be application/json or application/x-www-form-urlencoded.")
    }
  }

  private init(action: String?, product: Int64?, quantity: Int64?) throws(HTTPError) {
    guard let product else { throw HTTPError(.unprocessableContent, "The field “product” is missing.") }
    guard let action = action.map(Action.init(rawValue:)) ?? .add else {
      throw HTTPError(.unprocessableContent, "The field “action” must be add, set or remove.")
    }
    self.init(action: action, product: product, quantity: Int(quantity ?? 1))
  }

  private static func field<T>(_ value: JSONValue?, _ kind: (JSONValue) -> T?) throws(HTTPError) -> T? {
    guard let value, value != .null else { return nil }
    guard let field = kind(value) else {
      throw HTTPError(.unprocessableContent, "A field has a value of the wrong kind.")
    }
    return field
  }

  private static func integer(_ text: String?) throws(HTTPError) -> Int64? {
    guard let text, !text.isEmpty else { return nil }
    guard let integer = Int64(text) else { throw HTTPError(.unprocessableContent, "A number is malformed.") }
    return integer
  }
}
