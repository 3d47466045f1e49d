import BeansEventLoop
import TestSupport
import Testing

@testable import BeansRedis
import BeansSessions

@Suite("The Redis store", .needsRedis, .timeLimit(.minutes(20)))
struct RedisSessionStoreTests {
  @Test("The store gives each key an expiry, and postpones it with each change")
  func expiry() async throws {
    try await withRedis { redis in
      let (store, raw) = (redis.store, redis.raw)
      /// Returns the time until the one key expires.
      func timeLeft() throws -> Duration {
        for key in try raw.keys() { #expect(try raw("PTTL", key) != .integer(-1), "\(key)") }
        let keys = try raw.sessions()
        #expect(keys.count == 1)
        guard case .integer(let milliseconds) = try raw("PTTL", keys.first ?? "") else { return .zero }
        return .milliseconds(milliseconds)
      }
      func expectAll() throws {
        let left = try timeLeft()
        #expect(left > hour * 9 && left <= hour * 10)
      }
      _ = try await store.create("one", ["a": bytes("a1")])
      try expectAll()
      // A change puts it off, and so does a use after an interval.
      try raw("PEXPIRE", "session:one", "1000000")
      _ = try await store.load("one", unlessVersion: nil)
      #expect(try timeLeft() < hour)
      try raw.age(by: hour)
      _ = try await store.load("one", unlessVersion: nil)
      try expectAll()
      try raw("PEXPIRE", "session:one", "1000000")
      _ = try await store.save("one", SessionChange(version: 1, values: ["a": nil, "b": bytes("b1")]))
      try expectAll()
      try await store.rotate("one", to: "two")
      try expectAll()
      // A refused call leaves no session.
      try await store.end("two")
      _ = await failure { () async throws(SessionError) in
        try await store.save("two", SessionChange(version: 1, values: ["a": bytes("a2")]))
      }
      _ = await failure { () async throws(SessionError) in try await store.rotate("two", to: "three") }
      #expect(try raw.sessions().isEmpty)
    }
  }

  @Test("A load runs a script only to postpone an expiry that is due, or for another version")
  func lookups() async throws {
    try await withRedis { redis in
      let (store, raw) = (redis.store, redis.raw)
      _ = try await store.create("one", ["a": bytes("a1")])
      try await store.end("two")
      /// The number of scripts that `body` runs.
      func scripts(_ body: () async throws -> Void) async throws -> Int {
        try raw("CONFIG", "RESETSTAT")
        try await body()
        guard case .bytes(let report) = try raw("INFO", "commandstats") else { return -1 }
        let line = String(decoding: report, as: UTF8.self).split(whereSeparator: \.isNewline).first {
          $0.hasPrefix("cmdstat_evalsha:")
        }
        return line.flatMap { Int($0.split(separator: ",")[0].split(separator: "=")[1]) } ?? 0
      }
      let plain = try await scripts { () async throws in
        #expect(try await store.texts("one") == ["a": "a1"])
        #expect(try await store.load("one", unlessVersion: 1) == .unchanged)
        #expect(try await store.texts("two") == nil)
      }
      #expect(plain == 0)
      for version in [nil, 1] as [UInt64?] {
        try raw.age(by: hour)
        // The first one postpones the expiry.
        let due = try await scripts { for _ in 0..<3 { _ = try await store.load("one", unlessVersion: version) } }
        #expect(due == 1)
        // The session lives for as long as after any other use.
        try raw.age(by: hour * 10 - .seconds(60))
        #expect(try await store.texts("one") == ["a": "a1"])
      }
      _ = try await store.save("one", SessionChange(version: 1, values: ["a": bytes("a2")]))
      let other = try await scripts { () async throws in
        guard case .found(let record) = try await store.load("one", unlessVersion: 1) else {
          Issue.record("nothing was found")
          return
        }
        #expect(record.version == 2)
      }
      #expect(other == 1)
    }
  }

  @Test("The server removes unused sessions")
  func removal() async throws {
    try await withRedis(limits: SessionLimits(idleLimit: .milliseconds(1))) { redis in
      _ = try await redis.store.create("one", ["a": bytes("a1")])
      // The server does so without being asked for the key.
      while try redis.raw("DBSIZE") != .integer(0) { await Task.yield() }
    }
  }

  @Test("The store ignores a key that is no session of its form, and leaves it alone")
  func foreignKeys() async throws {
    try await withRedis { redis in
      let (store, raw) = (redis.store, redis.raw)
      try raw("SET", "session:text", "a1")
      try raw("HSET", "session:hash", "v", "1")
      try raw("HSET", "session:form", "v", "1", "a", "1", "m", "99999999999999", "s", "0", "b", "0", "t", "x", "c", "1")
      for id in ["text", "hash", "form"] {
        #expect(try await store.load(id, unlessVersion: nil) == .missing)
        #expect(
          await failure { () async throws(SessionError) in
            try await store.save(id, SessionChange(version: 1, values: ["a": bytes("a2")]))
          } == .ended)
        #expect(await failure { () async throws(SessionError) in try await store.create(id, [:]) } == .ended)
        #expect(await failure { () async throws(SessionError) in try await store.rotate(id, to: "new") } == .ended)
      }
      #expect(try raw("GET", "session:text") == .bytes(bytes("a1")))
      #expect(try raw("HLEN", "session:hash") == .integer(1))
      // A value without its version is none, and the others stay.
      _ = try await store.create("one", ["a": bytes("a1"), "b": bytes("b1")])
      try raw("HSET", "session:one", "d:a", "damaged")
      #expect(try await store.texts("one") == ["b": "b1"])
    }
  }

