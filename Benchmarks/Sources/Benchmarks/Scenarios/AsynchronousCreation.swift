import Beans

/// `ready()` of beans whose creation is awaited: in chains, in which each needs the one before it, and in a tree, in
/// which each needs two others. An environment creates its beans once, so each operation declares a new environment.
struct AsynchronousCreation {
  let settings: Settings

  /// The beans of an environment, by the numbers of those that each needs.
  enum Shape {
    case chain(Int)
    case tree(Int)

    var size: Int {
      switch self {
      case .chain(let size), .tree(let size): size
      }
    }

    var name: String {
      switch self {
      case .chain(let size): "a chain of \(size)"
      case .tree(let size): "a tree of \(size)"
      }
    }

    /// The root is bean 0.
    func parts(of number: Int) -> [Int] {
      switch self {
      case .chain(let size): number + 1 < size ? [number + 1] : []
      case .tree(let size): [2 * number + 1, 2 * number + 2].filter { $0 < size }
      }
    }
  }

  func measure() throws -> Table {
    var table = Table(
      scenario: "async", title: "beans whose creation is awaited",
      operation: "declare an environment, validate, await all its beans with ready(). Its end is not measured",
      clock: "wall")
    var (byHand, byContainer): ([Plot.Point], [Plot.Point]) = ([], [])
    for shape in [Shape.chain(10), .chain(100), .chain(1000), .tree(1000)] {
      try Self.check(shape)
      let stopwatch = WallStopwatch()
      let rows = try Contest(
        settings: settings,
        contestants: [
          Self.byHand(shape, stopwatch),
          Contestant("\(shape.name): Beans") { count in
            for _ in 0..<count {
              let environment = try stopwatch.time {
                let environment = try Self.declare(shape)
                try blocking { try await environment.ready() }
                return environment
              }
              try environment.shutdown()
            }
          },
          Contestant("\(shape.name): Beans, declared only") { count in
            for _ in 0..<count {
              let environment = try stopwatch.time { try Self.declare(shape) }
              try environment.shutdown()
            }
          },
        ], operations: max(1, settings.operations(10_000) / shape.size), clock: { stopwatch.total }, counted: 1
      ).rows()
      table.rows += rows
      if case .chain(let size) = shape {
        byHand.append(Plot.Point(x: Double(size), y: rows[0].nanoseconds.median / 1000 / Double(size)))
        byContainer.append(Plot.Point(x: Double(size), y: rows[1].nanoseconds.median / 1000 / Double(size)))
      }
      table.facts.append(
        Table.Fact(
          name: "\(shape.name): declaring",
          value: 100 * rows[2].nanoseconds.median / rows[1].nanoseconds.median, unit: "% of the time"))
    }
    table.plots = [
      Plot(
        file: "chain.svg", title: "Asynchronous beans, each of which needs the one before it",
        horizontal: Plot.Axis(name: "beans in the chain", scale: .logarithmic),
        vertical: Plot.Axis(name: "µs a bean", scale: .logarithmic),
        lines: [
          Plot.Line(name: "Beans, declaration included", points: byContainer),
          Plot.Line(name: "hand-written", points: byHand),
        ])
    ]
    return table
  }

  /// For a profiler: the end of the application is not part of an operation.
  static func container(_ shape: Shape) -> Contestant {
    Contestant("ready(), \(shape.name)") { count in
      for _ in 0..<count {
        let environment = try declare(shape)
        try blocking { try await environment.ready() }
        keep(environment)
      }
    }
  }

  private static func byHand(_ shape: Shape, _ stopwatch: WallStopwatch) -> Contestant {
    Contestant("\(shape.name): hand-written") { count in
      for _ in 0..<count {
        try stopwatch.time { try blocking { use(await Awaited.make(shape)) } }
      }
    }
  }

  private static func declare(_ shape: Shape) throws -> Environment {
    let environment = try Environment(name: "application")
    for number in 0..<shape.size {
      let parts = shape.parts(of: number)
      switch parts.count {
      case 0: try environment.define(Awaited.self, id: "\(number)", async: { () in Awaited([]) })
      case 1:
        try environment.define(Awaited.self, id: "\(number)", async: { (part: Awaited) in Awaited([part]) }) {
          $0.argument(0, ref: "\(parts[0])")
        }
      default:
        try environment.define(
          Awaited.self, id: "\(number)", async: { (left: Awaited, right: Awaited) in Awaited([left, right]) }
        ) {
          $0.argument(0, ref: "\(parts[0])").argument(1, ref: "\(parts[1])")
        }
      }
    }
    return environment
  }

  private static func check(_ shape: Shape) throws {
    let environment = try declare(shape)
    try blocking { try await environment.ready() }
    let root = try environment.getBean(Awaited.self, byId: "0")
    try SelfCheck.expect(root.count == shape.size, "the container built \(root.count) beans of \(shape.size)")
    try blocking {
      let root = await Awaited.make(shape)
      try SelfCheck.expect(root.count == shape.size, "\(root.count) objects of \(shape.size) by hand")
    }
    try environment.shutdown()
  }
}
