import Beans
import BeansEventLoop
import TestSupport
import Testing

@testable import BeansRedis
import BeansSessions

/// The outcome of calls when the server or the connection fails. Each call ends within its time, or the test does not.
@Suite("A Redis store whose server fails", .needsRedis, .timeLimit(.minutes(20)))
struct RedisFaultTests {
  private static let change = SessionChange(version: 1, values: ["a": bytes("a2")])

  @Test("A store is not available without a listener, which differs from a missing session")
  func refused() async throws {
    try await withRedis(options: .impatient) { redis in
      redis.process.kill()
      for error in await Self.errors(redis.store, on: redis.loop) { #expect(error.isUnavailable, "\(error)") }
    }
  }

  /// Commands that a user of the server may not run.
  @Test(
    "The outcome of a change whose script fails half-way is unknown, and no key is left without an expiry",
    arguments: ["pexpire", "unlink", "set", "hset", "rename", "hdel"])
  func halfDone(command: String) async throws {
    let process = try RedisProcess()
    defer { process.end() }
    let raw = try RawRedis(process)
    try raw("ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all", "-\(command)")
    try await EventLoop.withThread { loop in
      let whole = RedisSessionStore(
        host: "127.0.0.1", port: process.port, loops: [loop], limits: wideLimits, options: .patient)
      var options = RedisOptions.patient
      (options.username, options.password) = ("limited", "secret")
      let store = RedisSessionStore(
        host: "127.0.0.1", port: process.port, loops: [loop], limits: wideLimits, options: options)
      defer {
        store.close()
        whole.close()
      }
      for id in ["one", "two", "three"] { _ = try await whole.create(id, ["a": bytes("a1"), "b": bytes("b1")]) }
      let errors = [
        await failure { () async throws(SessionError) in try await store.create("four", ["a": bytes("a1")]) },
        await failure { () async throws(SessionError) in
          try await store.save("one", SessionChange(version: 1, values: ["a": bytes("a2"), "b": nil]))
        },
        await failure { () async throws(SessionError) in try await store.rotate("two", to: "five") },
        await failure { () async throws(SessionError) in try await store.end("three") },
      ].compactMap(\.self)
      #expect(!errors.isEmpty)
      for error in errors { #expect(error.isUnknown, "\(error)") }
      for key in try raw.keys() { #expect(try raw("PTTL", key) != .integer(-1), "\(key)") }
    }
  }

  @Test("Requests with an id fail before they run, and those without one pass")
  func requests() async throws {
    final class Visit: Sendable {
      let name: SessionValue<String>
      init(state: SessionState) throws { name = try state.value("name", default: "nobody") }
    }
    try await withRedis(options: .impatient) { redis in
      redis.process.kill()
      let application = try Environment(name: "application")
      let factory = try application.childFactory("session", seed: SessionState.self) { session in
        try session.define(session.bean(Visit.self, factory: Visit.init))
      }
      let sessions = Sessions(factory, store: redis.store)
      let answer = try await sessions.withSession(cookie: nil) { try $0.environment.getBean(Visit.self).name.value }
      #expect(answer.value == "nobody")
      #expect(answer.cookie == .unchanged)
      let error = await #expect(throws: SessionError.self) {
        try await sessions.withSession(cookie: String(repeating: "a", count: 32)) { _ in
          Issue.record("the request has run")
        }
      }
      #expect(error?.isUnavailable == true)
      #expect(error?.isTemporary == true)
      #expect(sessions.counts.open == 0)
    }
  }

  @Test("A store is not available when the server does not reply on a first connection")
  func silentFromTheStart() async throws {
    try await withRedis(options: .impatient) { redis in
      redis.process.suspend()
      for error in await Self.errors(redis.store, on: redis.loop) { #expect(error.isUnavailable, "\(error)") }
      redis.process.resume()
    }
  }

  @Test("The outcome of a change without a reply in time is unknown")
  func silent() async throws {
    var options = RedisOptions.patient
    options.commandTimeout = .seconds(2)
    try await withRedis(options: options) { redis in
      _ = try await redis.store.create("one", ["a": bytes("a1")])
      redis.process.suspend()
      // Both are on the way when the first one's time is over.
      async let save = failure { () async throws(SessionError) in try await redis.store.save("one", Self.change) }
      async let load = failure { () async throws(SessionError) in try await redis.store.load("one", unlessVersion: nil)
      }
      let (saveError, loadError) = await (save, load)
      #expect(saveError?.isUnknown == true, "\(String(describing: saveError))")
      #expect(loadError?.isUnavailable == true, "\(String(describing: loadError))")
      redis.process.resume()
      // Late replies are not taken for those to later calls.
      #expect(try await redis.store.load("two", unlessVersion: nil) == .missing)
      #expect(try await redis.store.create("two", [:]) == 1)
      #expect(try await redis.store.texts("two") == [:])
    }
  }

  @Test("The outcome of a change in flight is unknown when the server is killed for good")
  func killed() async throws {
    var options = RedisOptions.patient
    options.commandTimeout = .seconds(5)
    try await withProxy(options) { proxy, store, _, process in
      _ = try await store.create("one", ["a": bytes("a1")])
      process.suspend()
      let before = proxy.calls
      async let save = failure { () async throws(SessionError) in try await store.save("one", Self.change) }
      async let load = failure { () async throws(SessionError) in try await store.load("one", unlessVersion: nil) }
      while proxy.calls < before + 2 { await Task.yield() }
      process.kill()
      let (saveError, loadError) = await (save, load)
      #expect(saveError?.isUnknown == true, "\(String(describing: saveError))")
      #expect(loadError?.isUnavailable == true, "\(String(describing: loadError))")
    }
  }

  @Test("A store sends calls once more to a server that has been started anew")
  func restarted() async throws {
    try await withProxy { proxy, store, _, process in
      _ = try await store.create("one", ["a": bytes("a1")])
      process.suspend()
      let before = proxy.calls
      async let create = store.create("two", ["a": bytes("a1")])
      async let save = failure { () async throws(SessionError) in try await store.save("one", Self.change) }
      // A call that has not been sent fails when the connection is refused.
      while proxy.calls < before + 2 { await Task.yield() }
      process.kill()
      try process.restart()
      #expect(try await create == 1)
      // The new server has no such session.
      #expect(await save == .ended)
      #expect(try await store.texts("two") == ["a": "a1"])
    }
  }

  @Test("A store is not available at once when the connection is refused, with any limit of a call")
  func refusedAtOnce() async throws {
    try await withRedis(options: .patient) { redis in
      redis.process.kill()
      for error in await Self.errors(redis.store, on: redis.loop) { #expect(error.isUnavailable, "\(error)") }
    }
  }

  @Test(
    "A store ends a connection with data that no call has asked for", arguments: ["*1048576\r\n", "+", "+OK\r\n"])
  func unasked(text: String) async throws {
    try await withProxy { proxy, store, _, _ in
      _ = try await store.create("one", ["a": bytes("a1")])
      await proxy.inject(bytes(text))
      #expect(try await store.texts("one") == ["a": "a1"])
    }
  }

  @Test("A store is asked once for an unknown id of its own form")
  func deadIds() async throws {
    try await withProxy { proxy, store, raw, _ in
      let (id, other) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
      for _ in 0..<3 { #expect(try await store.load(id, unlessVersion: nil) == .missing) }
      #expect(proxy.calls == 1)
      // A session that this store creates or rotates is found.
      _ = try await store.create(id, ["a": bytes("a1")])
      #expect(try await store.texts(id) == ["a": "a1"])
      #expect(try await store.texts(other) == nil)
      try await store.rotate(id, to: other)
      #expect(try await store.texts(other) == ["a": "a1"])
      let before = proxy.calls
      for _ in 0..<3 { #expect(try await store.texts(id) == nil) }
      try await store.end(other)
      for _ in 0..<3 { #expect(try await store.texts(other) == nil) }
      #expect(proxy.calls == before + 1)
      // Ids in another form may be created by others later.
      #expect(try await store.texts("one") == nil)
      try raw("HSET", "session:one", "v", "1", "a", "99999999999999", "m", "1", "s", "1", "b", "0", "t", "x", "c", "1")
      #expect(try await store.texts("one") == [:])
    }
  }

  @Test("A store closes its connections when the environment releases it as a bean")
  func bean() async throws {
    let process = try RedisProcess()
    defer { process.end() }
    try await EventLoop.withThread { loop in
      let store = RedisSessionStore(host: "127.0.0.1", port: process.port, loops: [loop], options: .patient)
      let application = try Environment(name: "application")
      try application.define(application.bean(store))
      try application.startup()
      _ = try await store.create("one", ["a": bytes("a1")])
      try await application.shutdown()
      for error in await Self.errors(store, on: loop) { #expect(error.isUnavailable, "\(error)") }
      store.close()
    }
  }

  @Test("A store reconnects by itself after a server that was away")
  func away() async throws {
    try await withRedis(options: .impatient) { redis in
      /// The result of the store at this moment.
      func ask() async -> SessionError? {
        await failure { () async throws(SessionError) in try await redis.store.load("one", unlessVersion: nil) }
      }
      _ = await failure { () async throws(SessionError) in try await redis.store.create("one", [:]) }
      redis.process.kill()
      for _ in 0..<3 {
        #expect(await ask() != nil)
      }
      try redis.process.restart()
      while await ask() != nil {}
    }
  }

  @Test("A closed store fails waiting calls, and later ones")
  func closed() async throws {
    try await withRedis { redis in
      _ = try await redis.store.create("one", ["a": bytes("a1")])
      redis.process.suspend()
      async let save = failure { () async throws(SessionError) in try await redis.store.save("one", Self.change) }
      redis.store.close()
      #expect(await save?.isTemporary == true)
      for error in await Self.errors(redis.store, on: redis.loop) { #expect(error.isUnavailable, "\(error)") }
    }
  }

  @Test("A cancelled task does not disturb the calls of others")
  func cancelled() async throws {
    try await withRedis { redis in
      _ = try await redis.store.create("one", ["a": bytes("a1")])
      let cancelled = Task { try await redis.store.save("one", Self.change) }
      cancelled.cancel()
      #expect(try await redis.store.load("two", unlessVersion: nil) == .missing)
      #expect(try await cancelled.value == 2)
    }
  }

  @Test("Invalid addresses, and a store without loops, are refused at once")
  func unusable() async throws {
    try await EventLoop.withThread { loop in
      for store in [
        RedisSessionStore(host: "not an address", loops: [loop], options: .patient),
        RedisSessionStore(host: "unix:/no/such/socket", loops: [loop], options: .patient),
        RedisSessionStore(host: "127.0.0.1", port: 70_000, loops: [loop], options: .patient),
        RedisSessionStore(host: "127.0.0.1", loops: [], options: .patient),
      ] {
        for error in await Self.errors(store, on: loop) { #expect(error.isUnavailable, "\(error)") }
        store.close()
      }
    }
  }

  @Test("A store refuses calls beyond the number that may wait")
  func tooMany() async throws {
    try await EventLoop.withThread { loop in
      var options = RedisOptions()
      options.maximumWaiting = 3
      // A port without a listener.
      options.servers = .server(host: "127.0.0.1", port: 1)
      let connection = RedisConnection(on: loop, options: options)
      let journal = Journal()
      try await loop.run {
        for _ in 0..<5 {
          let deadline = ContinuousClock.now + .seconds(60)
          connection.send(
            RedisCommand(action: .run(.end, keys: [], arguments: []), deadline: deadline) { journal.note("\($0)") })
        }
        #expect(journal.entries.count { $0.contains("too many calls") } == 2)
        connection.close()
      }
      #expect(journal.entries.count == 5)
    }
  }

  // MARK: lost replies

  @Test("A change whose reply was lost is not made twice")
  func lostReplies() async throws {
    try await withProxy { proxy, store, _, _ in
      #expect(try await store.texts("one") == nil)
      proxy.loseNextReply()
      #expect(try await store.create("one", ["a": bytes("a1")]) == 1)
      proxy.loseNextReply()
      #expect(try await store.save("one", Self.change) == 2)
      proxy.loseNextReply()
      #expect(try await store.texts("one") == ["a": "a2"])
      proxy.loseNextReply()
      try await store.rotate("one", to: "two")
      #expect(try await store.texts("two") == ["a": "a2"])
      #expect(try await store.texts("one") == nil)
      proxy.loseNextReply()
      try await store.end("two")
      #expect(try await store.texts("two") == nil)
      #expect(proxy.lostReplies == 5)
    }
  }

  @Test("A store reads a session once more when the connection ends between the time and the session")
  func cutReply() async throws {
    try await withProxy { proxy, store, _, _ in
      _ = try await store.create("one", ["a": bytes("a1")])
      proxy.cutNextReply()
      #expect(try await store.texts("one") == ["a": "a1"])
      #expect(proxy.lostReplies == 1)
      #expect(try await store.texts("two") == nil)
      proxy.cutNextReply()
      #expect(try await store.load("one", unlessVersion: 1) == .unchanged)
    }
  }

  @Test("A change whose reply was lost does not overwrite later changes of others")
  func lostReplyAndOthers() async throws {
    try await withProxy { proxy, store, raw, _ in
      _ = try await store.create("one", ["a": bytes("a1")])
      proxy.loseNextReply {
        // The change of another node before the second attempt arrives.
        _ = try? raw("HSET", "session:one", "v", "3", "d:a", "3:other", "t", "other")
      }
      let error = await failure { () async throws(SessionError) in try await store.save("one", Self.change) }
      #expect(error?.isUnknown == true, "\(String(describing: error))")
      #expect(try await store.texts("one") == ["a": "other"])
    }
  }

  @Test(
    "A store is not available when the server is not Redis",
    arguments: [
      "HTTP/1.1 400 Bad Request\r\n\r\n", "$99999999999\r\n", "*1\r\n*1\r\n", "+OK\r\n+OK\r\n", "-ERR no\r\n", "",
    ])
  func strangeServer(answer: String) async throws {
    try await EventLoop.withThread { loop in
      let server = RedisProxy(on: loop, answering: bytes(answer))
      let port = try await server.start()
      let store = RedisSessionStore(host: "127.0.0.1", port: port, loops: [loop], options: .impatient)
      for error in await Self.errors(store, on: loop) { #expect(error.isUnavailable, "\(error)") }
      store.close()
      try await server.stop()
    }
  }

  // MARK: helpers

  /// The errors of the five calls. On the loop, as other tests may keep the threads that tasks share.
  private static func errors(_ store: RedisSessionStore, on loop: EventLoop) async -> [SessionError] {
    await Task(executorPreference: loop) {
      let begin = ContinuousClock.now
      let errors = [
        await failure { () async throws(SessionError) in try await store.create("one", [:]) },
        await failure { () async throws(SessionError) in try await store.load("one", unlessVersion: nil) },
        await failure { () async throws(SessionError) in try await store.save("one", change) },
        await failure { () async throws(SessionError) in try await store.rotate("one", to: "two") },
        await failure { () async throws(SessionError) in try await store.end("one") },
      ]
      #expect(!errors.contains(nil))
      // A fifth of a second each at most, and the delay of a loaded machine.
      #expect(ContinuousClock.now - begin < .seconds(20))
      return errors.compactMap(\.self)
    }.value
  }
}

extension SessionError {
  var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
  var isUnknown: Bool { if case .outcomeUnknown = self { true } else { false } }
}
