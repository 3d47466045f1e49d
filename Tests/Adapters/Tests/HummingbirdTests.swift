import Appointments
import Beans
import Foundation
import HTTPTypes
import Hummingbird
import Synchronization
import Testing
import UnixSignals

@testable import HummingbirdListings

extension SignalTests {
  @Suite("Hummingbird") struct HummingbirdTests {
    private func withShop(
      port: Int, _ configure: (Beans.Environment, Router<BasicRequestContext>) throws -> Void = { _, _ in },
      _ body: (BindAddress, Journal) async throws -> Void
    ) async throws {
      let shop = try Beans.Environment(name: "shop")
      let router = try declareRoutes(in: shop)
      try configure(shop, router)
      let address = BindAddress.hostname(port: port)
      let journal = try shop.getBean(Journal.self)
      async let serving: Void = serve(shop, router, at: address)
      try await body(address, journal)
      UnixSignal.sigint.deliver()
      try await serving
    }

    private func add(_ item: String, _ cookies: [String: String] = [:]) -> Hummingbird.Request {
      Hummingbird.Request(.post, "/cart/\(item)", cookies: cookies)
    }

    @Test("A client has one session, and an unknown id is replaced")
    func sessions() async throws {
      try await withShop(port: 1) { address, journal in
        let (first, one) = try await Server.respond(to: add("tea"), at: address)
        let id = try #require(first.cookies["session"])
        let (second, two) = try await Server.respond(to: add("milk", ["session": id]), at: address)
        let (planted, three) = try await Server.respond(to: add("milk", ["session": "x"]), at: address)
        #expect([one, two, three] == ["1", "2", "1"])
        #expect(second.cookies.isEmpty)
        #expect(planted.cookies["session"] != "x")
        #expect(journal.lines.withLock { $0 } == ["added", "added", "added"])
      }
    }

    @Test("A request ends when the last byte of its body is written")
    func bodies() async throws {
      try await withShop(port: 2) { shop, router in
        try router.on("stream", .get, in: shop, Entry.self) { _, _, entry in
          entry.note("streamed")
          return Hummingbird.Response(
            status: .ok,
            body: ResponseBody { writer in
              let isSame = try Beans.Environment.current?.getBean(Entry.self) === entry
              try await writer.write(ByteBuffer(string: "\(isSame)"))
              try await writer.finish(nil)
            })
        }
      } _: { address, journal in
        let (_, text) = try await Server.respond(to: Hummingbird.Request(.get, "/stream"), at: address)
        #expect(text == "true")
        #expect(journal.lines.withLock { $0 } == ["streamed"])
      }
    }

    @Test("A request in flight at the signal keeps its beans until its response is written")
    func inFlight() async throws {
      try await withShop(port: 3) { shop, router in
        try router.on("slow", .get, in: shop, Cart.self) { _, _, cart in
          UnixSignal.sigint.deliver()
          await Server.untilDraining(.hostname(port: 3))
          try Beans.Environment.current?.getBean(Entry.self).note("late")
          return "\(cart.add("tea"))"
        }
      } _: { address, journal in
        let (_, text) = try await Server.respond(to: Hummingbird.Request(.get, "/slow"), at: address)
        #expect(text == "1")
        #expect(journal.lines.withLock { $0 } == ["late"])
      }
    }

    @Test("A request whose body is dropped ends, too")
    func droppedBody() async throws {
      let shop = try Beans.Environment(name: "shop")
      let responder = try declareRoutes(in: shop).buildResponder()
      let journal = try shop.getBean(Journal.self)
      _ = try await responder.respond(to: add("tea"), context: BasicRequestContext())
      #expect(journal.lines.withLock { $0 } == ["added"])
      try await shop.shutdown()
    }

    @Test("Startup names the route whose bean is not declared")
    func missingBean() throws {
      let shop = try Beans.Environment(name: "shop")
      let router = try declareRoutes(in: shop)
      try router.on("other", .get, in: shop, Missing.self) { _, _, _ in "" }
      let error = #expect(throws: EnvironmentError.self) { try shop.startup() }
      #expect(error?.origin?.file.hasSuffix("HummingbirdTests.swift") == true)
    }

    struct Missing {}

    @Test("A service does not start with a bean that threads share and that is not known to be Sendable")
    func unsafeBean() async throws {
      final class Counter { var count = 0 }
      let shop = try Beans.Environment(name: "shop")
      let router = try declareRoutes(in: shop)
      try shop.define(Counter.self, factory: { Counter() })
      let error = await #expect(throws: EnvironmentError.self) {
        try await serve(shop, router, at: .hostname(port: 5))
      }
      #expect(error?.code == .invalidDeclaration && error?.message.contains("Counter") == true)
    }

    @Test("The appointments of the example are booked in a session, and kept at the end")
    func appointments() async throws {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("appointments-\(UUID()).json")
      defer { try? FileManager.default.removeItem(at: file) }
      let service = try Beans.Environment(name: "appointments")
      try service.addConfigurationSource(
        ProcessInfoConfigurationSource(variables: ["BOOKING_FILE": file.path, "BOOKING_NOTICE": "1h"]))
      try declareAppointments(in: service)
      let address = BindAddress.hostname(port: 4)
      async let serving: Void = serveAppointments(service, at: address)
      let (welcome, _) = try await Server.respond(to: Hummingbird.Request(.put, "/name", body: "Ada"), at: address)
      let id = try #require(welcome.cookies["session"])
      let (response, text) = try await Server.respond(
        to: Hummingbird.Request(
          .post, "/appointments", cookies: ["session": id], body: "2127-01-01T10:00:00Z"), at: address)
      #expect(response.status.code == 201 && text == "1 booked for Ada.")
      let long = String(repeating: "2127-01-01T10:00:00Z\n", count: 10_000)
      let (refusal, _) = try await Server.respond(
        to: Hummingbird.Request(.post, "/appointments", cookies: ["session": id], body: long), at: address)
      #expect(refusal.status == .contentTooLarge)
      UnixSignal.sigint.deliver()
      try await serving
      #expect(try String(contentsOf: file, encoding: .utf8).contains("Ada"))
    }
  }
}
