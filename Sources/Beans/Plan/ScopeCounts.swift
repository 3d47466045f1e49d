import CBeansRuntime
import Synchronization

/// How many environments of one plan have come and gone, wherever in the tree: counted while they do, so that a report need
/// not look at each.
///
/// Each thread counts in a stripe of its own, which it may share with others. No decision depends on these numbers.
final class ScopeCounts: Sendable {
  private struct Stripe: ~Copyable {
    // By its full name: the tests of schedules need not interrupt it.
    let opened = Synchronization.Atomic<Int>(0)
    let finished = Synchronization.Atomic<Int>(0)
    let released = Synchronization.Atomic<Int>(0)
  }

  /// Every fourth one is used: no two of these share a line of a cache.
  private let stripes: FrozenArray<Stripe>

  init() {
    var stripes = FrozenArray<Stripe>(capacity: 29)
    for _ in 0..<29 { stripes.append(Stripe()) }
    self.stripes = stripes
  }

  /// The place of the calling thread among stripes of any number, of which every fourth is used: a mask makes it an index.
  @inline(__always)
  static var ownPlace: Int { 4 &* Int(truncatingIfNeeded: beans_thread()) }

  /// Counts an environment that joins its parent. Under the parent's lock: others can end it only afterwards.
  ///
  /// - Parameter place: that of the calling thread.
  @inline(__always)
  func open(at place: Int) { stripes[place & 28].opened.wrappingAdd(1, ordering: .releasing) }

  /// Counts an environment that leaves its parent, and the beans that it has released. Under the parent's lock: a walk that
  /// begins after the sums were read meets none of these beans.
  ///
  /// - Parameters:
  ///   - released: the number of the beans.
  ///   - place: that of the calling thread.
  @inline(__always)
  func finish(released: Int, at place: Int) {
    stripes[place & 28].finished.wrappingAdd(1, ordering: .releasing)
    stripes[place & 28].released.wrappingAdd(released, ordering: .releasing)
  }

  /// The sums. The beans that are created are those of environments that have finished.
  ///
  /// - Parameter scope: the name of the scope.
  func statistics(of scope: String) -> ScopeStatistics {
    var sum = ScopeStatistics(scope: scope)
    // What has finished has been opened before.
    for stripe in stride(from: 0, to: stripes.count, by: 4) {
      sum.finished += stripes[stripe].finished.load(ordering: .acquiring)
      sum.released += stripes[stripe].released.load(ordering: .acquiring)
    }
    for stripe in stride(from: 0, to: stripes.count, by: 4) {
      sum.opened += stripes[stripe].opened.load(ordering: .acquiring)
    }
    sum.created = sum.released
    return sum
  }
}

/// How much has come and gone in the children of one scope.
public struct ScopeStatistics: Sendable, Equatable {
  /// The name of the scope, or of an environment that is no child of a factory.
  public let scope: String
  /// Environments opened.
  public internal(set) var opened = 0
  /// Environments finished, their beans released.
  public internal(set) var finished = 0
  /// Beans created in those that have finished.
  public package(set) var created = 0
  /// Beans released.
  public internal(set) var released = 0

  init(scope: String) { self.scope = scope }

  /// Those of one environment that has ended.
  init(ended scope: String, released: Int) {
    self.scope = scope
    (opened, finished, created, self.released) = (1, 1, released, released)
  }

  mutating func add(_ other: ScopeStatistics) {
    opened += other.opened
    finished += other.finished
    created += other.created
    released += other.released
  }

  /// One entry for each scope, in order of name.
  static func merged(_ all: [ScopeStatistics]) -> [ScopeStatistics] {
    let byScope = Dictionary(grouping: all, by: \.scope)
    return byScope.keys.sorted().map { scope in
      byScope[scope, default: []].reduce(into: ScopeStatistics(scope: scope)) { $0.add($1) }
    }
  }
}
