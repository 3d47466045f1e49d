import Testing

@testable import Storefront

@Suite struct StorefrontPageTests {
  private let page: StorefrontPage

  init() throws { page = StorefrontPage(catalogue: try .sample()) }

  private func render(cart: [Cart.Line] = [], orders: [Order] = []) -> String {
    String(decoding: page.render(cart: cart, orders: orders, nonce: "NONCE"), as: UTF8.self)
  }

  @Test func thePageEscapesAllValues() {
    let product = Product(
      id: 9, sku: "x", name: "<script>alert('1')</script>", description: "", symbol: "", price: .zero, isLimited: false)
    let order = Order(
      id: "<i>", placedAt: 0, total: .zero,
      lines: [Order.Line(product: 9, name: "\"&<b>", quantity: 1, price: .zero)])
    let html = render(cart: [Cart.Line(product: product, quantity: 1)], orders: [order])
    #expect(html.contains("Apple &lt;b&gt;"))
    #expect(html.contains("&quot;A&quot; &amp; &#39;a&#39;"))
    #expect(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"))
    #expect(html.contains("<code>&lt;i&gt;</code>"))
    #expect(html.contains("1 × &quot;&amp;&lt;b&gt;"))
    #expect(!html.contains("<script>"))
  }

  /// A style that is parsed with a foreign nonce violates the page's policy, even where it is thrown away.
  @Test func theScriptParsesNoStyleOfACopy() throws {
    let html = render()
    let parts = html.split(separator: "<aside>", omittingEmptySubsequences: false)
    #expect(parts.count == 3, "once in the page, once in its script")
    let aside = try #require(html.firstRange(of: "<aside>\n")?.lowerBound)
    let end = try #require(html.firstRange(of: "</aside>")?.lowerBound)
    let part = html[aside..<end]
    #expect(part.contains("id=\"cart\"") && part.contains("id=\"orders\""))
    #expect(!part.contains("<style") && !part.contains("<script"))
    #expect(html.contains("parseFromString(part,"))
  }

  @Test func everyProductCanBeAddedWithAPlainForm() {
    let html = render()
    for id in 1...3 { #expect(html.contains("name=\"product\" value=\"\(id)\"")) }
    #expect(html.contains("10.05&nbsp;€"))
    #expect(html.contains(">limited<"))
  }

  @Test func thePageOffersToBuyOnlyAFilledCart() throws {
    #expect(!render().contains("/api/checkout"))
    let product = try #require(Catalogue.sample()[2])
    let html = render(cart: [Cart.Line(product: product, quantity: 2)])
    #expect(html.contains("action=\"/api/checkout\""))
    #expect(html.contains("20.10&nbsp;€"))
    #expect(html.contains("name=\"quantity\" value=\"1\""))
    #expect(html.contains("name=\"quantity\" value=\"3\""))
  }

  /// Every element that is opened is closed, in order.
  @Test func thePageIsWellFormed() throws {
    let product = try #require(Catalogue.sample()[1])
    let order = Order(id: "0123456789", placedAt: 0, total: .zero, lines: [])
    let html = render(cart: [Cart.Line(product: product, quantity: 1)], orders: [order])
    let withoutScript = html.replacing(/<script.*<\/script>/.dotMatchesNewlines(), with: "")
    var open: [Substring] = []
    for tag in withoutScript.matches(of: /<(\/?)([a-z0-9]+)[^>]*>/) {
      if ["input", "meta", "link"].contains(tag.2) { continue }
      if tag.1.isEmpty {
        open.append(tag.2)
      } else {
        #expect(open.popLast() == tag.2)
      }
    }
    #expect(open.isEmpty)
  }
}
