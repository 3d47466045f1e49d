import Beans
import Dispatch
import Testing

@testable import BeansGraph

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

private final class Connection: AsyncBean, Sendable {
  func postConstruct() async throws { await Task.yield() }
}
private final class Reader: Sendable {
  init(_ connection: Connection) {}
}

@Suite struct StartupTimesTests {
  /// Starts the declarations on a thread that may wait for tasks, as the first one of a program may.
  private func startup(_ declare: @escaping @Sendable (Environment) throws -> Void) async -> Program.Outcome {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "startup").async {
        let program = Program(
          name: "shop", options: [], place: EnvironmentError.Origin(file: "", line: 1), declare: declare)
        continuation.resume(returning: program.run(["startup"]))
      }
    }
  }

  @Sendable private static func declare(_ environment: Environment) throws {
    try environment
      .define(environment.bean(First.self, factory: { First() }))
      .define(environment.bean(Second.self, factory: Second.init))
      .define(environment.bean(Third.self, factory: Third.init))
      .define(environment.bean(Fourth.self, factory: Fourth.init))
      .define(environment.bean(Late.self, factory: Late.init))
  }

  @Test func theTimeOfEachBeanIsPrintedSlowestFirstWithTheLongestPath() async throws {
    let outcome = await startup(Self.declare)
    #expect(outcome.status == 0)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 7, "\(outcome.output)")
    #expect(lines.first?.hasPrefix("startup: ") == true)
    for bean in ["First", "Second", "Third", "Fourth", "Late"] {
      #expect(lines.dropFirst().contains { $0.hasSuffix(" µs  shop/\(bean)") }, "\(outcome.output)")
    }
    #expect(lines.last?.hasPrefix("longest path: ") == true)
  }

  @Test func awaitedBeansAreTimedLikeOthers() async throws {
    let outcome = await startup {
      try $0.define($0.bean(Connection.self, factory: { Connection() }))
        .define($0.bean(Reader.self, factory: Reader.init))
    }
    #expect(outcome.status == 0, "\(outcome.errors)")
    for bean in ["Connection", "Reader"] {
      #expect(outcome.output.contains(" µs  shop/\(bean)\n"), "\(outcome.output)")
    }
    #expect(outcome.output.hasSuffix("shop/Connection → shop/Reader\n"))
  }

  @Test func theLongestPathIsThatOfTimesNotOfSteps() throws {
    let environment = try Environment(name: "shop")
    try Self.declare(environment)
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
