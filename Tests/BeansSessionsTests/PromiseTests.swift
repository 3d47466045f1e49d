import BeansSessions
import Testing

/// The promises of a store of sessions.
enum Promise: CaseIterable, CustomTestStringConvertible {
  case endedStaysEnded, expiredStaysExpired, expiredIsNotShown, differentValuesSurvive, lastWriterWins
  case conflictIsTold, othersAreTold, useKeepsAlive, touchesAreRare, strangersAreUnknown, rotationIsOneStep
  case rotationNeedsASession, sizeIsLimited, idsAreTakenOnce, valuesCanBeRemoved, knownVersionsAreNotSent

  var testDescription: String {
    switch self {
    case .endedStaysEnded: "a save never revives a session that has ended"
    case .expiredStaysExpired: "a save never revives a session that has expired"
    case .expiredIsNotShown: "a session that has expired is never shown"
    case .differentValuesSurvive: "two requests that change different values both survive"
    case .lastWriterWins: "the last of two requests that change one value wins"
    case .conflictIsTold: "the second of two requests that change one value is refused on demand"
    case .othersAreTold: "the version that a save returns reveals changes by others"
    case .useKeepsAlive: "each use postpones the expiry"
    case .touchesAreRare: "the expiry is postponed at most once in an interval"
    case .strangersAreUnknown: "a made-up id is neither known nor adopted"
    case .rotationIsOneStep: "the new id is known after a rotation and the old one is not"
    case .rotationNeedsASession: "a missing session cannot be rotated"
    case .sizeIsLimited: "a save that makes a session too large writes nothing"
    case .idsAreTakenOnce: "an id that is taken cannot be taken again"
    case .valuesCanBeRemoved: "a value that has been removed is gone"
    case .knownVersionsAreNotSent: "values that the caller has already are not sent again"
    }
  }

