import Testing

@Suite("The articles on other packages") struct ArticleTests {
  @Test(
    "Each listing equals a compiled one, to the letter",
    arguments: [
      "SwiftLog", "SwiftConfiguration", "OpenAPIHandlers", "SwiftNIO", "ServiceLifecycle", "Hummingbird",
      "MetricsAndTracing", "Vapor",
    ])
  func listings(name: String) throws {
    let article = try Article(name)
    #expect(!article.blocks.isEmpty)
    #expect(article.blocks == article.compiled)
  }

  @Test("A listing with another space differs from the compiled one")
  func otherListing() throws {
    var article = try Article("SwiftLog")
    article.text = article.text.replacing("\nimport Logging\n", with: "\nimport  Logging\n")
    #expect(article.blocks != article.compiled)
  }
}
