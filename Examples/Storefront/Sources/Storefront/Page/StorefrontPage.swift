/// The page of the shop. Its constant part is rendered once; immutable, so every thread may use it.
///
/// Every button is a plain form, so the page works without its script; the script only saves the reload.
final class StorefrontPage: Sendable {
  private let products: HTMLWriter

  init(catalogue: Catalogue) {
    products = Self.products(catalogue)
  }

  /// Renders the page. `nonce` admits the page's own style and script under its security policy, and must be new for
  /// each response.
  func render(cart: [Cart.Line], orders: [Order], nonce: String) -> [UInt8] {
    var html = HTMLWriter(reserving: products.bytes.count + 12_000)
    html.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
    html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Storefront</title>\n")
    html.markup("<link rel=\"icon\" href=\"data:,\">\n<style nonce=\"")
    html.text(nonce)
    html.markup("\">")
    html.markup(PageAssets.style)
    html.markup("</style>\n</head>\n<body>\n<header><h1>Storefront</h1><p>Beans of every kind.</p></header>\n<main>\n")
    html.append(products)
    html.markup("<aside>\n")
    Self.cart(cart, &html)
    Self.orders(orders, &html)
    html.markup("</aside>\n</main>\n<p id=\"notice\" role=\"status\" aria-live=\"polite\"></p>\n")
    html.markup("<footer><a href=\"/api/products\">/api/products</a> · <a href=\"/api/cart\">/api/cart</a> · ")
    html.markup("<a href=\"/api/orders\">/api/orders</a></footer>\n")
    html.markup("<script nonce=\"")
    html.text(nonce)
    html.markup("\">")
    html.markup(PageAssets.script)
    html.markup("</script>\n</body>\n</html>\n")
    return html.bytes
  }

  private static func products(_ catalogue: Catalogue) -> HTMLWriter {
    var html = HTMLWriter()
    html.markup("<section id=\"products\" aria-label=\"Products\">\n")
    for product in catalogue.products {
      html.markup("<article><div class=\"picture\" aria-hidden=\"true\">")
      html.text(product.symbol)
      html.markup("</div><h2>")
      html.text(product.name)
      if product.isLimited { html.markup(" <span class=\"badge\">limited</span>") }
      html.markup("</h2><p>")
      html.text(product.description)
      html.markup("</p><form method=\"post\" action=\"/api/cart\"><input type=\"hidden\" name=\"product\" value=\"")
      html.number(product.id)
      html.markup("\"><strong>")
      html.money(product.price)
      html.markup("</strong><button>Add to cart</button></form></article>\n")
    }
    html.markup("</section>\n")
    return html
  }

  private static func cart(_ lines: [Cart.Line], _ html: inout HTMLWriter) {
    html.markup("<section id=\"cart\" aria-label=\"Cart\"><h2>Cart")
    if !lines.isEmpty {
      html.markup(" <span class=\"count\">")
      html.number(lines.pieces)
      html.markup("</span>")
    }
    html.markup("</h2>\n")
    if lines.isEmpty {
      html.markup("<p class=\"empty\">Nothing in it yet.</p></section>\n")
      return
    }
    html.markup("<ul>\n")
    for line in lines {
      html.markup("<li><span class=\"name\">")
      html.text(line.product.name)
      html.markup("</span>")
      step(line.product.id, line.quantity - 1, "−", "One less", &html)
      html.markup("<span class=\"quantity\">")
      html.number(line.quantity)
      html.markup("</span>")
      step(line.product.id, line.quantity + 1, "+", "One more", &html)
      html.markup("<span class=\"price\">")
      html.money(line.price)
      html.markup("</span></li>\n")
    }
    html.markup("</ul>\n<p class=\"total\"><span>Total</span><strong>")
    html.money(lines.total)
    html.markup(
      "</strong></p>\n<form method=\"post\" action=\"/api/checkout\"><button class=\"buy\">Buy</button></form>")
    html.markup("</section>\n")
  }

  private static func step(
    _ product: Int64, _ quantity: Int, _ sign: StaticString, _ label: StaticString,
    _ html: inout HTMLWriter
  ) {
    html.markup("<form method=\"post\" action=\"/api/cart\"><input type=\"hidden\" name=\"action\" value=\"set\">")
    html.markup("<input type=\"hidden\" name=\"product\" value=\"")
    html.number(product)
    html.markup("\"><input type=\"hidden\" name=\"quantity\" value=\"")
    html.number(quantity)
    html.markup("\"><button class=\"step\" aria-label=\"")
    html.markup(label)
    html.markup("\">")
    html.markup(sign)
    html.markup("</button></form>")
  }

  private static func orders(_ orders: [Order], _ html: inout HTMLWriter) {
    html.markup("<section id=\"orders\" aria-label=\"Orders\"><h2>Orders</h2>\n")
    if orders.isEmpty {
      html.markup("<p class=\"empty\">None so far.</p></section>\n")
      return
    }
    html.markup("<ol>\n")
    for order in orders {
      html.markup("<li><code>")
      html.text(String(order.id.prefix(8)))
      html.markup("</code> <span class=\"name\">")
      html.text(order.lines.map { "\($0.quantity) × \($0.name)" }.joined(separator: ", "))
      html.markup("</span> <span class=\"price\">")
      html.money(order.total)
      html.markup("</span></li>\n")
    }
    html.markup("</ol></section>\n")
  }
}