  /// Checks that a store keeps the promise; a broken one is an issue.
  func check(_ test: StoreInTest) async throws {
    let store = test.store
    let id = "one"
    let version = try await store.create(id, ["a": bytes("a1"), "b": bytes("b1")])
    #expect(version == 1)
    switch self {
    case .endedStaysEnded:
      try await store.end(id)
      #expect(await failure { () async throws(SessionError) in try await store.save(id, set("a", 1)) } == .ended)
      #expect(try await store.texts(id) == nil)
      try await store.end(id)

    case .expiredStaysExpired:
      try test.pass(hour * 11)
      #expect(await failure { () async throws(SessionError) in try await store.save(id, set("a", 1)) } == .ended)
      #expect(try await store.texts(id) == nil)

    case .expiredIsNotShown:
      #expect(try await store.texts(id) != nil)
      try test.pass(hour * 11)
      #expect(try await store.texts(id) == nil)
      #expect(await failure { () async throws(SessionError) in try await store.rotate(id, to: "two") } == .ended)
      #expect(try await store.texts("two") == nil)

    case .differentValuesSurvive:
      _ = try await store.load(id, unlessVersion: nil)
      _ = try await store.save(id, set("a", 1))
      _ = try await store.save(id, set("b", 1))
      #expect(try await store.texts(id) == ["a": "a new", "b": "b new"])

    case .lastWriterWins:
      _ = try await store.save(id, set("a", 1, "first"))
      _ = try await store.save(id, set("a", 1, "second"))
      #expect(try await store.texts(id)?["a"] == "second")

    case .conflictIsTold:
      _ = try await store.save(id, set("a", 1, "first"))
      var change = set("a", 1, "second")
      change.values["b"] = bytes("too")
      change.expected = ["a": 1, "b": 1]
      let refused = change
      #expect(await failure { () async throws(SessionError) in try await store.save(id, refused) } == .conflict(["a"]))
      #expect(try await store.texts(id) == ["a": "first", "b": "b1"])
      change.expected = ["a": 2, "b": 1, "c": 0]
      #expect(try await store.save(id, change) == 3)

    case .othersAreTold:
      #expect(try await store.save(id, set("a", 1)) == 2)
      #expect(try await store.save(id, set("b", 1)) == 3)

    case .useKeepsAlive:
      for _ in 0..<3 {
        try test.pass(hour * 9)
        #expect(try await store.texts(id) != nil)
        try test.pass(hour * 9)
        #expect(await failure { () async throws(SessionError) in try await store.save(id, set("a", 1)) } == nil)
      }

    case .touchesAreRare:
      // Half an interval after the last use: this load does not count as one.
      try test.pass(hour / 2)
      #expect(try await store.texts(id) != nil)
      try test.pass(hour * 39 / 4)
      #expect(try await store.texts(id) == nil)

    case .strangersAreUnknown:
      #expect(try await store.load("two", unlessVersion: nil) == .missing)
      #expect(await failure { () async throws(SessionError) in try await store.save("two", set("a", 1)) } == .ended)
      #expect(try await store.texts("two") == nil)

    case .rotationIsOneStep:
      _ = try await store.save(id, set("a", 1))
      let before = try await store.load(id, unlessVersion: nil)
      try await store.rotate(id, to: "two")
      #expect(try await store.texts(id) == nil)
      #expect(try await store.load("two", unlessVersion: nil) == before)

    case .rotationNeedsASession:
      try await store.end(id)
      #expect(await failure { () async throws(SessionError) in try await store.rotate(id, to: "two") } == .ended)
      #expect(try await store.texts("two") == nil)

    case .sizeIsLimited:
      let large = String(repeating: "x", count: 2_000)
      #expect(
        await failure { () async throws(SessionError) in try await store.create("two", ["a": bytes(large)]) }
          == .tooLarge(bytes: 2_001, limit: 1_000))
      #expect(try await store.texts("two") == nil)
      #expect(
        await failure { () async throws(SessionError) in try await store.save(id, set("a", 1, large)) }
          == .tooLarge(bytes: 2_004, limit: 1_000))
      #expect(try await store.texts(id) == ["a": "a1", "b": "b1"])
      // 996 bytes are left for the value when the name and the other value are counted; a value replaces another one.
      for _ in 0..<3 { _ = try await store.save(id, set("a", 1, String(large.prefix(996)))) }
      #expect(
        await failure { () async throws(SessionError) in
          try await store.save(id, set("a", 1, String(large.prefix(997))))
        }
          == .tooLarge(bytes: 1_001, limit: 1_000))

    case .idsAreTakenOnce:
      #expect(await failure { () async throws(SessionError) in try await store.create(id, [:]) } == .ended)
      #expect(try await store.texts(id) == ["a": "a1", "b": "b1"])

    case .valuesCanBeRemoved:
      _ = try await store.save(id, SessionChange(version: 1, values: ["a": nil, "c": bytes("c1")]))
      #expect(try await store.texts(id) == ["b": "b1", "c": "c1"])
      // As a value that has never been there.
      let again = SessionChange(version: 2, values: ["a": bytes("again")], expected: ["a": 0])
      #expect(await failure { () async throws(SessionError) in try await store.save(id, again) } == nil)
      #expect(try await store.texts(id)?["a"] == "again")

    case .knownVersionsAreNotSent:
      #expect(try await store.load(id, unlessVersion: 1) == .unchanged)
      _ = try await store.save(id, set("a", 1))
      guard case .found(let record) = try await store.load(id, unlessVersion: 1) else {
        Issue.record("nothing was found")
        return
      }
      #expect(record.version == 2)
      #expect(record.values.mapValues(\.version) == ["a": 2, "b": 1])
    }
  }

  private func set(_ name: String, _ version: UInt64, _ text: String? = nil) -> SessionChange {
    SessionChange(version: version, values: [name: bytes(text ?? "\(name) new")])
  }
}

@Suite("Stores of sessions", .timeLimit(.minutes(20)))
struct PromiseTests {
  @Test("Stores keep their promises", arguments: Promise.allCases, StoreKind.available)
  func promises(promise: Promise, kind: StoreKind) async throws {
    try await withStore(kind) { try await promise.check($0) }
  }

  @Test("Faulty stores break their promises", arguments: StoreMistake.allCases)
  func mistakes(mistake: StoreMistake) async throws {
    for promise in mistake.broken {
      try await withStore(.memory, limits: mistake.limits) { test in
        var wrong = test
        wrong.store = NaiveStore(test.store, mistake)
        let naive = wrong
        // Only an expectation that fails shows the mistake: an error that is thrown is a fault of the test.
        try await withKnownIssue {
          try await promise.check(naive)
        } matching: { issue in
          if case .expectationFailed = issue.kind { true } else { false }
        }
      }
    }
  }

  @Test("Each promise is broken by a faulty store")
  func everyPromiseCanBeBroken() {
    #expect(Set(StoreMistake.allCases.flatMap(\.broken)) == Set(Promise.allCases))
  }
}
