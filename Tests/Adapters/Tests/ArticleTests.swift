import Testing

@Suite("The articles on other packages") struct ArticleTests {
  @Test(
    "Each listing equals a compiled one, to the letter",
    arguments: [
      "SwiftLog", "SwiftConfiguration", "OpenAPIHandlers", "SwiftNIO", "ServiceLifecycle", "Hummingbird",
      "MetricsAndTracing", "Vapor", "AStoreOfYourOwn",
    ])
  func listings(name: String) throws {
    let article = try Article(name)
    #expect(!article.blocks.isEmpty)
    #expect(article.blocks == article.compiled)
  }

  @Test("Each compiled listing of an article on other subjects, too, is one of its listings", arguments: ["Sessions"])
  func listingsAmongOthers(name: String) throws {
    let article = try Article(name)
    #expect(!article.compiled.isEmpty)
    for listing in article.compiled { #expect(article.blocks.contains(listing)) }
  }

  @Test("A listing with another space differs from the compiled one")
  func otherListing() throws {
    var article = try Article("SwiftLog")
    article.text = article.text.replacing("\nimport Logging\n", with: "\nimport  Logging\n")
    #expect(article.blocks != article.compiled)
  }
}
