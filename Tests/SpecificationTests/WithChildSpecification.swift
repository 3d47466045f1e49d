import Beans
import Testing

@Suite("withChild and the current environment", .timeLimit(.minutes(20))) struct WithChildSpecification {
  @FreshEnvironment("application") private var application
  private let journal = Journal()

  private func requests(of application: Environment) throws -> EnvironmentFactory<Int> {
    let journal = journal
    return try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Item.self).onDestroy { _ in journal.note("released") })
    }
  }

  @Test("No environment is current outside withChild")
  func noCurrent() throws {
    #expect(Environment.current == nil)
    let child = try requests(of: application).build(1)
    #expect(Environment.current == nil)
    try child.shutdown()
  }

  @Test("withChild makes the child current while its body runs, and returns the result of the body")
  func current() throws {
    let number = try requests(of: application).withChild(5) { child in
      #expect(Environment.current === child)
      return try child.getBean(Int.self)
    }
    #expect(number == 5)
    #expect(Environment.current == nil)
  }

  @Test("withChild finishes the child and releases its beans before it returns")
  func finishes() throws {
    let child = try requests(of: application).withChild(1) { child in
      _ = try child.getBean(Item.self)
      #expect(journal.entries.isEmpty)
      return child
    }
    #expect(journal.entries == ["released"])
    try requireFault(.finished) { try child.getBean(Item.self) }
  }

  @Test("withChild finishes the child even if its body throws, and throws its error")
  func bodyThrows() throws {
    let requests = try requests(of: application)
    #expect(throws: Boom()) {
      try requests.withChild(1) { child in
        _ = try child.getBean(Item.self)
        throw Boom()
      }
    }
    #expect(journal.entries == ["released"])
    #expect(Environment.current == nil)
  }

  @Test("withChild inside withChild makes the inner child current, then the outer one again")
  func nested() throws {
    let sessions = try application.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    try sessions.withChild("s") { session in
      try requests.withChild(1, in: session) { request in
        #expect(Environment.current === request)
        #expect(request.parent === session)
      }
      #expect(Environment.current === session)
    }
    #expect(Environment.current == nil)
  }

  @Test("withChild of a nested factory without its parent throws and does not run its body")
  func missingParent() throws {
    let sessions = try application.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    let entered = Counter()
    try requireFault { try requests.withChild(1) { _ in entered.increment() } }
    #expect(entered.value == 0)
  }

  @Test("The child is current across suspensions, and in child tasks")
  func currentAcrossSuspensions() async throws {
    try await requests(of: application).withChild(1) { child in
      await Task.yield()
      #expect(Environment.current === child)
      async let inTask = Environment.current
      let seen = await inTask
      #expect(seen === child)
    }
    #expect(Environment.current == nil)
  }

  @Test("withChild finishes the child when its asynchronous body returns or throws")
  func asyncFinishes() async throws {
    let requests = try requests(of: application)
    let child = try await requests.withChild(1) { child in
      await Task.yield()
      _ = try child.getBean(Item.self)
      return child
    }
    #expect(journal.entries == ["released"])
    try requireFault(.finished) { try child.getBean(Item.self) }
    await #expect(throws: Boom()) {
      try await requests.withChild(2) { child in
        _ = try child.getBean(Item.self)
        await Task.yield()
        throw Boom()
      }
    }
    #expect(journal.entries == ["released", "released"])
  }

  @Test("withChild finishes the child when its task is cancelled")
  func cancelled() async throws {
    let requests = try requests(of: application)
    let (entered, entry) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await requests.withChild(1) { child in
        _ = try child.getBean(Item.self)
        entry.finish()
        try await Task.sleep(for: .seconds(3600))
      }
    }
    for await _ in entered {}
    task.cancel()
    let outcome = await task.result
    #expect(throws: CancellationError.self) { try outcome.get() }
    #expect(journal.entries == ["released"])
  }

  @Test("Parallel children do not see each other")
  func parallel() async throws {
    let requests = try requests(of: application)
    let numbers = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await requests.withChild(number) { child in
            await Task.yield()
            let seen = try Environment.current?.getBean(Int.self)
            return try seen == number && child.getBean(Int.self) == number
          }
        }
      }
      return try await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(numbers.count == 50 && numbers.allSatisfy { $0 })
  }

  /// Counts visits in its own state.
  private actor Visits {
    private var count = 0

    func visit(_ requests: EnvironmentFactory<Int>) async throws -> Int {
      try await requests.withChild(1) { child in
        count += try child.getBean(Int.self)
        await Task.yield()
        return count
      }
    }
  }

  @Test("The asynchronous body runs on the actor that calls withChild, and uses its state")
  func bodyOfAnActor() async throws {
    let (requests, visits) = (try requests(of: application), Visits())
    #expect(try await visits.visit(requests) == 1)
    #expect(try await visits.visit(requests) == 2)
  }

  @Test("The asynchronous body runs on the main actor if withChild is called there") @MainActor
  func bodyOfTheMainActor() async throws {
    var seen = 0
    try await requests(of: application).withChild(3) { child in
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
      seen = try child.getBean(Int.self)
    }
    #expect(seen == 3)
  }
}

private final class Item: Initializable { init() {} }
