import CMeasure

/// One contestant alone, a fixed number of times: for a profiler to watch, and for `scripts/check-cost`.
enum CountedRun {
  /// The contestants by the name that `scripts/check-cost` knows them by.
  static let contestants: [(name: String, make: @Sendable () throws -> Contestant)] = [
    ("request", { try RequestContestants.container() }),
    ("request-value-seed", { try RequestContestants.containerWithValue() }),
    ("request-disposable", { try RequestContestants.containerDisposable() }),
    ("request-in-swift", { try RequestContestants.containerInSwift() }),
    ("request-by-key-path", { try RequestContestants.containerByKeyPath() }),
    ("request-in-xml", { try RequestContestants.containerInXML() }),
    ("lookup-type", { Lookup.byType(try LookupApplication()) }),
    ("lookup-below", { Lookup.fromBelow(try LookupApplication()) }),
    ("lookup-protocol", { Lookup.byProtocol(try LookupApplication()) }),
    ("lookup-id", { Lookup.byTypeAndId(try LookupApplication()) }),
    ("lookup-lent", { Lookup.lent(try LookupApplication()) }),
    ("prototype", { PrototypeBuild.container(try Prototypes()) }),
    ("assisted", { AssistedBuild.container(try AssistedApplication()) }),
    (startup, { Startup.container(1000) }),
    (largeStartup, { Startup.container(100_000) }),
    ("session", { try Sessions.container() }),
    ("finish", { try FinishAmongSiblings.container() }),
    ("handwritten-request", { RequestContestants.handwritten() }),
    ("handwritten-lookup", { Lookup.fieldRead(try LookupApplication()) }),
  ]

  /// Takes too long to be done as often as the others.
  private static let (startup, largeStartup) = ("startup-1000", "startup-100000")

  struct Unknown: Error, CustomStringConvertible {
    let name: String
    var description: String {
      "nothing is called '\(name)'; there are \(contestants.map(\.name).joined(separator: ", "))"
    }
  }

  /// Does the operation so many times, and prints how many blocks that allocated, not counting what the first
  /// operations allocate to fill tables.
  static func run(_ name: String, operations: Int) throws {
    guard let make = contestants.first(where: { $0.name == name })?.make else { throw Unknown(name: name) }
    let contestant = try make()
    try contestant.run(name == largeStartup ? 0 : name == startup ? 1 : 1000)
    measure_start_counting()
    let result = Result { try contestant.run(operations) }
    let blocks = measure_stop_counting()
    try result.get()
    print("\(name): \(blocks) allocations in \(operations) operations")
  }
}
