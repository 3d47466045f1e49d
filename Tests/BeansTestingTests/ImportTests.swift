import Beans
// Without `import Testing`: each function of the module whose default argument is the place of its call compiles.
import BeansTesting

@Suite("A file that imports BeansTesting alone") struct ImportTests {
  private final class Clerk {}

  private static func declare(_ shop: Environment) throws { try shop.define(Clerk.self, factory: Clerk.init) }

  @Test("The testing library comes with the module", .beans(declare) { $0.override(Clerk.self) { Clerk() } })
  func traits() throws {
    _ = try Test.environment.getBean(Clerk.self)
    checkGraph(Self.declare)
  }

  @Test("An environment of one test needs no other import")
  func function() async throws {
    try await withTestEnvironment(Self.declare) { _ = try $0.getBean(Clerk.self) }
  }
}
