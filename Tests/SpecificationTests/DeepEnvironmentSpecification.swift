import Beans
import Testing

@Suite("Environments deep in each other")
struct DeepEnvironmentSpecification {
  @Test("A child 1,000 levels deep opens, and finds the beans of each level by type and by id")
  func lookups() throws {
    let depth = 1_000
    let environment = try Environment()
    try environment.define(environment.bean(Root.self, id: "root", factory: Root.init))
    var factories: [EnvironmentFactory<Int>] = []
    for number in 0..<depth {
      func declare(_ level: Environment) throws {
        try level.define(level.bean(Level.self, id: "level \(number)", factory: Level.init))
      }
      let name = "level \(number)"
      let outer = factories.last
      factories.append(
        try outer?.childFactory(name, seed: Int.self, configure: declare)
          ?? environment.childFactory(name, seed: Int.self, configure: declare))
    }
    try environment.startup()
    var children: [Environment] = []
    for (number, factory) in factories.enumerated() {
      children.append(try factory.build(number, in: children.last ?? environment))
    }
    let deepest = try #require(children.last)
    #expect(try deepest.getBean(Level.self).number == depth - 1)
    #expect(try deepest.getBean(Root.self) === environment.getBean(Root.self))
    #expect(try deepest.getBean(Root.self, byId: "root") === environment.getBean(Root.self))
    for number in stride(from: 0, to: depth, by: 9) {
      let level = try deepest.getBean(Level.self, byId: "level \(number)")
      #expect(level.number == number)
      #expect(try level === children[number].getBean(Level.self))
    }
    try requireFault(.unknownBean) { try deepest.getBean(Level.self, byId: "level \(depth)") }
    for child in children.reversed() { child.finish() }
    environment.finish()
  }
}

private final class Root {}

private final class Level {
  let number: Int
  init(number: Int) { self.number = number }
}
