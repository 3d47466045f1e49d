import Beans

/// The cost of the end of one child that has a million live siblings.
struct FinishAmongSiblings {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(
      scenario: "finish", title: "one child among \(settings.live) live siblings",
      operation: "as the row says; a child has one bean")
    for siblings in [1, settings.live] {
      let (byHand, container) = (HandwrittenChildren(), try ContainerChildren())
      for _ in 0..<siblings {
        byHand.open()
        try container.open()
      }
      try SelfCheck.expect(
        byHand.count == siblings && container.count == siblings, "there are other siblings than asked for")
      table.rows += try Contest(
        settings: settings,
        contestants: [
          Contestant("open and end one among \(siblings): hand-written") { count in
            for _ in 0..<count { byHand.openAndEnd() }
          },
          Contestant("open and finish one among \(siblings): Beans") { count in
            for _ in 0..<count { try container.openAndEnd() }
          },
        ], operations: settings.operations(100_000)
      ).rows()
    }
    for siblings in [1000, settings.live] {
      let stopwatch = Stopwatch()
      let (byHand, container) = (HandwrittenChildren(), try ContainerChildren())
      for _ in 0..<siblings {
        byHand.open()
        try container.open()
      }
      var random = SmallRandom()
      table.rows += try Contest(
        settings: settings,
        contestants: [
          Contestant("end any of \(siblings): hand-written") { count in
            try inBatches(count, of: siblings, &random) { picked in
              stopwatch.time { for number in picked { byHand.end(number) } }
              for number in picked { byHand.open(number) }
            }
          },
          Contestant("finish any of \(siblings): Beans") { count in
            try inBatches(count, of: siblings, &random) { picked in
              stopwatch.time { for number in picked { container.end(number) } }
              for number in picked { try container.open(number) }
            }
          },
        ], operations: settings.operations(20_000), clock: { stopwatch.total }, counted: 0
      ).rows()
    }
    addGrowth(to: &table)
    return table
  }

  /// Opens and finishes one child that has one live sibling.
  static func container() throws -> Contestant {
    let children = try ContainerChildren()
    try children.open()
    return Contestant("finish") { count in for _ in 0..<count { try children.openAndEnd() } }
  }

  private func addGrowth(to table: inout Table) {
    let few = table.row("open and finish one among 1: Beans")?.nanoseconds.median ?? .nan
    let many = table.row("open and finish one among \(settings.live): Beans")?.nanoseconds.median ?? .nan
    table.facts.append(
      Table.Fact(name: "Beans: among \(settings.live) siblings against among 1", value: many / few, unit: "times"))
  }

  /// Different ones in each batch of at most a quarter of all.
  private func inBatches(
    _ count: Int, of siblings: Int, _ random: inout SmallRandom, _ body: ([Int]) throws -> Void
  ) throws {
    var left = count
    while left > 0 {
      let size = min(left, max(1, siblings / 4))
      let stride = siblings / size
      try body((0..<size).map { $0 * stride + Int(random.next() % UInt64(stride)) }.shuffled(using: &random))
      left -= size
    }
  }
}

/// Numbers that do not change, in every run.
struct SmallRandom: RandomNumberGenerator {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

/// Live children of the container, by number.
private final class ContainerChildren {
  private let application: ContainerApplication<RequestSeed>
  private let seed = RequestSeed(number: 1)
  private var children: [Environment?] = []

  init() throws {
    application = try ContainerApplication(seed: RequestSeed.self) { try $0.define($0.bean(R7.self, factory: R7.init)) }
  }

  var count: Int { children.count }

  func open() throws { children.append(try make()) }

  func open(_ number: Int) throws { children[number] = try make() }

  private func make() throws -> Environment {
    let child = try application.requests.build(seed)
    use(try child.getBean(R7.self))
    return child
  }

  func end(_ number: Int) {
    children[number]?.finish()
    children[number] = nil
  }

  func openAndEnd() throws { try make().finish() }

  deinit { application.environment.finish() }
}

/// Opened and finished by hand: live objects in a dictionary, by number.
private final class HandwrittenChildren {
  private let application = HandwrittenApplication()
  private var children: [Int: R7] = [:]

  var count: Int { children.count }

  func open() { open(children.count) }

  func open(_ number: Int) {
    let child = R7(application.s16)
    use(child)
    children[number] = child
  }

  func end(_ number: Int) { children[number] = nil }

  func openAndEnd() {
    let number = children.count
    open(number)
    end(number)
  }
}
