import Beans
import Testing

@Suite("Statistics", .timeLimit(.minutes(20)))
struct ScopeStatisticsSpecification {
  @FreshEnvironment("root") private var environment

  private func counts(_ environment: Environment, _ scope: String) -> ScopeStatistics? {
    environment.statistics().first { $0.scope == scope }
  }

  @Test(
    "Opened, finished, created and released are counted in any order of ends",
    arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]])
  func theOrderOfTheEndsDoesNotMatter(order: [Int]) throws {
    let factory = try environment.childFactory("request", seed: Int.self, configure: { try $0.define($0.bean("text")) })
    let children = try (0..<3).map { try factory.build($0) }
    for child in children { _ = try child.getBean(String.self) }
    #expect(counts(environment, "request")?.opened == 3)
    #expect(counts(environment, "request")?.finished == 0)
    for number in order { children[number].finish() }
    let request = try #require(counts(environment, "request"))
    #expect(request.opened == 3)
    #expect(request.finished == 3)
    #expect(request.created == 3)
    #expect(request.released == 3)
    #expect(counts(environment, "root")?.opened == 1)
    try environment.shutdown()
    #expect(counts(environment, "root")?.finished == 1)
  }

  @Test("Nested scopes are counted once")
  func nestedScopesAreCountedOnce() throws {
    let sessions = try environment.childFactory("session", seed: Void.self)
    let requests = try sessions.childFactory("request", seed: Void.self)
    let session = try sessions.build(())
    let first = try requests.build((), in: session)
    _ = try requests.build((), in: session)
    #expect(counts(environment, "session")?.opened == 1)
    #expect(counts(environment, "request")?.opened == 2)
    first.finish()
    #expect(counts(environment, "request")?.finished == 1)
    session.finish()
    #expect(counts(environment, "session")?.finished == 1)
    #expect(counts(environment, "request").map { [$0.opened, $0.finished] } == [2, 2])
    try environment.shutdown()
  }

  @Test("Children of several factories are counted by scope")
  func siblingsOfSeveralFactories() throws {
    let a = try environment.childFactory("a", seed: Void.self)
    let b = try environment.childFactory("b", seed: Void.self)
    for _ in 0..<5 {
      try a.withChild(()) { _ in try b.withChild(()) { _ in } }
    }
    #expect(counts(environment, "a").map { [$0.opened, $0.finished] } == [5, 5])
    #expect(counts(environment, "b").map { [$0.opened, $0.finished] } == [5, 5])
    try environment.shutdown()
  }

  /// The plan of a plain child dies with it, and the next one may get its address.
  @Test("Plain children are counted each, one after the other")
  func plainChildrenOneAfterTheOther() throws {
    try environment.startup()
    for number in 0..<50 { try Environment(name: "child \(number)", parent: environment).startup().shutdown() as Void }
    let all = environment.statistics().filter { $0.scope != "root" }
    #expect(all.count == 50)
    #expect(all.allSatisfy { $0.opened == 1 && $0.finished == 1 })
    try environment.shutdown()
  }
}
