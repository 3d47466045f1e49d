import CMeasure

/// One contestant alone, a fixed number of times: for a profiler to watch, and for `scripts/check-cost`.
struct CountedRun {
  /// The name of the operation in `scripts/check-cost`.
  let name: String
  /// The number of operations that come first, which allocate to fill tables and are not counted.
  var warmUp = 1000
  var usualOperations = 1_000_000
  let make: @Sendable () throws -> Contestant

  static let all = [
    CountedRun(name: "request") { try RequestContestants.container() },
    CountedRun(name: "request-value-seed") { try RequestContestants.containerWithValue() },
    CountedRun(name: "request-disposable") { try RequestContestants.containerDisposable() },
    CountedRun(name: "request-in-swift") { try RequestContestants.containerInSwift() },
    CountedRun(name: "request-by-key-path") { try RequestContestants.containerByKeyPath() },
    CountedRun(name: "request-in-xml") { try RequestContestants.containerInXML() },
    CountedRun(name: "lookup-type") { Lookup.byType(try LookupApplication()) },
    CountedRun(name: "lookup-below") { Lookup.fromBelow(try LookupApplication()) },
    CountedRun(name: "lookup-protocol") { Lookup.byProtocol(try LookupApplication()) },
    CountedRun(name: "lookup-id") { Lookup.byTypeAndId(try LookupApplication()) },
    CountedRun(name: "lookup-lent") { Lookup.lent(try LookupApplication()) },
    CountedRun(name: "prototype") { PrototypeBuild.container(try Prototypes()) },
    CountedRun(name: "assisted") { AssistedBuild.container(try AssistedApplication()) },
    CountedRun(name: "startup-1000", warmUp: 1, usualOperations: 100) { Startup.container(1000) },
    CountedRun(name: "startup-100000", warmUp: 0, usualOperations: 1) { Startup.container(100_000) },
    CountedRun(name: "cold-start", warmUp: 0, usualOperations: 1) { ColdStarts.containerOnce() },
    CountedRun(name: "session") { try Sessions.container() },
    CountedRun(name: "finish") { try FinishAmongSiblings.container() },
    CountedRun(name: "child") { try Children.child() },
    CountedRun(name: "child-async") { try Children.asyncChild() },
    CountedRun(name: "finish-in-task") { try Children.finish() },
    CountedRun(name: "shutdown-async") { try Children.shutdown() },
    CountedRun(name: "depth-1") { try CurveContestants.singleton(depth: 1) },
    CountedRun(name: "depth-64") { try CurveContestants.singleton(depth: 64) },
    CountedRun(name: "outermost-64") { try CurveContestants.outermost(depth: 64) },
    CountedRun(name: "wide-64", warmUp: 10, usualOperations: 10_000) { try CurveContestants.wide(64) },
    CountedRun(name: "wide-512", warmUp: 2, usualOperations: 1_000) { try CurveContestants.wide(512) },
    CountedRun(name: "wide-4096", warmUp: 1, usualOperations: 100) { try CurveContestants.wide(4096) },
    CountedRun(name: "event-0", warmUp: 10) { try CurveContestants.event(listeners: 0) },
    CountedRun(name: "event-10", warmUp: 10, usualOperations: 100_000) { try CurveContestants.event(listeners: 10) },
    CountedRun(name: "levels-250", warmUp: 1, usualOperations: 100) { CurveContestants.startup(levels: 250) },
    CountedRun(name: "kept") { try Features.kept() },
    CountedRun(name: "two-plain") { try Features.two(.plain) },
    CountedRun(name: "two-qualifier") { try Features.two(.qualifier) },
    CountedRun(name: "two-decorator") { try Features.two(.decorator) },
    CountedRun(name: "two-lazy") { try Features.two(.lazy) },
    CountedRun(name: "two-array") { try Features.two(.array) },
    CountedRun(name: "chain-100", warmUp: 1, usualOperations: 10) { AsynchronousCreation.container(.chain(100)) },
    CountedRun(name: "chain-1000", warmUp: 1, usualOperations: 1) { AsynchronousCreation.container(.chain(1000)) },
    CountedRun(name: "tree-1000", warmUp: 1, usualOperations: 1) { AsynchronousCreation.container(.tree(1000)) },
    CountedRun(name: "handwritten-child") { Children.byHand() },
    CountedRun(name: "handwritten-child-async") { Children.asyncByHand() },
    CountedRun(name: "handwritten-request") { RequestContestants.handwritten() },
    CountedRun(name: "handwritten-lookup") { Lookup.fieldRead(try LookupApplication()) },
    CountedRun(name: "handwritten-cold-start", warmUp: 0, usualOperations: 1) { ColdStarts.handwrittenOnce() },
  ]

  static let names = all.map(\.name).joined(separator: ", ")

  struct Unknown: Error, CustomStringConvertible {
    let name: String
    var description: String { "nothing is called '\(name)'; there are \(names)" }
  }

  /// Does the operation so many times, or as often as usual, and prints how many blocks that allocated.
  static func run(_ name: String, operations: Int?) throws {
    guard let counted = all.first(where: { $0.name == name }) else { throw Unknown(name: name) }
    let contestant = try counted.make()
    let operations = operations ?? counted.usualOperations
    try contestant.run(counted.warmUp)
    measure_start_counting()
    let result = Result { try contestant.run(operations) }
    let blocks = measure_stop_counting()
    try result.get()
    print("\(name): \(blocks) allocations in \(operations) operations")
  }
}
