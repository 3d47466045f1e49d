import Beans
import TestSupport
import Testing

@Suite("Finish", .timeLimit(.minutes(20))) struct FinishSpecification {
  @FreshEnvironment("application") private var application
  private let journal = Journal()

  /// Returns the factory of requests that have the beans "a", "b" and "c", each of which notes its release.
  private func requests(
    of application: Environment, failing: Set<String> = []
  ) throws -> EnvironmentFactory<Int> {
    let journal = journal
    return try application.childFactory("request", seed: Int.self) { child in
      for id in ["a", "b", "c"] {
        try child.define(
          child.bean(Item.self, id: id, factory: { (number: Int) in Item(number) })
            .onDestroy { item in
              journal.note("\(id)\(item.number)")
              if failing.contains(id) { throw Boom(name: id) }
            })
      }
    }
  }

  // MARK: lookups

  @Test("Lookups throw finished from the first finish of the environment on")
  func lookupsThrow() throws {
    let sessions = try application.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    try application.define(application.bean(Other.self, id: "other"))
    let session = try sessions.build("s")
    _ = try session.getBean(Other.self)
    session.finish()
    let lookups: [() throws -> Void] = [
      { _ = try session.getBean(Other.self) },
      { _ = try session.getBean(Other.self, byId: "other") },
      { _ = try session.getBean(Other?.self) },
      { _ = try session.getBean(String.self) },
      { _ = try session.getBeansByType(Other.self) },
      { try session.withBean(Other.self) { _ in } },
      { _ = try requests.build(1, in: session) },
      { try session.startup() },
    ]
    for (index, lookup) in lookups.enumerated() {
      let fault = try requireFault { try lookup() }
      #expect(fault.code == .finished, "lookup \(index)")
    }
    _ = try application.getBean(Other.self)
    try application.shutdown()
  }

  @Test("A lookup through a child of a finished parent throws finished, and resurrects nothing")
  func childOfFinished() throws {
    let sessions = try application.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    try application.define(application.bean(Other.self))
    let session = try sessions.build("s")
    let request = try requests.build(1, in: session)
    let plain = try Environment(name: "plain", parent: application).startup()
    session.finish()
    try requireFault(.finished) { try request.getBean(Other.self) }
    try requireFault(.finished) { try request.getBean(Int.self) }
    _ = try plain.getBean(Other.self)
    application.finish()
    try requireFault(.finished) { try plain.getBean(Other.self) }
    try requireFault(.finished) { try Environment(name: "late", parent: application).startup() }
  }

  @Test("A lookup of an unknown bean in a finished environment is finished, too")
  func unknownInFinished() throws {
    let environment = try Environment().startup()
    environment.finish()
    try requireFault(.finished) { try environment.getBean(Other.self) }
    try requireFault(.finished) { try environment.getBean(Other.self, byId: "nowhere") }
  }

  // MARK: order

  @Test("Releases run in reverse order of creation, not of declaration; unbuilt beans are not released")
  func reverseOrder() throws {
    let child = try requests(of: application).build(1)
    _ = try child.getBean(Item.self, byId: "c")
    _ = try child.getBean(Item.self, byId: "a")
    child.finish()
    #expect(journal.entries == ["a1", "c1"])
    try application.shutdown()
    #expect(journal.entries == ["a1", "c1"])
  }

  @Test("A bean is released before those it was built from")
  func dependenciesLast() throws {
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Holder.self, factory: Holder.init).onDestroy { _ in journal.note("holder") })
      try child.define(child.bean(Other.self).onDestroy { _ in journal.note("other") })
    }
    try requests.withChild(1) { child in _ = try child.getBean(Holder.self) }
    #expect(journal.entries == ["holder", "other"])
  }

  @Test("A scope without a loop is released before finish returns, and finish is idempotent")
  func idempotent() throws {
    let child = try requests(of: application).build(1)
    _ = try child.getBean(Item.self, byId: "b")
    child.finish()
    #expect(journal.entries == ["b1"])
    child.finish()
    try child.shutdown()
    #expect(journal.entries == ["b1"])
  }

  @Test("finish may be called from any thread and by many at once: each bean is released once")
  func manyFinishes() throws {
    let requests = try requests(of: application)
    try application.startup()
    for number in 0..<50 {
      let child = try requests.build(number)
      for id in ["a", "b", "c"] { _ = try child.getBean(Item.self, byId: id) }
      let meeting = MeetingPoint(of: 3)
      let threads = (0..<3).map { _ in
        BackgroundThread {
          try meeting.arriveAndWait()
          child.finish()
        }
      }
      for thread in threads { try thread.value() }
      try child.shutdown()
    }
    #expect(journal.entries.count == 150)
    #expect(Set(journal.entries).count == 150)
    try application.shutdown()
  }

  @Test("The finish of one child affects neither its siblings nor its parent")
  func siblings() throws {
    let requests = try requests(of: application)
    let first = try requests.build(1)
    let second = try requests.build(2)
    _ = try first.getBean(Item.self, byId: "a")
    let item = try second.getBean(Item.self, byId: "a")
    first.finish()
    #expect(journal.entries == ["a1"])
    #expect(try second.getBean(Item.self, byId: "a") === item)
    try application.shutdown()
  }

  @Test("Children finish before their parents")
  func childrenFirst() throws {
    let journal = journal
    let sessions = try application.childFactory("session", seed: String.self) { child in
      try child.define(child.bean(Other.self).onDestroy { _ in journal.note("session") })
    }
    let requests = try sessions.childFactory("request", seed: Int.self) { child in
      try child.define(
        child.bean(Item.self, factory: { (number: Int) in Item(number) })
          .onDestroy { journal.note("request \($0.number)") })
    }
    let session = try sessions.build("s")
    let first = try requests.build(1, in: session)
    let second = try requests.build(2, in: session)
    _ = try first.getBean(Item.self)
    _ = try second.getBean(Item.self)
    _ = try session.getBean(Other.self)
    session.finish()
    #expect(Set(journal.entries.prefix(2)) == ["request 1", "request 2"])
    #expect(journal.entries.last == "session")
    #expect(journal.entries.count == 3)
    try application.shutdown()
  }

  // MARK: releases

  @Test("preDestroy comes before .onDestroy")
  func preDestroyFirst() throws {
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(
        child.bean(Disposable.self, factory: { Disposable(journal: journal) })
          .onDestroy { _ in journal.note("onDestroy") })
    }
    try requests.withChild(1) { child in _ = try child.getBean(Disposable.self) }
    #expect(journal.entries == ["preDestroy", "onDestroy"])
  }

  @Test("A failing preDestroy does not keep .onDestroy from running")
  func failingPreDestroy() throws {
    let journal = journal
    try application.define(
      application.bean(Disposable.self, factory: { Disposable(journal: journal, isFailing: true) })
        .onDestroy { _ in journal.note("onDestroy") })
    try application.startup()
    try requireFault(.destructionFailed, causes: [Boom(name: "preDestroy")]) { try application.shutdown() }
    #expect(journal.entries == ["preDestroy", "onDestroy"])
  }

  @Test("Prototypes are not tracked, and the container does not release them")
  func prototypes() throws {
    let environment = try Environment()
    let journal = journal
    try environment.define(
      environment.bean(Disposable.self, factory: { Disposable(journal: journal) }).scope("prototype")
        .onDestroy { _ in journal.note("onDestroy") })
    _ = try environment.getBean(Disposable.self)
    try environment.shutdown()
    #expect(journal.entries.isEmpty)
  }

  @Test("A lookup from inside a release throws finished")
  func lookupInRelease() throws {
    let codes = Captured<[EnvironmentError.Code?]>()
    codes.value = []
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Other.self))
      try child.define(
        child.bean(Located.self, factory: Located.init)
          .onDestroy { located in
            for lookup in [
              { _ = try located.environment.getBean(Other.self) },
              { _ = try located.environment.getBean(Located.self) },
              { _ = try located.environment.getBeansByType(Other.self) },
            ] as [() throws -> Void] {
              do {
                try lookup()
                codes.value?.append(nil)
              } catch let error as EnvironmentError {
                codes.value?.append(error.code)
              }
            }
          })
    }
    let child = try requests.build(1)
    _ = try child.getBean(Located.self)
    _ = try child.getBean(Other.self)
    try child.shutdown()
    #expect(codes.value == [.finished, .finished, .finished])
    try application.shutdown()
  }

  @Test("A release may call finish and shutdown of its own environment: they return at once")
  func finishInRelease() throws {
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Other.self).onDestroy { _ in journal.note("other") })
      try child.define(
        child.bean(Located.self, factory: Located.init)
          .onDestroy { located in
            located.environment.finish()
            try located.environment.shutdown()
            journal.note("located")
          })
    }
    let child = try requests.build(1)
    try BackgroundThread {
      _ = try child.getBean(Other.self)
      _ = try child.getBean(Located.self)
      try child.shutdown()
    }.value()
    #expect(journal.entries == ["located", "other"])
    try application.shutdown()
  }

  @Test("Every release runs even if others throw; finish itself does not throw, the next shutdown does, once")
  func failuresOfFinish() throws {
    let child = try requests(of: application, failing: ["b"]).build(1)
    for id in ["a", "b", "c"] { _ = try child.getBean(Item.self, byId: id) }
    child.finish()
    #expect(journal.entries == ["c1", "b1", "a1"])
    try requireFault(.destructionFailed, causes: [Boom(name: "b")]) { try child.shutdown() }
    try child.shutdown()
    try application.shutdown()
    #expect(journal.entries == ["c1", "b1", "a1"])
  }
}

private final class Item: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

private final class Other: Initializable { init() {} }

private final class Holder {
  init(other: Other) {}
}

private final class Located {
  let environment: Environment
  init(environment: Environment) { self.environment = environment }
}

private final class Disposable: DisposableBean {
  let journal: Journal
  let isFailing: Bool
  init(journal: Journal, isFailing: Bool = false) {
    self.journal = journal
    self.isFailing = isFailing
  }
  func preDestroy() throws {
    journal.note("preDestroy")
    if isFailing { throw Boom(name: "preDestroy") }
  }
}
