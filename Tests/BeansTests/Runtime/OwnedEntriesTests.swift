import Testing

@testable import Beans

@Suite struct OwnedEntriesTests {
  @Test func aFailedBuildKeepsNoEntry() throws {
    let environment = try Environment(name: "shop")
    try environment
      .define(environment.bean(Part.self, factory: { Part() }).scope("prototype"))
      .define(environment.bean(Whole.self, factory: { (part: Part) in try Whole(part) }).scope("prototype"))
    for _ in 0..<3 {
      #expect(throws: EnvironmentError.self) { try environment.getBean(Owned<Whole>.self) }
    }
    #expect(environment.extras.takeOwned().isEmpty)
    try environment.shutdown()
  }
}

private final class Part: DisposableBean, Sendable {
  func preDestroy() {}
}

private final class Whole: Sendable {
  init(_ part: Part) throws { throw EnvironmentError(.creationFailed, "no whole") }
}
