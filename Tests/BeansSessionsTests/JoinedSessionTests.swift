import Beans
@_spi(BeansPackage) import BeansErrors
import BeansSessions
import TestSupport
import Testing

/// Several requests inside of one open session, of which some fail.
@Suite("Requests that share an open session", .timeLimit(.minutes(20)))
struct JoinedSessionTests {
  private let store = MemorySessionStore()

  @Test("A request whose change another request has saved succeeds, although a later save of the session fails")
  func savedByAnother() async throws {
    let (here, there) = (try Node(store), try Node(store))
    let id = try await here.open()
    let slow = await here.begin(id)
    await slow.add()
    let loser = await here.begin(id)
    try await here.add(id)
    try await there.add(id)
    await loser.add()
    #expect(try await loser.end() == .conflict(["cart"]))
    #expect(try await slow.end() == nil)
    #expect(try await there.count(id) == 3)
  }

  @Test("A request that changes nothing succeeds, although a save of the session fails")
  func readOnly() async throws {
    let (here, there) = (try Node(store), try Node(store))
    let id = try await here.open()
    let (reader, loser) = (await here.begin(id), await here.begin(id))
    try await there.add(id)
    await loser.add()
    #expect(try await loser.end() == .conflict(["cart"]))
    #expect(try await reader.end() == nil)
    #expect(try await there.count(id) == 1)
  }

  @Test("A request of which another one has saved a part has an unknown outcome, and no conflict")
  func partly() async throws {
    let (here, there) = (try Node(store), try Node(store))
    let id = try await here.open()
    let slow = await here.begin(id)
    await slow.add()
    try await here.add(id)
    try await there.add(id)
    await slow.add()
    guard case .outcomeUnknown = try await slow.end() else {
      Issue.record("not told that the outcome is unknown")
      return
    }
    #expect(try await there.count(id) == 3)
  }

  @Test("A change that was made after a save without a reply had been sent has not been written")
  func afterLostSave() async throws {
    let (sent, lost) = (Latch(), Latch())
    let hooked = HookedStore(
      store,
      afterSave: { () async throws(SessionError) in
        sent.open()
        await lost.wait()
        throw .outcomeUnknown("the reply was lost")
      })
    let (here, there) = (try Node(hooked), try Node(store))
    let id = try await there.open()
    let (first, second, third) = (await here.begin(id), await here.begin(id), await here.begin(id))
    await first.add()
    await second.add()
    async let firstError = first.end()
    await sent.wait()
    await third.add()
    lost.open()
    #expect(try await firstError == .outcomeUnknown("the reply was lost"))
    #expect(try await second.end() == .outcomeUnknown("the reply was lost"))
    #expect(try await third.end() == .unavailable("the reply was lost"))
    #expect(try await there.count(id) == 2)
  }

  @Test("A request that has saved its changes does not fail when another node rotates the id")
  func rotatedElsewhere() async throws {
    let other = String(repeating: "b", count: 32)
    let idOfSession = Locked("")
    let hooked = HookedStore(
      store,
      beforeRotate: { [store] () async throws(SessionError) in
        try await store.rotate(idOfSession.withLock { $0 }, to: other)
      })
    let (here, there) = (try Node(hooked), try Node(store))
    let id = try await there.open()
    idOfSession.withLock { $0 = id }
    let answer = try await here.sessions.withSession(cookie: id) { session in
      try session.environment.getBean(Visit.self).cart.update { $0 += 1 }
      session.rotate()
    }
    #expect(answer.cookie == .unchanged)
    #expect(try await there.count(other) == 1)
  }

