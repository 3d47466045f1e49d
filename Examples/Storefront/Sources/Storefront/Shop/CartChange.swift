import FoundationEssentials

/// The change that the body of a `POST /api/cart` requests.
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

  /// Reads `{"product": 3, "quantity": 2, "action": "add"}`, or the same fields of a form. `quantity` and `action` are
  /// optional. Throws `415` for another media type, `400` for a malformed body, `422` for values of the wrong kind.
  init(_ request: HTTPRequest) throws(HTTPError) {
    switch request.contentType {
    case "application/json":
      let fields = try Fields(json: request.body)
      try self.init(action: fields.action, product: fields.product, quantity: fields.quantity)
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

  /// The fields of a JSON body. A null field is treated as missing.
  private struct Fields: Decodable {
    let action: String?
    let product: Int64?
    let quantity: Int64?

    init(json: [UInt8]) throws(HTTPError) {
      do {
        self = try JSONDecoder().decode(Fields.self, from: Data(json))
      } catch DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty {
        throw HTTPError(.unprocessableContent, "A field has a value of the wrong kind.")
      } catch {
        // The decoder does not distinguish a number that is no 64-bit integer from a malformed one.
        throw HTTPError(.badRequest, "The body is no JSON object, or a number in it is no integer.")
      }
    }
  }

  private static func integer(_ text: String?) throws(HTTPError) -> Int64? {
    guard let text, !text.isEmpty else { return nil }
    guard let integer = Int64(text) else { throw HTTPError(.unprocessableContent, "A number is malformed.") }
    return integer
  }
}