  @Test("The store counts the bytes of a session for a caller with any version")
  func bytesOfASession() async throws {
    try await withRedis { redis in
      let (store, raw) = (redis.store, redis.raw)
      func expectBytes(_ count: Int) throws {
        #expect(try raw("HGET", "session:one", "b") == .bytes(bytes("\(count)")))
      }
      _ = try await store.create("one", ["a": bytes("a1")])
      // The version before the value has one digit, and then two.
      for version in 1...12 as ClosedRange<UInt64> {
        let text = String(repeating: "x", count: Int(version) * 3 % 10)
        var change = SessionChange(version: version, values: ["a": bytes(text)], expected: ["a": version])
        change.seen = ["a": version]
        #expect(try await store.save("one", change) == version + 1)
        try expectBytes(1 + text.count)
      }
      // Another node changes the session, also the value that the next save wants to replace.
      var late = SessionChange(version: 13, values: ["a": bytes("late"), "b": bytes("new")], expected: ["b": 0])
      late.seen = ["a": 13, "b": 0]
      _ = try await store.save("one", SessionChange(version: 13, values: ["a": bytes("other"), "c": bytes("c1")]))
      try expectBytes(6 + 3)
      #expect(try await store.save("one", late) == 15)
      try expectBytes(5 + 4 + 3)
      #expect(try await store.texts("one") == ["a": "late", "b": "new", "c": "c1"])
      guard case .found(let record) = try await store.load("one", unlessVersion: nil) else { return }
      #expect(record.values.mapValues(\.version) == ["a": 15, "b": 15, "c": 14])
      late.expected = ["a": 13]
      let refused = late
      #expect(
        await failure { () async throws(SessionError) in try await store.save("one", refused) } == .conflict(["a"]))
      #expect(try await store.save("one", SessionChange(version: 15, values: ["a": nil, "b": nil, "c": nil])) == 16)
      try expectBytes(0)
    }
  }

  @Test("The store keeps any bytes under any number of names")
  func anything() async throws {
    try await withRedis(limits: SessionLimits(maximumBytes: 32 << 20)) { redis in
      var values = ["": [], "d:": bytes("x"), "ä 'quoted' \r\n\u{0}": (0...255).map { UInt8($0) }]
      for number in 0..<20_000 { values["value \(number)"] = bytes("\(number)") }
      values["large"] = [UInt8](repeating: 7, count: 8 << 20)
      _ = try await redis.store.create("one", values)
      guard case .found(let record) = try await redis.store.load("one", unlessVersion: nil) else {
        Issue.record("nothing was found")
        return
      }
      #expect(record.values.mapValues(\.bytes) == values)
      let change = SessionChange(version: 1, values: values.mapValues { _ in nil }, expected: ["large": 1])
      #expect(try await redis.store.save("one", change) == 2)
      #expect(try await redis.store.texts("one") == [:])
      #expect(try redis.raw("HGET", "session:one", "b") == .bytes(bytes("0")))
    }
  }

  @Test("The store has one connection for each loop, for all callers")
  func connections() async throws {
    try await withRedis(limits: SessionLimits()) { redis in
      _ = try await redis.store.create("one", ["a": bytes("0")])
      try await withThrowingTaskGroup { group in
        for number in 0..<500 {
          let change = SessionChange(version: 1, values: ["\(number)": bytes("x")])
          group.addTask(executorPreference: number % 2 == 0 ? redis.loop : nil) {
            _ = try await redis.store.save("one", change)
          }
        }
        try await group.waitForAll()
      }
      #expect(try await redis.store.texts("one")?.count == 501)
      guard case .bytes(let list) = try redis.raw("CLIENT", "LIST") else { return }
      // One is this test's own.
      #expect(String(decoding: list, as: UTF8.self).split(separator: "\n").count == 2)
    }
  }

  @Test("The store spreads calls over its loops")
  func loops() async throws {
    try await withRedis { redis in
      try await EventLoop.withThread { loop in
        let store = RedisSessionStore(
          host: "127.0.0.1", port: redis.process.port, loops: [redis.loop, loop], limits: wideLimits, options: .patient)
        defer { store.close() }
        _ = try await store.create("one", ["a": bytes("a1")])
        #expect(try await store.texts("one") == ["a": "a1"])
        guard case .bytes(let list) = try redis.raw("CLIENT", "LIST") else { return }
        #expect(String(decoding: list, as: UTF8.self).split(separator: "\n").count == 3)
      }
    }
  }

  @Test("The store goes on when the server has forgotten its scripts")
  func forgottenScripts() async throws {
    try await withRedis { redis in
      let (store, raw) = (redis.store, redis.raw)
      func forget() throws { try raw("SCRIPT", "FLUSH") }
      _ = try await store.load("one", unlessVersion: nil)
      try forget()
      _ = try await store.create("one", ["a": bytes("a1")])
      try forget()
      #expect(try await store.texts("one") == ["a": "a1"])
      try forget()
      // Both of the first two calls find the script unknown.
      async let first = store.save("one", SessionChange(version: 1, values: ["a": bytes("a2")]))
      async let second = store.save("one", SessionChange(version: 1, values: ["b": bytes("b2")]))
      #expect(try await Set([first, second]) == [2, 3])
      #expect(try await store.texts("one") == ["a": "a2", "b": "b2"])
      try forget()
      try await store.rotate("one", to: "two")
      try forget()
      try await store.end("two")
      #expect(try raw.sessions().isEmpty)
    }
  }

  @Test("The store loads sessions also when the server takes no more writes")
  func fullServer() async throws {
    try await withRedis { redis in
      let (store, raw) = (redis.store, redis.raw)
      _ = try await store.create("one", ["a": bytes("a1")])
      try raw.age(by: hour * 2)
      try raw("CONFIG", "SET", "maxmemory", "1")
      #expect(try await store.texts("one") == ["a": "a1"])
      let error = await failure { () async throws(SessionError) in
        try await store.save("one", SessionChange(version: 1, values: ["a": bytes("a2")]))
      }
      #expect(error?.isTemporary == true)
      #expect(String(describing: error).contains("OOM"))
      try raw("CONFIG", "SET", "maxmemory", "0")
      #expect(try await store.texts("one") == ["a": "a1"])
    }
  }

  @Test("The store logs in, and chooses its database")
  func login() async throws {
    let process = try RedisProcess("--requirepass", "secret")
    defer { process.end() }
    try await EventLoop.withThread { loop in
      var options = RedisOptions.patient
      options.password = "secret"
      options.database = 3
      let store = RedisSessionStore(
        host: "127.0.0.1", port: process.port, loops: [loop], prefix: "visit:", limits: wideLimits, options: options)
      defer { store.close() }
      _ = try await store.create("one", ["a": bytes("a1")])
      let raw = try RawRedis(process)
      try raw("AUTH", "secret")
      try raw("SELECT", "3")
      #expect(try raw.keys() == ["visit:one"])
    }
  }

  @Test("The store reports the error of the server that refuses its login", arguments: [nil, "wrong"])
  func refusedLogin(password: String?) async throws {
    let process = try RedisProcess("--requirepass", "secret")
    defer { process.end() }
    try await EventLoop.withThread { loop in
      var options = RedisOptions.impatient
      options.connectTimeout = .seconds(60)
      options.commandTimeout = .seconds(2)
      options.password = password
      let store = RedisSessionStore(host: "127.0.0.1", port: process.port, loops: [loop], options: options)
      defer { store.close() }
      let error = await failure { () async throws(SessionError) in try await store.end("one") }
      guard case .unavailable(let reason) = error else {
        Issue.record("not refused: \(String(describing: error))")
        return
      }
      #expect(reason.contains(password == nil ? "NOAUTH" : "WRONGPASS"))
    }
  }
}
