import Beans
@_spi(BeansPackage) import BeansErrors
import BeansSessions
import BeansTesting
import Dispatch
import TestSupport
import Testing

@Suite("The end of a test environment") struct EndTests {
  final class Fragile: DisposableBean, Sendable {
    func preDestroy() throws { throw Boom() }
  }

  @Test("A test that leaves nothing behind has no issue; asynchronous releases are awaited")
  func clean() async throws {
    final class Slow: AsyncDisposableBean, Sendable {
      let journal: Journal
      init(_ journal: Journal) { self.journal = journal }
      func preDestroy() async throws {
        await Task.yield()
        journal.note("released")
      }
    }
    let journal = Journal()
    let answer = try await withTestEnvironment({ environment in
      try environment.define(environment.bean(Slow.self, factory: { Slow(journal) }))
    }) { environment in
      _ = try environment.getBean(Slow.self)
      return 7
    }
    #expect(answer == 7)
    #expect(journal.entries == ["released"])
  }

  @Test("Each release that failed is an issue at the declaration, in children that have long ended, too")
  func failures() async throws {
    let line = #line + 3
    let found = await issues {
      try await withTestEnvironment({ environment in
        try environment.define(environment.bean(Fragile.self, id: "outer", factory: { Fragile() }))
        let inner = try environment.childFactory("inner", seed: Void.self) {
          try $0.define($0.bean(Fragile.self, id: "inner", factory: { Fragile() }))
        }
        try environment.define(environment.bean(inner))
      }) { environment in
        let child = try environment.getBean(EnvironmentFactory<Void>.self).build(())
        _ = try child.getBean(Fragile.self)
        child.finish()
      }
    }
    #expect(found.count == 2)
    #expect(found.map(\.line) == [line + 2, line])
    #expect(found.first?.text.contains("Fragile 'inner' could not be released") == true)
    #expect(found.last?.text.contains("Fragile 'outer' could not be released") == true)
  }

  @Test("A child environment that has not ended is an issue at its factory, unless the test allows it")
  func openChildren() async throws {
    let line = #line + 2
    @Sendable func declare(_ library: Environment) throws {
      try library.define(library.bean(library.childFactory("visit", seed: Int.self)))
    }
    func leave(_ overriding: (inout TestOverrides) throws -> Void = { _ in }) async -> [Issue] {
      await issues {
        try await withTestEnvironment(declare, overriding: overriding) { library in
          _ = try library.getBean(EnvironmentFactory<Int>.self).build(1)
        }
      }
    }
    let found = await leave()
    #expect(found.count == 1)
    #expect(found.first?.line == line)
    #expect(found.first?.text.contains("'visit' is still open: finish it before the test ends") == true)
    #expect(await leave { $0.allowOpen("visit") }.isEmpty)
  }

  @Test("A session may be open, because its sessions end it in time; a request inside of it may not")
  func openSessions() async throws {
    @Sendable func declare(_ library: Environment) throws {
      let visits = try library.childFactory("session", seed: Void.self) { _ in }
      let requests = try visits.childFactory("request", seed: Int.self) { _ in }
      try library.define(instance: Sessions(visits)).define(instance: requests)
    }
    func requests(endsRequest: Bool) async -> [Issue] {
      await issues {
        try await withTestEnvironment(declare) { library in
          let sessions = try library.getBean(Sessions<Void>.self)
          let requests = try library.getBean(EnvironmentFactory<Int>.self)
          let request = try sessions.withSession(sessions.newId(), opening: ()) { try requests.build(1, in: $0) }
          if endsRequest { request.finish() }
        }
      }
    }
    #expect(await requests(endsRequest: true).isEmpty)
    let found = await requests(endsRequest: false)
    #expect(found.count == 1)
    #expect(found.first?.text.contains("'session' → 'request' is still open") == true)
  }

  @Test("An instance that is still referenced after its scope has ended is an issue at its declaration")
  func leaks() async throws {
    let kept = Locked<[Library.Database]>([])
    let line = #line + 4
    func keep(_ overriding: (inout TestOverrides) throws -> Void = { _ in }) async -> [Issue] {
      await issues {
        try await withTestEnvironment(
          { try $0.define($0.bean(Library.Database.self, factory: Library.Database.init)) }, overriding: overriding
        ) { environment in
          let database = try environment.getBean(Library.Database.self)
          kept.withLock { $0.append(database) }
        }
      }
    }
    let found = await keep()
    #expect(found.count == 1)
    #expect(found.first?.line == line + 0)
    #expect(found.first?.text.contains("Database is still referenced although 'test' has ended") == true)
    #expect(await keep { $0.allowReferences(to: Library.Database.self) }.isEmpty)
    // The test may keep objects that it has made itself.
    #expect(await keep { $0.override(Library.Database.self) { Library.Database() } }.isEmpty)
  }

  @Test("A bean of a request that a longer-lived one keeps is an issue, long after the request")
  func leaksOfChildren() async throws {
    final class Archive: Sendable {
      let loans = Locked<[Library.Loan]>([])
    }
    let archive = Archive()
    let found = await issues {
      try await withTestEnvironment({ library in
        try Library.declare(library)
        try library.define(library.bean(archive))
      }) { library in
        let visits = try library.getBean(Library.Visits.self).factory
        for name in ["Ada", "Grace"] {
          try visits.withChild(Library.Reader(name: name)) { visit in
            let (archive, loan) = try (visit.getBean(Archive.self), visit.getBean(Library.Loan.self))
            if name == "Ada" { archive.loans.withLock { $0.append(loan) } }
          }
        }
      }
    }
    // The loan, and the calendar that it holds.
    #expect(found.map(\.text).filter { $0.contains("Loan is still referenced although 'visit' has ended") }.count == 1)
    #expect(archive.loans.withLock { $0.count } == 1)
  }

  @Test("An object that another thread is about to drop is no issue")
  func lateReferences() async throws {
    let found = await issues {
      try await withTestEnvironment(Library.declare) { library in
        let database = try library.getBean(Library.Database.self)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { withExtendedLifetime(database) {} }
      }
    }
    #expect(found.isEmpty, "\(found.map(\.text))")
  }

  @Test("An instance that was handed in is not released")
  func instances() async throws {
    let database = Library.Database()
    try await withTestEnvironment({ try $0.define($0.bean(database)) }) { environment in
      try #expect(environment.getBean(Library.Database.self) === database)
    }
    withExtendedLifetime(database) {}
  }

  @Test("An error of the body is thrown after the environment has ended")
  func throwing() async throws {
    let seen = Locked<Environment?>(nil)
    await #expect(throws: Boom.self) {
      try await withTestEnvironment(Library.declare) { library in
        seen.withLock { $0 = library }
        throw Boom()
      }
    }
    #expect(seen.withLock { $0?.isFinished } == true)
  }

  @Test("Faults of the declarations are thrown, and nothing runs")
  func faults() async throws {
    let error = await #expect(throws: EnvironmentError.self) {
      try await withTestEnvironment({ try $0.define($0.bean(Library.OakShelf.self, factory: Library.OakShelf.init)) }) {
        _ in Issue.record("the body ran")
      }
    }
    #expect(error?.code == .unknownBean)
  }
}
