import Foundation
import TestSupport
import Testing

@testable import Beans

/// Counts kept while environments open and end, compared with the walk over all live ones.
@Suite(.timeLimit(.minutes(20)))
struct KeptCountsTests {
  private struct Refusal: Error {}

  /// A scope object that refuses every bean, after its environment has been opened.
  private final class RefusingScope: AbstractBeanScope, @unchecked Sendable {  // adds nothing
    override func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws { throw Refusal() }
  }

  /// An application with sessions, requests and an item of each, and a scope that cannot be opened.
  private final class Application: Sendable {
    let environment: Environment
    let sessions: EnvironmentFactory<Int>
    let requests: EnvironmentFactory<Int>
    let strangers: EnvironmentFactory<Int>
    let refused: EnvironmentFactory<Int>

    init() throws {
      environment = try Environment(name: "application")
      sessions = try environment.childFactory(
        "session", seed: Int.self, configure: { try $0.define($0.bean(Double.self, factory: { 1 })) })
      requests = try sessions.childFactory(
        "request", seed: Int.self, configure: { try $0.define($0.bean(Float.self, factory: { 1 })) })
      strangers = try environment.childFactory("stranger", seed: Int.self)
      refused = try environment.childFactory(
        "refused", seed: Int.self,
        configure: { try $0.define($0.bean(Double.self, factory: { 1 })) }, scope: { RefusingScope(name: "refused") })
      try environment.startup()
    }

    /// Compares the exact counts with the kept ones together with the beans of live environments.
    func expectSameCounts(_ comment: Comment, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
      var kept = try #require(environment.keptStatistics)
      var rest = Int.max
      let isComplete = environment.forEachLive(upTo: &rest) { child, beans in
        if let index = kept.firstIndex(where: { $0.scope == child.name }) { kept[index].created += beans }
      }
      #expect(isComplete, comment, sourceLocation: sourceLocation)
      #expect(kept == environment.statistics(), comment, sourceLocation: sourceLocation)
    }
  }

  /// Opens and ends environments at random, on one thread.
  private struct Visitor {
    let application: Application
    var random: SplitMix64
    var sessions: [Environment] = []
    var requests: [Environment] = []
    var others: [Environment] = []

    mutating func step() throws {
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1, 2:
        let session = try application.sessions.build(1)
        if Bool.random(using: &random) { _ = try session.getBean(Double.self) }
        sessions.append(session)
      case 3, 4:
        guard let session = sessions.randomElement(using: &random) else { return }
        let request = try application.requests.build(1, in: session)
        _ = try request.getBean(Float.self)
        requests.append(request)
      case 5: try application.strangers.withChild(1) { _ = try $0.getBean(Int.self) }
      case 6: Self.takeOne(of: &requests, &random)?.finish()
      case 7:
        guard let session = Self.takeOne(of: &sessions, &random) else { return }
        session.finish()
        #expect(throws: EnvironmentError.self) { try application.requests.build(1, in: session) }
      case 8: #expect(throws: (any Error).self) { try application.refused.build(1) }
      case 9:
        // A child of a factory with a factory of its own, in an environment of any kind, is left out.
        let parent = sessions.filter { !$0.isFinished }.randomElement(using: &random) ?? application.environment
        let other = try Environment(name: "other \(Int.random(in: 0..<3, using: &random))", parent: parent)
        let parts = try other.childFactory("part", seed: Int.self)
        try other.define(other.bean(true)).startup()
        _ = try parts.build(1)
        try parts.withChild(1) { _ in }
        others.append(try Environment(name: "innermost", parent: other).startup())
        others.append(other)
      case 10: Self.takeOne(of: &others, &random)?.finish()
      default:
        let fails = try Environment(name: "failing", parent: application.environment)
        try fails.define(fails.bean(Int.self, factory: { throw Refusal() }))
        #expect(throws: EnvironmentError.self) { try fails.startup() }
      }
    }

