import Beans
import Synchronization
import Testing
import Vapor

@testable import VaporListings

@Suite("Vapor") struct VaporTests {
  @Test("Each request has an environment, which ends with its handler")
  func requests() async throws {
    let shop = try Beans.Environment(name: "shop")
    try shop.define(shop.bean(Journal.self, factory: Journal.init))
    let application = Application()
    try declareRoutes(of: application, in: shop)
    let journal = try shop.getBean(Journal.self)
    async let serving: Void = serve(application, shop)
    #expect(try await application.respond(["item": "tea"]) == "added")
    await #expect(throws: Abort.self) { try await application.respond([:]) }
    #expect(journal.lines.withLock { $0 } == ["added tea"])
    application.stop()
    try await serving
  }
}
