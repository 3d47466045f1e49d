/// The shop's values as JSON. Amounts are in cents, times in seconds since 1970.
extension JSONWriter {
  mutating func product(_ product: Product, stock: Int64?) {
    object { json in
      json.field("id", product.id)
      json.field("sku", product.sku)
      json.field("name", product.name)
      json.field("description", product.description)
      json.field("price_cents", product.price.cents)
      if let stock { json.field("stock", stock) }
    }
  }

  static func cart(_ lines: [Cart.Line]) -> [UInt8] {
    object { json in
      json.field("lines", lines) { json, line in
        json.object { json in
          json.field("product", line.product.id)
          json.field("name", line.product.name)
          json.field("quantity", line.quantity)
          json.field("price_cents", line.product.price.cents)
          json.field("total_cents", line.price.cents)
        }
      }
      json.field("pieces", lines.pieces)
      json.field("total_cents", lines.total.cents)
    }
  }

  mutating func order(_ order: Order) {
    object { json in
      json.field("id", order.id)
      json.field("placed_at", order.placedAt)
      json.field("total_cents", order.total.cents)
      json.field("lines", order.lines) { json, line in
        json.object { json in
          json.field("product", line.product)
          json.field("name", line.name)
          json.field("quantity", line.quantity)
          json.field("price_cents", line.price.cents)
        }
      }
    }
  }
}
