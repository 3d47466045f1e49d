import Beans
import Testing

/// Graphs large enough to be read ahead have the same results as small ones.
@Suite("Large graphs") struct LargeGraphSpecification {
  private final class Leaf: Sendable {}

  private final class Branch: Sendable {
    let leaves: [Leaf]

    init(_ first: Leaf, _ second: Leaf, _ third: Leaf) { leaves = [first, second, third] }
  }

  private static let count = 3_000

  private func declare(in environment: Environment, leavesOf branch: (Int) -> [String]) throws {
    for number in 0..<Self.count {
      let ids = branch(number)
      try environment.define(
        environment.bean(Branch.self, id: "branch-\(number)", factory: Branch.init)
          .argument(0, ref: ids[0]).argument(1, ref: ids[1]).argument(2, ref: ids[2]))
      try environment.define(environment.bean(Leaf.self, id: "leaf-\(number)", factory: Leaf.init))
    }
  }

  @Test("Each of 6,000 beans gets its dependencies by id, by alias and from the parent")
  func everyBeanGetsItsDependencies() throws {
    let outer = try Environment(name: "outer")
    try outer.define(outer.bean(Leaf.self, id: "outer-leaf", factory: Leaf.init))
    let environment = try Environment(name: "inner", parent: outer)
    func ids(_ number: Int) -> [String] {
      ["leaf-\((number * 7 + 5) % Self.count)", number % 2 == 0 ? "outer-leaf" : "nickname", "leaf-\(number)"]
    }
    try declare(in: environment, leavesOf: ids)
    try environment.alias("nickname", of: "leaf-1")
    try environment.startup()
    for number in stride(from: 0, to: Self.count, by: 17) {
      let branch = try environment.getBean(Branch.self, byId: "branch-\(number)")
      for (leaf, id) in zip(branch.leaves, ids(number)) {
        #expect(try environment.getBean(Leaf.self, byId: id) === leaf)
      }
    }
    try environment.shutdown()
    try outer.shutdown()
  }

  @Test("5,000 beans without ids find those of the parent")
  func aPlanWithoutIdsFindsThoseOfItsParent() throws {
    let outer = try Environment(name: "outer")
    for number in 0..<3 { try outer.define(outer.bean(Leaf.self, id: "leaf-\(number)", factory: Leaf.init)) }
    let environment = try Environment(name: "inner", parent: outer)
    for _ in 0..<5_000 {
      try environment.define(
        environment.bean(Branch.self, factory: Branch.init)
          .argument(0, ref: "leaf-0").argument(1, ref: "leaf-1").argument(2, ref: "leaf-2"))
    }
    try environment.startup()
    let leaf = try outer.getBean(Leaf.self, byId: "leaf-2")
    #expect(try environment.getBean([Branch].self).allSatisfy { $0.leaves[2] === leaf })
    try environment.shutdown()
    try outer.shutdown()
  }

  @Test("Faults of a large graph are found as in a small one")
  func faultsAreFoundAsInSmallGraphs() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Leaf.self, id: "template", abstract: true, factory: Leaf.init))
    try declare(in: environment) { number in
      switch number {
      case 10: ["missing", "leaf-1", "leaf-2"]
      case 20: ["leaf-1", "template", "leaf-2"]
      case 30: ["leaf-1", "leaf-2", "branch-1"]
      default: ["leaf-1", "leaf-2", "leaf-3"]
      }
    }
    let error = #expect(throws: EnvironmentError.self) { try environment.startup() }
    let codes = error?.underlying.compactMap { ($0 as? EnvironmentError)?.code } ?? []
    #expect(codes.count == 3)
    #expect(codes.filter { $0 == .unknownBean }.count == 2)
    #expect(codes.filter { $0 == .typeMismatch }.count == 1)
  }
}
