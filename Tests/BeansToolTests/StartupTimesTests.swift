import Beans
import Testing

@testable import BeansTool

private final class First: Sendable {}
private final class Second: Sendable {
  init(_ first: First) {}
}
private final class Third: Sendable {
  init(_ first: First) {}
}
private final class Fourth: Sendable {
  init(_ second: Second, _ third: Third) {}
}
private final class Late: Sendable {
  init(_ fourth: Provider<Fourth>) {}
}

/// Traces are those of the process: one test at a time.
@Suite(.serialized) struct StartupTimesTests {
  private func declare(_ environment: Environment) throws {
    try environment
      .define(environment.bean(First.self, factory: { First() }))
      .define(environment.bean(Second.self, factory: Second.init))
      .define(environment.bean(Third.self, factory: Third.init))
      .define(environment.bean(Fourth.self, factory: Fourth.init))
      .define(environment.bean(Late.self, factory: Late.init))
  }

  @Test func theTimeOfEachBeanIsToldSlowestFirstAndTheLongestPath() throws {
    let program = Program(
      name: "shop", options: [], place: EnvironmentError.Origin(file: "", line: 1), declare: declare)
    let outcome = program.run(["startup"])
    #expect(outcome.status == 0)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 7, "\(outcome.output)")
    #expect(lines.first?.hasPrefix("startup: ") == true)
    for bean in ["First", "Second", "Third", "Fourth", "Late"] {
      #expect(lines.dropFirst().contains { $0.hasSuffix(" µs  shop/\(bean)") }, "\(outcome.output)")
    }
    #expect(lines.last?.hasPrefix("longest path: ") == true)
  }

  @Test func theLongestPathIsThatOfTimesNotOfSteps() throws {
    let environment = try Environment(name: "shop")
    try declare(environment)
    let times: [String: Duration] = [
      "shop/First": .microseconds(1), "shop/Second": .microseconds(5), "shop/Third": .microseconds(7),
      "shop/Fourth": .microseconds(2), "shop/Late": .microseconds(4),
    ]
    #expect(
      try StartupTimes.longestPath(in: environment.graph(), times) == ["shop/First", "shop/Third", "shop/Fourth"])
    var late = times
    late["shop/Late"] = .microseconds(100)
    #expect(try StartupTimes.longestPath(in: environment.graph(), late) == ["shop/Late"])
  }
}
