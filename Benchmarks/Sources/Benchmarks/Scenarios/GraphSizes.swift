import Beans

/// The cost of a request by the number of its beans: 1, 2, 4, … 64 of them.
struct GraphSizes {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(
      scenario: "sizes", title: "requests of 1 to 64 beans",
      operation: "open a request environment, build its beans, finish it")
    let application = HandwrittenApplication()
    var points: [Plot.Point] = []
    points.append(try add(1, G0.self, to: &table) { application.makeGraph1() })
    points.append(try add(2, G1.self, to: &table) { application.makeGraph2() })
    points.append(try add(4, G3.self, to: &table) { application.makeGraph4() })
    points.append(try add(8, G7.self, to: &table) { application.makeGraph8() })
    points.append(try add(16, G15.self, to: &table) { application.makeGraph16() })
    points.append(try add(32, G31.self, to: &table) { application.makeGraph32() })
    points.append(try add(64, G63.self, to: &table) { application.makeGraph64() })
    table.plots = [
      Plot(
        file: "ratio.svg", title: "A request by the container, beside the same objects by hand",
        horizontal: Plot.Axis(name: "beans in a request", scale: .logarithmic),
        vertical: Plot.Axis(name: "× hand-written"), reference: 1, lines: [Plot.Line(name: "Beans", points: points)])
    ]
    return table
  }

  /// Measures one size, and returns the container's ratio.
  private func add<Root: AnyObject>(
    _ size: Int, _ root: Root.Type, to table: inout Table, byHand make: @escaping () -> Root
  ) throws -> Plot.Point {
    let container = try ContainerApplication(seed: RequestSeed.self) { try GraphDeclarations.define(size, in: $0) }
    let seed = RequestSeed(number: 1)
    let rows = try Contest(
      settings: settings,
      contestants: [
        Contestant("\(size): hand-written") { count in
          for _ in 0..<count { use(make()) }
        } hold: { count, held in
          RequestContestants.hold(count, held, make)
        },
        RequestContestants.contestant("\(size): Beans", container, root) { _ in seed },
      ], operations: max(1, settings.operations(400_000) / (size + 3)), held: max(1, settings.held / size)
    ).rows()
    // As many objects on both sides, and the environment.
    try SelfCheck.expect(rows[0].allocations == Double(size), "a hand-written request of \(size) has other beans")
    try SelfCheck.expect((rows[1].allocations ?? 0) >= Double(size), "the container built fewer than \(size) beans")
    table.rows += rows
    return Plot.Point(x: Double(size), y: rows[1].ratio.median)
  }
}