    private static func takeOne(of environments: inout [Environment], _ random: inout SplitMix64) -> Environment? {
      guard let index = environments.indices.randomElement(using: &random) else { return nil }
      return environments.remove(at: index)
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func keptCountsEqualThoseOfTheWalk(seed: UInt64) throws {
    let application = try Application()
    let left = try onThreads(4) { number in
      var visitor = Visitor(application: application, random: SplitMix64(seed: seed &* 4 &+ UInt64(number)))
      for _ in 0..<200 { try visitor.step() }
      return visitor.requests + visitor.others + visitor.sessions
    }
    try application.expectSameCounts("after all threads")
    // Some environments end on another thread than the one that opened them.
    _ = try onThreads(4) { number in
      for environment in left[number].dropFirst(left[number].count / 2) { environment.finish() }
    }
    try application.expectSameCounts("after some ends")
    try application.environment.shutdown()
    try application.expectSameCounts("after the shutdown")
    let counts = application.environment.statistics()
    #expect(counts.allSatisfy { $0.opened == $0.finished && $0.created == $0.released })
    let scopes = ["application", "session", "request", "stranger", "refused", "part"]
    #expect(Set(counts.map(\.scope)).isSuperset(of: scopes))
  }

  /// A sum of counts never decreases, whenever it is read.
  @Test func keptCountsOnlyIncrease() throws {
    let application = try Application()
    let isOver = Counter()
    let reader = BackgroundThread<Int> {
      var (last, reads) = ([String: ScopeStatistics](), 0)
      repeat {
        for counts in application.environment.keptStatistics ?? [] {
          let before = last.updateValue(counts, forKey: counts.scope)
          #expect(counts.opened >= counts.finished)
          #expect(counts.opened >= before?.opened ?? 0 && counts.finished >= before?.finished ?? 0)
          #expect(counts.released >= before?.released ?? 0)
        }
        reads += 1
      } while isOver.value == 0
      return reads
    }
    _ = try onThreads(2) { number in
      for _ in 0..<500 {
        let session = try application.sessions.build(number)
        try application.requests.withChild(1, in: session) { _ = try $0.getBean(Float.self) }
        session.finish()
      }
    }
    isOver.increment()
    #expect(try reader.value() > 0)
    try application.environment.shutdown()
  }

  // MARK: the walk

  @Test(arguments: [0, 1, 511, 512, 513, 2_000])
  func theWalkVisitsEachSiblingOnce(count: Int) throws {
    let application = try Application()
    let sessions = try (0..<count).map { try application.sessions.build($0) }
    var (met, rest) = ([ObjectIdentifier](), Int.max)
    #expect(application.environment.forEachLive(upTo: &rest) { child, _ in met.append(ObjectIdentifier(child)) })
    #expect(met.count == count && Set(met) == Set(sessions.map { ObjectIdentifier($0) }))
    rest = 100
    met = []
    let isComplete = application.environment.forEachLive(upTo: &rest) { child, _ in
      met.append(ObjectIdentifier(child))
    }
    #expect(met.count == min(count, 100) && isComplete == (count <= 100))
    try application.environment.shutdown()
  }

  /// Siblings that end during the walk leave a place from which it continues, unless all of a slice end.
  @Test(arguments: [1, 2, 3, 600])
  func theWalkContinuesAfterSiblingsThatEnd(kept: Int) throws {
    let application = try Application()
    for number in 0..<2_000 { _ = try application.sessions.build(number) }
    var (met, rest) = ([ObjectIdentifier](), Int.max)
    let isComplete = application.environment.forEachLive(upTo: &rest) { child, _ in
      met.append(ObjectIdentifier(child))
      if met.count % kept != 0 || kept == 1 { child.finish() }
    }
    #expect(Set(met).count == met.count)
    #expect(isComplete == (kept == 2 || kept == 3))
    #expect(isComplete ? met.count == 2_000 : met.count >= 512)
    try application.expectSameCounts("after the walk")
    try application.environment.shutdown()
  }

  @Test func aShortReportNamesSomeChildrenAndTheNumberOfOthers() throws {
    let application = try Application()
    let sessions = try onThreads(2) { _ in try (0..<10).map { try application.sessions.build($0) } }.flatMap(\.self)
    sessions[3].finish()
    let report = application.environment.report(maximumChildren: 4)
    #expect(report.contains("  session: open, 0 beans\n  and 15 more\n"))
    #expect(report.components(separatedBy: "  session: open").count == 5)
    #expect(!application.environment.report(maximumChildren: 19).contains("more"))
    #expect(application.environment.report(maximumChildren: 0).contains("\n  and 19 more\n"))
    try application.environment.shutdown()
    #expect(!application.environment.report(maximumChildren: 0).contains("more"))
  }
}
