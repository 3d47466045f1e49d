import Beans
import Synchronization

/// Equal work on one to eight threads that share an application: how much more gets done.
struct Contended {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(
      scenario: "contended", title: "one to eight threads",
      operation: "as the row says, on each thread", clock: "wall")
    let lookups = settings.operations(1_000_000)
    let application = try SharedLookups()
    try compare(
      "warm lookup", lookups, &table,
      byHand: { count, _ in application.readFields(count) }, container: { count, _ in try application.lookUp(count) })
    let (byHand, container) = (HandwrittenApplication(), try ContainerApplication(seed: RequestSeed.self))
    let (requests, seed) = (container.requests, RequestSeed(number: 1))
    try compare(
      "request", settings.operations(100_000), &table,
      byHand: { count, _ in for _ in 0..<count { use(byHand.makeRequest()) } },
      container: { count, _ in
        for _ in 0..<count {
          let request = try requests.build(seed)
          use(try request.getBean(R0.self))
          request.finish()
        }
      })
    try addMisses(to: &table)
    return table
  }

  /// Rows of both sides for each number of threads, and how the throughput grows.
  private func compare(
    _ what: String, _ operations: Int, _ table: inout Table, byHand: @escaping @Sendable (Int, Int) throws -> Void,
    container: @escaping @Sendable (Int, Int) throws -> Void
  ) throws {
    let numbers = [(1, "one thread"), (2, "two threads"), (4, "four threads"), (8, "eight threads")]
    for (threads, number) in numbers {
      table.rows += try Contest(
        settings: settings,
        contestants: [
          Contestant("\(what), \(number): hand-written") { count in
            try Together.run(threads: threads) { try byHand(count, $0) }
          },
          Contestant("\(what), \(number): Beans") { count in
            try Together.run(threads: threads) { try container(count, $0) }
          },
        ], operations: operations, clock: { WallClock.nanoseconds }, counted: 0
      ).rows()
    }
    for side in ["hand-written", "Beans"] {
      let one = table.row("\(what), one thread: \(side)")?.nanoseconds.median ?? .nan
      for (threads, number) in numbers.dropFirst() {
        let several = table.row("\(what), \(number): \(side)")?.nanoseconds.median ?? .nan
        table.facts.append(
          Table.Fact(
            name: "\(what), \(side): throughput of \(number)", value: Double(threads) * one / several,
            unit: "× that of one"))
      }
    }
  }

  /// Both threads ask for the same missing bean at about the same time: one builds it, the other gets it.
  private func addMisses(to table: inout Table) throws {
    let stopwatch = WallStopwatch()
    let application = try ContainerApplication(seed: RequestSeed.self)
    let seed = RequestSeed(number: 1)
    let byHand = HandwrittenApplication()
    let operations = settings.operations(20_000)
    table.rows += try Contest(
      settings: settings,
      contestants: [
        Contestant("miss of one bean by two threads: hand-written") { count in
          let missing = (0..<count).map { _ in HandwrittenLazy() }
          let found = Found(count)
          try stopwatch.time {
            try Together.run(threads: 2) { thread in
              for number in 0..<count { found.note(missing[number].get(byHand), number, thread) }
            }
          }
          try found.check()
        },
        Contestant("miss of one bean by two threads: Beans") { count in
          let missing = try (0..<count).map { _ in try application.requests.build(seed) }
          let found = Found(count)
          try stopwatch.time {
            try Together.run(threads: 2) { thread in
              for number in 0..<count { found.note(try missing[number].getBean(R0.self), number, thread) }
            }
          }
          try found.check()
          for request in missing { request.finish() }
        },
      ], operations: operations, clock: { stopwatch.total }, counted: 0
    ).rows()
  }
}

/// The beans that two threads look up.
private final class SharedLookups: Sendable {
  private let environment: Environment
  /// Protected by being written only before the threads begin.
  private nonisolated(unsafe) let fields: Fields

  init() throws {
    let application = try LookupApplication()
    environment = application.environment
    fields = application.fields
  }

  func readFields(_ count: Int) { fields.read(count) { useHeld($0) } }

  func lookUp(_ count: Int) throws { try environment.lookUp(count) }
}

/// A request's objects made at first use by either thread, by hand: under a lock.
private final class HandwrittenLazy: Sendable {
  private let content = Mutex<R0?>(nil)

  func get(_ application: HandwrittenApplication) -> R0 {
    content.withLock { content in
      if let content { return content }
      let made = application.makeRequest()
      content = made
      return made
    }
  }
}

/// The results of each of two threads.
private final class Found: @unchecked Sendable {
  // Each thread writes a memory of its own, which is read when both have ended.
  private let objects: [UnsafeMutablePointer<Unmanaged<R0>?>]
  private let count: Int

  init(_ count: Int) {
    self.count = count
    objects = (0..<2).map { _ in
      let memory = UnsafeMutablePointer<Unmanaged<R0>?>.allocate(capacity: count)
      memory.initialize(repeating: nil, count: count)
      return memory
    }
  }

  deinit { for memory in objects { memory.deallocate() } }

  /// Notes the object without retaining it: its environment or holder keeps it alive.
  @inline(__always)
  func note(_ object: R0, _ number: Int, _ thread: Int) {
    use(object)
    objects[thread][number] = .passUnretained(object)
  }

  func check() throws {
    for number in 0..<count {
      let (one, other) = (objects[0][number], objects[1][number])
      try SelfCheck.expect(
        one != nil && one?.toOpaque() == other?.toOpaque(), "two threads got two instances of one bean")
    }
  }
}
