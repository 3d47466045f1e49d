import Beans
import BeansJSON
import BeansSessions
import BeansYAML
import Foundation
import Testing

@Suite("The listings of all catalogues") struct ListingTests {
  /// The articles that a script follows: it writes their files, and builds and runs them.
  private static let followed = [
    "CheckedByTheBuild": "check-plugin", "GettingStarted": "check-getting-started",
    "HTTPOnLibuv": "check-http-on-libuv", "TheShop": "trial",
  ]

  /// A page of a catalogue.
  struct Page: CustomTestStringConvertible {
    let name: String
    let module: String
    let text: String

    var testDescription: String { "\(module)/\(name)" }

    var listings: [String] { Article.blocks("swift", of: text) }
  }

  /// The pages that have a listing.
  private static let pages: [Page] = {
    let sources = Article.package.appendingPathComponent("Sources")
    let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
    return paths.sorted().compactMap { path in
      let parts = path.split(separator: "/")
      guard parts.count >= 3, parts[1].hasSuffix(".docc"), let file = parts.last, file.hasSuffix(".md"),
        let text = try? String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
      else { return nil }
      let page = Page(name: String(file.dropLast(3)), module: String(parts[0]), text: text)
      return page.text.contains("```swift\n") ? page : nil
    }
  }()

  private static let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  /// Returns the text of the file that compiles the listings of a page here; nil if there is none.
  private func listingsFile(of page: Page) -> String? {
    try? String(contentsOf: Self.guide.appendingPathComponent("\(page.name)Listings.swift"), encoding: .utf8)
  }

  /// Returns the problems of a page: listings that nothing compiles, and compiled ones that it does not print.
  private func problems(of page: Page) throws -> [String] {
    if let script = Self.followed[page.name] {
      let text = try String(
        contentsOf: Article.package.appendingPathComponent("scripts/\(script)"), encoding: .utf8)
      return text.contains("\(page.module).docc/\(page.name).md") ? [] : ["scripts/\(script) does not follow it"]
    }
    let folder = Article.package.appendingPathComponent("Tests/Adapters/Listings/\(page.name)")
    let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    let texts = try files.filter { $0.hasSuffix(".swift") }.map {
      try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
    }
    // The listings that import no other package.
    let listings = page.listings.filter { listing in !texts.contains { $0.contains(listing) } }
    let compiled = listingsFile(of: page).map { Article.listings(of: $0) } ?? []
    return listings == compiled
      ? []
      : listings.filter { !compiled.contains($0) } + compiled.filter { !listings.contains($0) } + ["order"]
  }

  @Test("Each listing of each catalogue is one that is compiled, to the letter", arguments: pages)
  func compiled(page: Page) throws { #expect(try problems(of: page) == []) }

  @Test("The pages include those of each module that has listings")
  func discovery() {
    let names = Set(Self.pages.map(\.testDescription))
    #expect(
      names.isSuperset(of: [
        "Beans/GettingStarted", "Beans/Hummingbird", "Beans/Composing", "BeansEventLoop/BeansEventLoop",
        "BeansJSON/BeansJSON", "BeansLogging/BeansLogging", "BeansLogging/Logging", "BeansRedis/BeansRedis",
        "BeansSessions/BeansSessions", "BeansTesting/WritingTests", "BeansYAML/BeansYAML",
      ]))
  }

  @Test("A listing that differs from the compiled one is a problem of its page", arguments: pages)
  func changedListing(page: Page) throws {
    if Self.followed[page.name] != nil { return }
    let changed = page.text.replacing("```swift\n", with: "```swift\n// changed\n")
    #expect(try !problems(of: Page(name: page.name, module: page.module, text: changed)).isEmpty)
  }

  @Test("A page without a file of listings, a script or an adapter has no compiled listing")
  func newPage() throws {
    let page = Page(name: "NoSuchArticle", module: "Beans", text: "```swift\nlet one = 1\n```\n")
    #expect(try problems(of: page) == ["let one = 1\n", "order"])
  }

  /// An import of a file of listings is one that the listings need, unless a comment assigns it to the types around them.
  @Test("The imports that listings need, beyond the module of their article, are printed there", arguments: pages)
  func imports(page: Page) {
    guard let file = listingsFile(of: page) else { return }
    let printed = Set(page.listings.flatMap { $0.components(separatedBy: "\n") })
    for line in file.components(separatedBy: "\n") where line.hasPrefix("import ") {
      if line.hasSuffix("// for the types around the listings") || line == "import \(page.module)" { continue }
      #expect(printed.contains(line), "\(page.testDescription)")
    }
  }

  @Test("BeansJSON and BeansYAML: a file is a source")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["json", "yaml"] {
      let page = try #require(Self.pages.first { $0.name.lowercased() == "beans\(name)" })
      let path = folder.appendingPathComponent("shop.\(name)").path
      let text = try #require(Article.blocks(name, of: page.text).first)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let shop = try Environment(name: "shop")
      defer { shop.finish() }
      if name == "json" {
        try BeansJSONCatalogue().addFile(path, to: shop)
      } else {
        try BeansYAMLCatalogue().addFile(path, to: shop)
      }
      #expect(try shop.getConfigurationValue(Int.self, key: "server.port") == 80)
      #expect(try shop.getConfigurationValue(String.self, key: "mirrors.1.url") == "https://two.example")
    }
  }

  @Test("BeansSessions: a cart continues with its cookie, and only in its tenant")
  func carts() async throws {
    let guide = BeansSessionsCatalogue()
    let shop = try Environment(name: "shop")
    let store = MemorySessionStore()
    let sessions = guide.keepSessions(try guide.declareCarts(in: shop), in: store)
    let (first, cookie) = try await guide.add(.init(product: "tea", quantity: 1), nil, sessions)
    guard case .set(let id) = cookie else {
      Issue.record("no cookie")
      return
    }
    #expect(first == 1)
    #expect(try await guide.add(.init(product: "cup", quantity: 2), id, sessions).0 == 2)
    try await shop.shutdown()

    let service = try Environment(name: "service")
    let tenants = try service.childFactory("tenant", seed: String.self)
    let carts = try tenants.childFactory("session", seed: SessionState.self) { session in
      try session.define(
        session.bean(BeansSessionsCatalogue.Cart.self, factory: BeansSessionsCatalogue.Cart.init))
    }
    let tenant = try tenants.build("acme")
    let ofTenant = guide.keepSessions(of: tenant, named: "acme", carts, in: store)
    #expect(try await guide.add(.init(product: "tea", quantity: 1), id, ofTenant).0 == 1)
    tenant.finish()
    try await service.shutdown()
  }

  @Test("Shutting down: the end of a request leaves the store of the application open")
  func oneObject() throws {
    let shop = try Environment(name: "shop")
    let requests = try ShuttingDown().declareStore(in: shop)
    let store = try requests.withChild(.init(name: "Ada")) { request in
      try request.getBean((any ShuttingDown.Store).self)
    }
    #expect(store.isOpen)
    try shop.shutdown()
    #expect(!store.isOpen)
  }
}
