import Beans
import Foundation
import HTTPTypes
import Hummingbird
import Testing
import UnixSignals

@testable import HummingbirdListings

extension SignalTests {
  @Suite("The README") struct ReadmeTests {
    @Test("Its first listing equals the compiled one, to the letter, and has at most 45 lines")
    func listing() throws {
      let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      let root = package.deletingLastPathComponent().deletingLastPathComponent()
      let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
      let compiled = try String(
        contentsOf: package.appendingPathComponent("Listings/Hummingbird/Readme.swift"), encoding: .utf8)
      let block = readme.components(separatedBy: "```swift\n").dropFirst().first?.components(separatedBy: "```\n").first
      #expect(block == compiled)
      #expect(compiled.split(separator: "\n", omittingEmptySubsequences: false).count <= 46)
    }

    @Test("A request writes its order when it is completed, and none when its handler throws")
    func transaction() async throws {
      let shop = try Beans.Environment(name: "shop")
      let router = try declareShop(in: shop)
      let address = BindAddress.hostname(port: 4)
      async let serving: Void = serve(shop, router, at: address)
      let ordered = Request(.post, "/orders/tea", cookies: ["customer": "Ada"])
      let (response, text) = try await Server.respond(to: ordered, at: address)
      let database = try shop.getBean(Database.self)
      #expect(response.status == .ok && text == "Ada ordered tea")
      await #expect(throws: HTTPError.self) {
        try await Server.respond(to: Request(.post, "/orders/milk"), at: address)
      }
      #expect(await database.orders == ["tea"])
      UnixSignal.sigint.deliver()
      try await serving
    }
  }
}
