import Beans
import Glibc
import Testing

/// Startup is linear, even in unusual declarations: five times as many cost at most fifteen times as much.
@Suite("Startup is linear", .timeLimit(.minutes(20)), .serialized)
struct LinearitySpecification {
  private static let small = 600, large = 3_000

  /// Returns the processor time of the calling thread in seconds, independent of other work of the machine.
  private func now() -> Double {
    withUnsafeTemporaryAllocation(of: timespec.self, capacity: 1) { time in
      if let time = time.baseAddress { clock_gettime(CLOCK_THREAD_CPUTIME_ID, time) }
      // Seconds and nanoseconds. By position: in some builds the compiler takes the fields for another module's.
      let parts = UnsafeRawBufferPointer(time)
      return Double(parts.load(as: Int.self)) + Double(parts.load(fromByteOffset: 8, as: Int.self)) / 1e9
    }
  }

  /// Returns the ratio of the costs, each the best of two runs.
  private func ratio(
    small: Int = Self.small, large: Int = Self.large, _ declare: (Environment, Int) throws -> Void
  ) throws -> Double {
    func cost(_ count: Int) throws -> Double {
      try (0..<2).map { _ in
        let environment = try Environment()
        try declare(environment, count)
        let begin = now()
        _ = try? environment.startup()
        let cost = now() - begin
        environment.finish()
        return cost
      }.min() ?? 0
    }
    return try cost(large) / cost(small)
  }

  @Test("Startup is linear in independent beans")
  func independentBeans() throws {
    let ratio = try ratio { environment, count in
      for number in 0..<count {
        try environment.define(environment.bean(Part.self, id: "\(number)", factory: Part.init))
      }
    }
    #expect(ratio < 15)
  }

  @Test("Startup is linear in a chain of references by id")
  func chainsByReference() throws {
    let ratio = try ratio { environment, count in
      try environment.define(environment.bean(Part.self, id: "0", factory: Part.init))
      for number in 1..<count {
        try environment.define(
          environment.bean(Part.self, id: "\(number)", factory: { (_: Part) in Part() })
            .argument(0, ref: "\(number - 1)"))
      }
    }
    #expect(ratio < 15)
  }

  @Test("Startup is linear where one bean takes all others")
  func oneBeanThatTakesAll() throws {
    let ratio = try ratio { environment, count in
      try environment.define(environment.bean(Int.self, factory: { (parts: [any Piece]) in parts.count }))
      for number in 0..<count {
        try environment.define(environment.bean(Part.self, id: "\(number)", factory: Part.init))
      }
    }
    #expect(ratio < 15)
  }

  @Test("Startup is linear in beans of a scope that is itself a bean")
  func beansOfAScopeThatIsItselfABean() throws {
    let ratio = try ratio { environment, count in
      for number in 0..<count {
        try environment.define(environment.bean(Part.self, id: "\(number)", factory: Part.init).scope("own"))
      }
      try environment.define(environment.bean(OwnScope.self, factory: OwnScope.init))
    }
    #expect(ratio < 15)
  }

  /// Declares factories in each other, whose children declare beans.
  private func nest(
    _ depth: Int, in environment: Environment, declaring declare: (Environment, Int) throws -> Void
  ) throws {
    try environment
      .define(environment.bean(Part.self, id: "part", factory: Part.init))
      .define(environment.bean(Visit.self, factory: { (_: Part) in Visit() }).scope("level 1"))
    var level = try environment.childFactory("level 0", seed: Int.self)
    for number in 1..<depth {
      level = try level.childFactory("level \(number)", seed: Int.self) { try declare($0, number) }
    }
  }

  @Test("Startup is linear in the depth of nested factories: four times as many cost at most seven times as much")
  func nestedFactories() throws {
    let ratio = try ratio(small: 250, large: 1_000) { environment, depth in
      try nest(depth, in: environment) { level, _ in
        try level.define(level.bean(Step.self, factory: { (_: Int, _: any Piece) in Step() }))
      }
    }
    #expect(ratio < 7)
  }

  @Test("Startup is linear in the depth of nested factories whose beans look far out, by type and by id")
  func nestedFactoriesThatLookFarOut() throws {
    let ratio = try ratio(small: 250, large: 1_000) { environment, depth in
      try nest(depth, in: environment) { level, _ in
        try level
          .define(level.bean(Step.self, id: "step", factory: { (_: Int, _: Part) in Step() }).argument(1, ref: "part"))
          .define(
            level.bean(
              Sight.self,
              factory: { (_: Part?, _: [any Piece], _: Provider<Part>, _: Provider<Visit>) in Sight() }))
      }
    }
    #expect(ratio < 7)
  }

  @Test("Startup is linear in the depth of nested factories whose beans have ids")
  func nestedFactoriesWithIds() throws {
    let ratio = try ratio(small: 250, large: 1_000) { environment, depth in
      try nest(depth, in: environment) { level, number in
        try level
          .define(level.bean(Step.self, id: "step \(number)", factory: { (_: Int, _: Part) in Step() }))
          .define(level.bean(Visit.self, factory: Visit.init).scope("level \(min(number + 1, depth - 1))"))
      }
    }
    #expect(ratio < 7)
  }

  @Test("Startup is linear in unknown references, each with its hint")
  func unknownReferences() throws {
    let ratio = try ratio { environment, count in
      for number in 0..<count / 10 {
        try environment.define(
          environment.bean(Part.self, id: "some bean \(number)", factory: { (_: Part) in Part() })
            .argument(0, ref: "another bean \(number)"))
      }
    }
    #expect(ratio < 15)
  }

  @Test("Startup is linear in the dependencies of a dense graph full of circles")
  func circlesInADenseGraph() throws {
    let ratio = try ratio { environment, count in
      for number in 0..<count / 50 {
        try environment.define(environment.bean(Part.self, id: "\(number)", factory: { (_: [any Piece]) in Part() }))
      }
    }
    // The number of dependencies itself is quadratic here.
    #expect(ratio < 60)
  }

  @Test("Startup is at most quadratic in a chain of templates")
  func templateChains() throws {
    let ratio = try ratio { environment, count in
      try environment.define(environment.bean(Part.self, id: "0", abstract: true, factory: Part.init))
      for number in 1..<count / 20 {
        try environment.define(environment.template("\(number)").parent("\(number - 1)"))
      }
    }
    // Each template's own chain is walked.
    #expect(ratio < 60)
  }

  @Test("Startup is linear in the children of one template")
  func manyChildrenOfOneTemplate() throws {
    let ratio = try ratio { environment, count in
      try environment.define(environment.bean(Part.self, id: "t", abstract: true, factory: Part.init))
      for number in 0..<count { try environment.define(environment.bean(Part.self, id: "\(number)", parent: "t")) }
    }
    #expect(ratio < 15)
  }
}

private protocol Piece {}
private final class Part: Piece {}
private final class Visit {}
private final class Step {}
private final class Sight {}
private final class OwnScope: AbstractBeanScope, @unchecked Sendable {  // adds no state
  init() { super.init(name: "own") }
}
