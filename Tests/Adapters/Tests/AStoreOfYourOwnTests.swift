import Beans
import BeansSessions
import Logging
import Testing
import Valkey

@testable import AStoreOfYourOwnListings

@Suite("A store of your own") struct AStoreOfYourOwnTests {
  /// A client with a reply of the test's own to each call.
  private struct Replies: ValkeyClientProtocol {
    let body: @Sendable (EVAL) async throws(ValkeyClientError) -> RESPToken.Value

    func reply(to call: EVAL) async throws(ValkeyClientError) -> RESPToken { RESPToken(try await body(call)) }
  }

  private func store(
    _ body: @escaping @Sendable (EVAL) async throws(ValkeyClientError) -> RESPToken.Value
  ) -> ValkeySessionStore {
    ValkeySessionStore(client: Replies(body: body))
  }

  private func failure<R>(of body: () async throws(SessionError) -> R) async -> SessionError? {
    do throws(SessionError) {
      _ = try await body()
      return nil
    } catch { return error }
  }

  /// The errors of all changes, and that of a lookup, with a client that fails.
  private func failures(_ error: ValkeyClientError) async -> (changes: [SessionError?], load: SessionError?) {
    let store = store { _ throws(ValkeyClientError) in throw error }
    let changes = [
      await failure { () async throws(SessionError) in try await store.create("one", ["a": [97]]) },
      await failure { () async throws(SessionError) in
        try await store.save("one", SessionChange(version: 1, values: ["a": nil]))
      },
      await failure { () async throws(SessionError) in try await store.rotate("one", to: "two") },
      await failure { () async throws(SessionError) in try await store.end("one") },
    ]
    let load = await failure { () async throws(SessionError) in try await store.load("one", unlessVersion: nil) }
    return (changes, load)
  }

  @Test(
    "A change that may have been written is of unknown outcome",
    arguments: [
      ValkeyClientError(.timeout), ValkeyClientError(.connectionClosed),
      ValkeyClientError(.commandError, message: "NOPERM User ada has no permissions to run the 'pexpire' command"),
      ValkeyClientError(.commandError, message: "OOMPH"), ValkeyClientError(.commandError),
    ])
  func unknown(error: ValkeyClientError) async {
    let (changes, load) = await failures(error)
    let reason = "\(error.errorCode) \(error.message ?? "")"
    #expect(changes == Array(repeating: .outcomeUnknown(reason), count: 4))
    #expect(load == .unavailable(reason))
  }

  @Test(
    "A change that has not been sent, or that the server has refused, is unavailable",
    arguments: [
      ValkeyClientError(.connectionCreationCircuitBreakerTripped), ValkeyClientError(.clientIsShutDown),
      ValkeyClientError(.connectionClosing), ValkeyClientError(.commandError, message: "READONLY You can't write"),
      ValkeyClientError(.commandError, message: "OOM command not allowed"),
    ])
  func unavailable(error: ValkeyClientError) async {
    let (changes, load) = await failures(error)
    let reason = "\(error.errorCode) \(error.message ?? "")"
    #expect(changes == Array(repeating: .unavailable(reason), count: 4))
    #expect(load == .unavailable(reason))
  }

  @Test("Each reply to a change has a result or an error")
  func replies() async throws {
    let change = SessionChange(version: 3, values: ["a": [97], "b": nil], expected: ["c": 2])
    func save(_ reply: RESPToken.Value) async -> Result<UInt64, SessionError> {
      do throws(SessionError) { return .success(try await store { _ in reply }.save("one", change)) } catch {
        return .failure(error)
      }
    }
    #expect(await save(.number(4)) == .success(4))
    #expect(await save(.number(-1_048_577)) == .failure(.tooLarge(bytes: 1_048_577, limit: 1 << 20)))
    #expect(await save(.array(RESPToken.Array(["c", "a"]))) == .failure(.conflict(["a", "c"])))
    #expect(await save(.null) == .failure(.ended))
    #expect(await save(.bulkString("other")) == .failure(.outcomeUnknown("a reply that means nothing")))
    #expect(
      await failure { () async throws(SessionError) in
        try await store { _ in .null }.rotate("one", to: "two")
      } == .ended)
  }

  @Test("A lookup reads the fields of a session")
  func fields() async throws {
    let fields = ["v", "12", "c", "1700000000123", "b", "9", "d:a", "3:1:2", "d:", "12:"]
    let record = SessionRecord(
      version: 12, created: 1_700_000_000_123,
      values: ["a": .init(version: 3, bytes: Array("1:2".utf8)), "": .init(version: 12, bytes: [])])
    #expect(try await store { _ in .array(RESPToken.Array(fields)) }.load("one", unlessVersion: 3) == .found(record))
    #expect(try await store { _ in .number(1) }.load("one", unlessVersion: 12) == .unchanged)
    #expect(try await store { _ in .null }.load("one", unlessVersion: nil) == .missing)
    let load = await failure { () async throws(SessionError) in
      try await store { _ in .array(RESPToken.Array(["v"])) }.load("one", unlessVersion: nil)
    }
    #expect(load == .unavailable("a reply that means nothing"))
  }

  @Test("A value that is not text is refused without a call")
  func noText() async {
    let store = store { _ in
      Issue.record("a call")
      return .number(1)
    }
    let error = await failure { () async throws(SessionError) in try await store.create("one", ["a": [0xFF]]) }
    #expect(error == .notEncodable("a", reason: "it is not text"))
  }

  @Test("A cancelled task waits for the reply")
  func cancellation() async throws {
    let (started, starts) = AsyncStream<Void>.makeStream()
    let (released, releases) = AsyncStream<Void>.makeStream()
    let store = store { _ in
      starts.finish()
      for await _ in released {}
      return .number(Task.isCancelled ? 1 : 2)
    }
    let save = Task { try await store.save("one", SessionChange(version: 1, values: [:])) }
    for await _ in started {}
    save.cancel()
    releases.finish()
    #expect(try await save.value == 2)
  }

  @Test("Sessions in a server that cannot be reached are not available")
  func use() async throws {
    let shop = try Beans.Environment(name: "shop")
    let visits = try shop.childFactory("session", seed: SessionState.self) { session in
      try session.define(Cart.self, factory: Cart.init)
    }
    let client = openClient(at: .hostname("localhost"), Logger(label: "test"))
    async let _ = client.run()
    let sessions = Sessions(visits, store: ValkeySessionStore(client: client))
    let error = await #expect(throws: SessionError.self) {
      try await sessions.withSession(cookie: nil) { try $0.environment.getBean(Cart.self).add() }
    }
    #expect(error?.isTemporary == true)
    try await shop.shutdown()
  }

  private final class Cart: Sendable {
    private let count: SessionValue<Int>

    init(state: SessionState) throws { count = try state.value("count", default: 0) }

    func add() { count.update { $0 += 1 } }
  }
}
