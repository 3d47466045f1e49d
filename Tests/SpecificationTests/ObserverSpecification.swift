import Beans
import Testing

@Suite("Observers of environments", .timeLimit(.minutes(20))) struct ObserverSpecification {
  @FreshEnvironment("shop") private var shop
  private let observer = Recorder()

  @Test("Each child is observed when it opens and when it has ended, with its beans and its outcome")
  func children() throws {
    try shop.addObserver(observer)
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(Part.self, factory: Part.init) { $0.onDestroy { [observer] _ in observer.note("released") } }
    }
    try requests.withChild(1) { child in
      #expect(observer.entries == ["opened request"])
      _ = try child.getBean(Part.self)
    }
    #expect(throws: Boom.self) { try requests.withChild(2) { _ in throw Boom() } }
    #expect(
      observer.entries == [
        "opened request", "released", "ended request: 1 beans, completed", "opened request",
        "ended request: 0 beans, failed",
      ])
    #expect(observer.ends.allSatisfy { $0.duration >= .zero && $0.start <= .now })
  }

  @Test("The end is reported for the child whose opening was reported")
  func identity() throws {
    try shop.addObserver(observer)
    let requests = try shop.childFactory("request", seed: Int.self)
    let (first, second) = (try requests.build(1), try requests.build(2))
    #expect(observer.open == [ObjectIdentifier(first), ObjectIdentifier(second)])
    first.finish()
    #expect(observer.open == [ObjectIdentifier(second)])
    try second.shutdown()
    #expect(observer.open.isEmpty)
  }

  @Test("Children of nested factories, and of environments below, are observed; the outer observers are called first")
  func inheritance() throws {
    let inner = Recorder(observer, "inner ")
    try shop.addObserver(observer)
    let sessions = try shop.childFactory("session", seed: Int.self)
    let requests = try sessions.childFactory("request", seed: Int.self) { try $0.addObserver(inner) }
    try sessions.withChild(1) { session in try requests.withChild(2, in: session) { _ in } }
    #expect(
      observer.entries == [
        "opened session", "opened request", "inner opened request", "ended request: 0 beans, completed",
        "inner ended request: 0 beans, completed", "ended session: 0 beans, completed",
      ])
    let annexe = try Environment(name: "annexe", parent: shop)
    let visits = try annexe.childFactory("visit", seed: Int.self)
    try visits.withChild(3) { _ in }
    #expect(observer.entries.suffix(2) == ["opened visit", "ended visit: 0 beans, completed"])
  }

  @Test("A parent that ends its children reports their ends, innermost first")
  func endsOfParents() throws {
    try shop.addObserver(observer)
    let sessions = try shop.childFactory("session", seed: Int.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    let session = try sessions.build(1)
    _ = try requests.build(2, in: session)
    try shop.shutdown()
    #expect(observer.entries.suffix(2) == ["ended request: 0 beans, completed", "ended session: 0 beans, completed"])
  }

  @Test("An observer that ends the child in its opening sees the end afterwards")
  func endInOpening() throws {
    observer.whenOpened { $0.finish() }
    try shop.addObserver(observer)
    let requests = try shop.childFactory("request", seed: Int.self)
    let child = try requests.build(1)
    #expect(child.isFinished)
    #expect(observer.entries == ["opened request", "ended request: 0 beans, completed"])
  }

  @Test("A child that cannot open is not observed")
  func refusedChild() throws {
    try shop.addObserver(observer)
    let requests = try shop.childFactory("request", seed: Int.self)
    try shop.startup().shutdown()
    try requireFault(.finished) { try requests.build(1) }
    #expect(observer.entries.isEmpty)
  }

  @Test("A child with a scope object is observed")
  func scopeObject() throws {
    try shop.addObserver(observer)
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(Part.self, factory: Part.init)
    } scope: {
      AbstractBeanScope(name: "request")
    }
    try requests.withChild(1) { _ = try $0.getBean(Part.self) }
    #expect(observer.entries == ["opened request", "ended request: 1 beans, completed"])
  }

  @Test("An asynchronous creation is observed with its bean, its environment and its error")
  func creations() async throws {
    try shop.addObserver(observer)
    try shop.define(
      Part.self,
      async: { () async throws -> Part in
        await Task.yield()
        return Part()
      }
    ) { $0.id("pool") }
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(Other.self, async: { () async throws -> Other in throw Boom() })
    }
    try await shop.ready()
    #expect(observer.entries == ["created Part 'pool' in shop"])
    await #expect(throws: EnvironmentError.self) {
      try await requests.withChild(1) { _ = try await $0.getBean(awaiting: Other.self) }
    }
    #expect(observer.entries.contains("Other in request failed"), "\(observer.entries)")
    #expect(observer.entries.last == "ended request: 0 beans, failed")
    try await shop.shutdown()
  }

  @Test("A failed release is observed with the environment of its bean")
  func failedReleases() throws {
    try shop.addObserver(observer)
    try shop.define(Part.self, factory: Part.init) { $0.onDestroy { _ in throw Boom() } }
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(Other.self, factory: Other.init) { $0.onDestroy { _ in throw Boom() } }
    }
    try shop.startup()
    try requireFault(.destructionFailed) { try requests.withChild(1) { _ = try $0.getBean(Other.self) } }
    try requireFault(.destructionFailed) { try shop.shutdown() }
    #expect(
      observer.entries == [
        "opened request", "release failed in request", "ended request: 1 beans, completed", "release failed in shop",
      ])
  }

  @Test("An observer has to be added before startup")
  func frozen() throws {
    try shop.startup()
    let fault = try requireFault(.frozen) { try shop.addObserver(observer) }
    #expect(fault.isFrom(file: #fileID, line: #line - 1))
  }

  @Test("Every opening on many threads has its end")
  func threads() async throws {
    try shop.addObserver(observer)
    let requests = try shop.childFactory("request", seed: Int.self) { try $0.define(Part.self, factory: Part.init) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<200 {
            let child = try requests.build(number)
            _ = try child.getBean(Part.self)
            if task.isMultiple(of: 2) { child.finish() } else { try await child.shutdown() }
          }
        }
      }
      try await group.waitForAll()
    }
    try await shop.shutdown()
    #expect(observer.open.isEmpty)
    #expect(observer.ends.count == 1600)
    #expect(observer.entries.count { $0 == "opened request" } == 1600)
  }
}

