import Beans
import TestSupport
import Testing

/// Asynchronous code gets the asynchronous form of a call, whether or not its closure awaits. The file is compiled twice: see
/// `NonsendingTests`.
@Suite("Calls with two forms, in asynchronous code", .timeLimit(.minutes(20))) struct AsynchronousFormSpecification {
  private let released = Journal()

  /// A shop whose requests have a bean with an asynchronous release, which only an asynchronous form awaits.
  private func requests() throws -> EnvironmentFactory<Int> {
    let released = released
    let shop = try Environment(name: "shop")
    return try shop.childFactory("request", seed: Int.self) { request in
      try request.define(Work.self, factory: Work.init) {
        $0.onDestroy { _ in
          await Task.yield()
          released.note("released")
        }
      }
    }
  }

  private func expectReleased(_ count: Int) {
    #expect(released.entries == Array(repeating: "released", count: count))
  }

  @Test("In a function")
  func functions() async throws {
    let requests = try requests()
    try await requests.withChild(1) { child in _ = try child.getBean(Work.self) }
    expectReleased(1)
    let handle = try requests.open(2)
    try await handle.withCurrent { child in _ = try child.getBean(Work.self) }
    try await handle.end()
    expectReleased(2)
    try await requests.open(3).end { child in _ = try child.getBean(Work.self) }
    expectReleased(3)
    let other = try requests.build(4)
    _ = try other.getBean(Work.self)
    try await other.shutdown()
    expectReleased(4)
  }

  @Test("In closures and tasks")
  func closures() async throws {
    let requests = try requests()
    let body: @Sendable () async throws -> Void = {
      try await requests.withChild(1) { child in _ = try child.getBean(Work.self) }
    }
    try await body()
    expectReleased(1)
    try await Task { try await requests.withChild(2) { child in _ = try child.getBean(Work.self) } }.value
    expectReleased(2)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await requests.open(3).end { child in _ = try child.getBean(Work.self) } }
      try await group.waitForAll()
    }
    expectReleased(3)
  }

  private actor Desk {
    private var count = 0

    func serve(_ requests: EnvironmentFactory<Int>) async throws -> Int {
      try await requests.withChild(1) { child in
        _ = try child.getBean(Work.self)
        count += 1
      }
      return count
    }
  }

  @MainActor private func onTheMainActor(_ requests: EnvironmentFactory<Int>) async throws {
    try await requests.withChild(2) { child in _ = try child.getBean(Work.self) }
  }

  @Test("In actors, whose state the closure may use")
  func actors() async throws {
    let requests = try requests()
    #expect(try await Desk().serve(requests) == 1)
    expectReleased(1)
    try await onTheMainActor(requests)
    expectReleased(2)
  }
}

private final class Work: Sendable {}
