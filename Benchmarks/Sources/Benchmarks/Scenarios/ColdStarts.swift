import Beans
import CMeasure
import ColdStart

/// The first startup of an application of a thousand different classes, each in a process of its own: later ones find
/// entries in the caches of the Swift runtime. Beside the same objects made by hand, also in such a process.
struct ColdStarts {
  let settings: Settings

  /// The command that starts the program to start one side once; the side follows.
  static let command = "start-cold"
  private static let (handwritten, container) = ("handwritten", "container")

  func measure() throws -> Table {
    var table = Table(
      scenario: "cold-start", title: "\(Services.count) different classes, in a new process",
      operation: "declare all, validate, build every singleton, for the first time in the process")
    var byHand = Table.Row(name: "hand-written")
    var byContainer = Table.Row(name: "Beans", reference: byHand.name)
    var processes = (byHand: Samples(), byContainer: Samples())
    for round in 0..<settings.rounds {
      let containerFirst = round % 2 == 1
      for isContainer in [containerFirst, !containerFirst] {
        let process = try OwnProcess([Self.command, isContainer ? Self.container : Self.handwritten])
        let figures = process.output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        try SelfCheck.expect(figures.count == 2, "'\(process.output)' is not a time and a count")
        if isContainer {
          byContainer.nanoseconds.add(figures[0])
          byContainer.allocations = figures[1]
          processes.byContainer.add(process.nanoseconds)
        } else {
          byHand.nanoseconds.add(figures[0])
          byHand.allocations = figures[1]
          processes.byHand.add(process.nanoseconds)
        }
      }
      byContainer.ratio.add(byContainer.nanoseconds.latest / byHand.nanoseconds.latest)
    }
    table.rows = [byHand, byContainer]
    table.facts = [
      Table.Fact(name: "hand-written: the whole process", value: processes.byHand.median / 1e6, unit: "ms"),
      Table.Fact(name: "Beans: the whole process", value: processes.byContainer.median / 1e6, unit: "ms"),
    ]
    return table
  }

  /// Starts one side, prints its nanoseconds and allocations, and checks that it has built all objects.
  static func start(_ side: String) throws {
    switch side {
    case handwritten:
      let built = try counted(Services.construct)
      try SelfCheck.expect(Services.isWired(built), "hand-written objects are wired wrongly")
    case container:
      let environment = try counted(startup)
      try SelfCheck.expect(try Services.isWired(environment), "the container did not build what was declared")
      try environment.shutdown()
    default: throw Options.Refused(description: "'\(command)' wants '\(handwritten)' or '\(container)'")
    }
  }

  /// For a profiler, which sees the whole process: one operation is the first startup in it, and the end of the
  /// application is not part of it.
  static func containerOnce() -> Contestant {
    Contestant("cold-start") { times in for _ in 0..<times { keep(try startup()) } }
  }

  /// The objects by hand, in a process that does nothing else.
  static func handwrittenOnce() -> Contestant {
    Contestant("handwritten-cold-start") { times in for _ in 0..<times { keep(Holder(Services.construct())) } }
  }

  private final class Holder {
    let built: [AnyObject]

    init(_ built: [AnyObject]) { self.built = built }
  }

  private static func startup() throws -> Environment {
    let environment = try Environment(name: "application")
    try Services.declare(in: environment)
    try environment.startup()
    return environment
  }

  private static func counted<Result>(_ body: () throws -> Result) throws -> Result {
    let stopwatch = Stopwatch()
    measure_start_counting()
    let result = Swift.Result { try stopwatch.time(body) }
    let allocations = measure_stop_counting()
    print(stopwatch.total, allocations)
    return try result.get()
  }
}