/// The end of a child, as an observer receives it.
private struct ChildEnd {
  let outcome: ScopeOutcome
  let beans: Int
  let start: ContinuousClock.Instant
  let duration: Duration
}

private final class Recorder: EnvironmentObserver {
  private let journal: Journal
  private let prefix: String
  private let state = Guarded((open: Set<ObjectIdentifier>(), ends: [ChildEnd]()))
  private let opening = Guarded<@Sendable (Environment) -> Void>({ _ in })

  init(_ other: Recorder? = nil, _ prefix: String = "") {
    journal = other?.journal ?? Journal()
    self.prefix = prefix
  }

  var entries: [String] { journal.entries }
  var open: Set<ObjectIdentifier> { state.withLock { $0.open } }
  var ends: [ChildEnd] { state.withLock { $0.ends } }

  func note(_ line: String) { journal.note(prefix + line) }
  func whenOpened(_ body: @escaping @Sendable (Environment) -> Void) { opening.withLock { $0 = body } }

  func childOpened(_ child: Environment) {
    note("opened \(child.name)")
    _ = state.withLock { $0.open.insert(ObjectIdentifier(child)) }
    opening.withLock { $0 }(child)
  }

  func childEnded(
    _ child: Environment, outcome: ScopeOutcome, beans: Int, start: ContinuousClock.Instant, duration: Duration
  ) {
    let isCompleted = if case .completed = outcome { true } else { false }
    note("ended \(child.name): \(beans) beans, \(isCompleted ? "completed" : "failed")")
    state.withLock {
      $0.open.remove(ObjectIdentifier(child))
      $0.ends.append(ChildEnd(outcome: outcome, beans: beans, start: start, duration: duration))
    }
  }

  func creationEnded(
    of bean: String, declaredAt origin: EnvironmentError.Origin, in environment: Environment, error: (any Error)?,
    start: ContinuousClock.Instant, duration: Duration
  ) {
    note(error == nil ? "created \(bean) in \(environment.name)" : "\(bean) in \(environment.name) failed")
  }

  func releaseFailed(_ failure: any Error, in environment: Environment) {
    note("release failed in \(environment.name)")
  }
}

private final class Part: Sendable {}
private final class Other: Sendable {}