  @Test("A request that has saved its changes has an unknown outcome when the id cannot be rotated")
  func notRotated() async throws {
    let hooked = HookedStore(store, beforeRotate: { () async throws(SessionError) in throw .unavailable("no server") })
    let (here, there) = (try Node(hooked), try Node(store))
    let id = try await there.open()
    let error = await #expect(throws: SessionError.self) {
      try await here.sessions.withSession(cookie: id) { session in
        try session.environment.getBean(Visit.self).cart.update { $0 += 1 }
        session.rotate()
      }
    }
    guard case .outcomeUnknown = error else {
      Issue.record("not told that the outcome is unknown: \(String(describing: error))")
      return
    }
    #expect(try await there.count(id) == 1)
  }

  @Test("A change from a thread of no request is saved by the requests that are inside")
  func otherThread() async throws {
    let (here, there) = (try Node(store), try Node(store))
    let id = try await here.open()
    let request = await here.begin(id)
    await request.run { visit in await Task.detached { visit.cart.update { $0 += 1 } }.value }
    #expect(try await request.end() == nil)
    #expect(try await there.count(id) == 1)
  }

  @Test(
    "A request that changed no value of its own is refused as a conflict if the value of another cannot be encoded")
  func notEncodable() async throws {
    let here = try Node(store)
    let id = try await here.open()
    let (wrong, other) = (await here.begin(id), await here.begin(id))
    await wrong.run { $0.ratio.set(.infinity) }
    await other.add()
    #expect(try await other.end() == .conflict(["ratio"]))
    guard case .notEncodable("ratio", _) = try await wrong.end() else {
      Issue.record("not told that the value cannot be encoded")
      return
    }
    #expect(try await here.count(id) == 0)
  }
}

private final class Visit: Sendable {
  let cart: SessionValue<Int>
  let ratio: SessionValue<Double>

  init(state: SessionState) throws {
    cart = try state.value("cart", default: 0, onConflict: .refuse)
    ratio = try state.value("ratio", default: 0)
  }
}

/// A manager of sessions as one node of a service has it.
private struct Node {
  let sessions: Sessions<SessionState>

  init(_ store: any SessionStore) throws {
    let application = try Environment(name: "application")
    sessions = Sessions(
      try application.childFactory("session", seed: SessionState.self) { session in
        try session.define(session.bean(Visit.self, factory: Visit.init))
      }, store: store)
  }

  /// The id of a new session with an empty cart.
  func open() async throws -> String {
    let answer = try await sessions.withSession(cookie: nil) { session in
      let visit = try session.environment.getBean(Visit.self)
      visit.cart.update { $0 += 1 }
      visit.ratio.set(1)
    }
    guard case .set(let id) = answer.cookie else { throw RedisProcess.Failure(description: "no id was given") }
    _ = try await sessions.withSession(cookie: id) { try $0.environment.getBean(Visit.self).cart.set(0) }
    return id
  }

  func add(_ id: String) async throws {
    _ = try await sessions.withSession(cookie: id) { try $0.environment.getBean(Visit.self).cart.update { $0 += 1 } }
  }

  func count(_ id: String) async throws -> Int {
    try await sessions.withSession(cookie: id) { try $0.environment.getBean(Visit.self).cart.value }.value
  }

  /// Begins a request, and returns when it is inside.
  func begin(_ id: String) async -> RunningRequest {
    let request = RunningRequest(sessions, id)
    await request.run { _ in }
    return request
  }
}

/// A request that stays inside of its session until the test ends it.
private final class RunningRequest: Sendable {
  private typealias Step = (body: @Sendable (Visit) async -> Void, done: Latch)
  private let steps = AsyncStream<Step>.makeStream()
  private let task: Locked<Task<SessionError?, any Error>?>

  init(_ sessions: Sessions<SessionState>, _ id: String) {
    task = Locked(nil)
    let steps = steps.stream
    let running = Task<SessionError?, any Error> {
      do {
        _ = try await sessions.withSession(cookie: id) { session in
          let visit = try session.environment.getBean(Visit.self)
          for await step in steps {
            await step.body(visit)
            step.done.open()
          }
        }
        return nil
      } catch let error as SessionError {
        return error
      }
    }
    task.withLock { $0 = running }
  }

  /// Returns when the task of the request has run that inside of its session.
  func run(_ body: @escaping @Sendable (Visit) async -> Void) async {
    let done = Latch()
    steps.continuation.yield((body, done))
    await done.wait()
  }

  func add() async { await run { visit in visit.cart.update { $0 += 1 } } }

  /// Ends the request, and returns the error that it receives.
  func end() async throws -> SessionError? {
    steps.continuation.finish()
    return try await task.withLock { $0 }?.value
  }
}
