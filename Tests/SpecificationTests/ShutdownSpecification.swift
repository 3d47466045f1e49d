import Beans
import TestSupport
import Testing

@Suite("Shutdown", .timeLimit(.minutes(20))) struct ShutdownSpecification {
  @FreshEnvironment private var environment
  private let journal = Journal()

  private func define(_ names: [String], in environment: Environment, failing: Set<String> = []) throws {
    let journal = journal
    for name in names {
      try environment.define(
        environment.bean(Item.self, id: name, factory: { Item() })
          .onDestroy { _ in
            journal.note(name)
            if failing.contains(name) { throw Boom(name: name) }
          })
    }
  }

  @Test("shutdown releases everything, in reverse order of creation, exactly once")
  func releasesAll() throws {
    try define(["a", "b", "c"], in: environment)
    try environment.startup()
    try environment.shutdown()
    #expect(journal.entries == ["c", "b", "a"])
    try environment.shutdown()
    environment.finish()
    #expect(journal.entries == ["c", "b", "a"])
    try requireFault(.finished) { try environment.getBean(Item.self, byId: "a") }
  }

  @Test("shutdown finishes the whole subtree, children before parents")
  func subtree() throws {
    let application = try Environment(name: "application")
    let tenant = try Environment(name: "tenant", parent: application)
    let session = try Environment(name: "session", parent: tenant)
    try define(["application"], in: application)
    try define(["tenant"], in: tenant)
    try define(["session"], in: session)
    try session.startup()
    try application.shutdown()
    #expect(journal.entries == ["session", "tenant", "application"])
    for environment in [application, tenant, session] {
      try requireFault(.finished) { try environment.getBeansByType(Item.self) }
    }
  }

  @Test("The shutdown of a child leaves its parent alive")
  func childOnly() throws {
    let application = try Environment(name: "application")
    let child = try Environment(name: "child", parent: application)
    try define(["application"], in: application)
    try define(["child"], in: child)
    try child.startup()
    try child.shutdown()
    #expect(journal.entries == ["child"])
    _ = try application.getBean(Item.self)
    try application.shutdown()
    #expect(journal.entries == ["child", "application"])
  }

  @Test("A forgotten child is released by its parent's shutdown at the latest")
  func forgottenChild() throws {
    let application = try Environment(name: "application")
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Item.self, factory: { Item() }).onDestroy { _ in journal.note("request") })
    }
    try define(["application"], in: application)
    _ = try requests.build(1).getBean(Item.self)
    #expect(journal.entries.isEmpty)
    try application.shutdown()
    #expect(journal.entries == ["request", "application"])
  }

  @Test("An instance handed in is released like any other")
  func readyInstance() throws {
    let journal = journal
    try environment.define(environment.bean(Item()).onDestroy { _ in journal.note("instance") })
    try environment.define(environment.bean(Disposable(journal: journal, name: "disposable")))
    try environment.startup()
    try environment.shutdown()
    #expect(journal.entries.sorted() == ["disposable", "instance"])
  }

  @Test("Lazy beans that were never built are not built for their release")
  func unusedLazy() throws {
    let built = Counter()
    let journal = journal
    try environment.define(
      environment.bean(Item.self, lazy: true, factory: { built.counting(Item()) })
        .onDestroy { _ in journal.note("released") })
    try environment.startup()
    try environment.shutdown()
    #expect(built.value == 0)
    #expect(journal.entries.isEmpty)
  }

  @Test("An environment that was never started may be shut down, and cannot be started afterwards")
  func neverStarted() throws {
    let built = Counter()
    try environment.define(environment.bean(Item.self, factory: { built.counting(Item()) }))
    try environment.shutdown()
    try requireFault(.finished) { try environment.startup() }
    try requireFault(.finished) { try environment.getBean(Item.self) }
    #expect(built.value == 0)
  }

  @Test("shutdown may come from many threads at once: everything is released once")
  func manyThreads() throws {
    try define((0..<20).map(String.init), in: environment)
    try environment.startup()
    let meeting = MeetingPoint(of: 4)
    let threads = (0..<4).map { _ in
      BackgroundThread {
        try meeting.arriveAndWait()
        try environment.shutdown()
      }
    }
    for thread in threads { try thread.value() }
    #expect(journal.entries == (0..<20).reversed().map(String.init))
  }

  // MARK: failures

  @Test("One failing release is thrown as destructionFailed, with its error and its bean")
  func oneFailure() throws {
    try define(["a", "b", "c"], in: environment, failing: ["b"])
    try environment.startup()
    let fault = try requireFault(.destructionFailed, causes: [Boom(name: "b")]) { try environment.shutdown() }
    #expect(journal.entries == ["c", "b", "a"])
    #expect(fault.description.contains("Item"))
    #expect(fault.description.contains("'b'") || fault.description.contains("\"b\"") || fault.passes("b"))
    #expect(fault.origin?.file == #fileID)
  }

  @Test("Several failing releases are one error that holds all")
  func severalFailures() throws {
    try define(["a", "b", "c"], in: environment, failing: ["a", "c"])
    try environment.startup()
    let fault = try requireFault(.destructionFailed) { try environment.shutdown() }
    #expect(journal.entries == ["c", "b", "a"])
    #expect(fault.underlying.count == 2)
    #expect(fault.causes.map(\.name).sorted() == ["a", "c"])
  }

  @Test("A failing release in a child prevents the release of neither its siblings nor its parent")
  func failureInChild() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    let first = try Environment(name: "first", parent: application)
    let second = try Environment(name: "second", parent: application)
    try define(["application"], in: application, failing: ["application"])
    try define(["first"], in: first, failing: ["first"])
    try define(["second"], in: second)
    try first.startup()
    try second.startup()
    let fault = try requireFault(.destructionFailed) { try application.shutdown() }
    #expect(journal.entries.sorted() == ["application", "first", "second"])
    #expect(journal.entries.last == "application")
    #expect(fault.causes.map(\.name).sorted() == ["application", "first"])
  }

  @Test("A failure is thrown once: a second shutdown returns")
  func thrownOnce() throws {
    try define(["a"], in: environment, failing: ["a"])
    try environment.startup()
    try requireFault(.destructionFailed) { try environment.shutdown() }
    try environment.shutdown()
    #expect(journal.entries == ["a"])
  }

  // MARK: asynchronous releases

  @Test("shutdown() async awaits asynchronous releases in their place in the order")
  func asynchronous() async throws {
    let journal = journal
    try define(["a"], in: environment)
    try environment.define(environment.bean(AsyncItem.self, factory: { AsyncItem(journal: journal) }))
    try define(["b"], in: environment)
    try environment.startup()
    try await environment.shutdown()
    #expect(journal.entries == ["b", "async begins", "async ends", "a"])
    try await environment.shutdown()
    #expect(journal.entries.count == 4)
  }

  @Test("shutdown() async awaits the asynchronous releases of children before it releases the parent's beans")
  func asynchronousChildren() async throws {
    let application = try Environment(name: "application")
    let journal = journal
    try define(["application"], in: application)
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(AsyncItem.self, factory: { AsyncItem(journal: journal) }))
    }
    _ = try requests.build(1).getBean(AsyncItem.self)
    try await application.shutdown()
    #expect(journal.entries == ["async begins", "async ends", "application"])
  }

  @Test("shutdown() async throws the error of an asynchronous release when all others have run")
  func failingAsynchronous() async throws {
    let journal = journal
    try define(["a"], in: environment)
    try environment.define(environment.bean(AsyncItem.self, factory: { AsyncItem(journal: journal, isFailing: true) }))
    try environment.startup()
    let fault = await #expect(throws: EnvironmentError.self) { try await environment.shutdown() }
    #expect(fault?.code == .destructionFailed)
    #expect(fault?.causes == [Boom(name: "async")])
    #expect(journal.entries == ["async begins", "async ends", "a"])
  }

  @Test("shutdown() async releases synchronous beans as well, and reports their failures")
  func synchronousInAsync() async throws {
    try define(["a", "b"], in: environment, failing: ["b"])
    try environment.startup()
    try await requireAwaitedFault(causes: [Boom(name: "b")]) { try await environment.shutdown() }
    #expect(journal.entries == ["b", "a"])
  }

  @Test(
    "A synchronous shutdown that meets an asynchronous release releases all others, then throws an error that names it")
  func asynchronousInSync() throws {
    let journal = journal
    try define(["a"], in: environment)
    try environment.define(environment.bean(AsyncItem.self, factory: { AsyncItem(journal: journal) }))
    try define(["b"], in: environment)
    try environment.startup()
    try requireFault(description: "AsyncItem") { try environment.shutdown() }
    // A task releases the other one.
    #expect(journal.entries.filter { !$0.hasPrefix("async") } == ["b", "a"])
  }
}

private final class Item {}

private final class Disposable: DisposableBean {
  let journal: Journal
  let name: String
  init(journal: Journal, name: String) {
    self.journal = journal
    self.name = name
  }
  func preDestroy() throws { journal.note(name) }
}

private final class AsyncItem: AsyncDisposableBean, Sendable {
  let journal: Journal
  let isFailing: Bool
  init(journal: Journal, isFailing: Bool = false) {
    self.journal = journal
    self.isFailing = isFailing
  }
  func preDestroy() async throws {
    journal.note("async begins")
    await Task.yield()
    journal.note("async ends")
    if isFailing { throw Boom(name: "async") }
  }
}
