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
}
