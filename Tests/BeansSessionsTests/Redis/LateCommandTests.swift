import BeansEventLoop
import TestSupport
import Testing

@testable import BeansRedis
import BeansSessions

/// Calls that a proxy delivers to the server after their connection has ended.
@Suite("A call that arrives late at a Redis server", .needsRedis, .timeLimit(.minutes(20)))
struct LateCommandTests {
  private static let change = SessionChange(version: 1, values: ["a": bytes("a2")])

  /// The call between the second attempt and the late delivery of a create.
  enum Next: CaseIterable { case rotate, end, save }

  @Test("A late create revives no id that has rotated or ended since", arguments: Next.allCases)
  func lateCreate(next: Next) async throws {
    try await withProxy { proxy, store, raw, _ in
      proxy.holdNextCall()
      #expect(try await store.create("one", ["a": bytes("a1")]) == 1)
      switch next {
      case .rotate: try await store.rotate("one", to: "two")
      case .end: try await store.end("one")
      case .save: _ = try await store.save("one", Self.change)
      }
      try await proxy.deliverHeldCall()
      #expect(try await store.texts("one") == (next == .save ? ["a": "a2"] : nil))
      #expect(try await store.texts("two") == (next == .rotate ? ["a": "a1"] : nil))
      try expectExpiries(raw)
    }
  }

  @Test("A late save overwrites no change that another node has made since its second attempt")
  func lateSave() async throws {
    try await withProxy { proxy, store, raw, process in
      _ = try await store.create("one", ["a": bytes("a1")])
      proxy.holdNextCall()
      #expect(try await store.save("one", Self.change) == 2)
      try await EventLoop.withThread { loop in
        let other = RedisSessionStore(
          host: "127.0.0.1", port: process.port, loops: [loop], limits: wideLimits, options: .patient)
        defer { other.close() }
        let version = try await other.save("one", SessionChange(version: 2, values: ["a": bytes("a3")]))
        #expect(version == 3)
      }
      try await proxy.deliverHeldCall()
      #expect(try await store.texts("one") == ["a": "a3"])
      try expectExpiries(raw)
    }
  }

  @Test("A late rotation changes no id once its second attempt has been made")
  func lateRotation() async throws {
    try await withProxy { proxy, store, raw, _ in
      _ = try await store.create("one", ["a": bytes("a1")])
      proxy.holdNextCall()
      try await store.rotate("one", to: "two")
      try await store.rotate("two", to: "three")
      try await proxy.deliverHeldCall()
      #expect(try await store.texts("one") == nil)
      #expect(try await store.texts("two") == nil)
      #expect(try await store.texts("three") == ["a": "a1"])
      try expectExpiries(raw)
    }
  }

  @Test("A late end ends nothing but the session that has ended already")
  func lateEnd() async throws {
    try await withProxy { proxy, store, _, _ in
      _ = try await store.create("one", ["a": bytes("a1")])
      _ = try await store.create("two", ["a": bytes("a1")])
      proxy.holdNextCall()
      try await store.end("one")
      try await proxy.deliverHeldCall()
      #expect(try await store.texts("one") == nil)
      #expect(try await store.texts("two") == ["a": "a1"])
    }
  }

  /// A call of the store that changes something.
  enum Call: CaseIterable { case create, save, rotate, end }

  @Test("A call that arrives after its time has no effect", arguments: Call.allCases)
  func afterItsTime(call: Call) async throws {
    var options = RedisOptions.patient
    options.commandTimeout = .seconds(1)
    try await withProxy(options) { proxy, store, raw, _ in
      _ = try await store.create("one", ["a": bytes("a1")])
      proxy.holdNextCall(closing: false)
      let error = await failure { () async throws(SessionError) in
        switch call {
        case .create: _ = try await store.create("two", ["a": bytes("a1")])
        case .save: _ = try await store.save("one", Self.change)
        case .rotate: try await store.rotate("one", to: "two")
        case .end: try await store.end("one")
        }
      }
      #expect(error?.isUnknown == true, "\(String(describing: error))")
      // Its time is over here, and so it is by the clock of the server.
      try await proxy.deliverHeldCall()
      #expect(try await store.texts("one") == ["a": "a1"])
      #expect(try await store.texts("two") == nil)
    }
  }

  @Test("A call that a server refuses as late, because its clock has been set, is sent once more")
  func clockThatWasSet() async throws {
    try await withRedis { redis in
      #expect(try await redis.store.create("one", ["a": bytes("a1")]) == 1)
      try await redis.loop.run { redis.store.connections[0].redis.clock = RedisClock(time: 1_000) }
      #expect(try await redis.store.save("one", Self.change) == 2)
      #expect(try await redis.store.texts("one") == ["a": "a2"])
    }
  }

  private func expectExpiries(_ raw: RawRedis) throws {
    for key in try raw.keys() { #expect(try raw("PTTL", key) != .integer(-1), "\(key)") }
  }
}
