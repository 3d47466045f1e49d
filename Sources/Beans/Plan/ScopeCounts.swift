import CBeansRuntime
import Synchronization

/// The numbers of opened and finished environments of one plan, anywhere in the tree, and of their released beans. They
/// are counted as they happen, so that a report need not visit each environment.
///
/// Each thread counts in a stripe, which it may share with other threads. No decision depends on these numbers.
final class ScopeCounts: Sendable {
  private struct Stripe: ~Copyable {
    // The full name avoids the type that the tests of schedules interrupt: they need not interrupt these operations.
    let opened = Synchronization.Atomic<Int>(0)
    let finished = Synchronization.Atomic<Int>(0)
    let released = Synchronization.Atomic<Int>(0)
  }

  /// The stripes. Only every fourth one is used, so that no two of these share a cache line.
  private let stripes = FrozenArray<Stripe>(count: 29) { Stripe() }

  /// The place of the calling thread among stripes of any number, of which every fourth is used. A mask converts it to
  /// an index.
  @inline(__always)
  static var ownPlace: Int { 4 &* Int(truncatingIfNeeded: beans_thread()) }

  /// Counts an environment that joins its parent. Call this under the parent's lock: other threads can end the
  /// environment only afterwards.
  ///
  /// - Parameter place: the place of the calling thread.
  @inline(__always)
  func open(at place: Int) { stripes[place & 28].opened.wrappingAdd(1, ordering: .releasing) }

  /// Counts an environment that leaves its parent, and the beans that it has released. Call this under the parent's
  /// lock: a walk that begins after the sums were read meets none of these beans.
  ///
  /// - Parameters:
  ///   - released: the number of the beans.
  ///   - place: the place of the calling thread.
  @inline(__always)
  func finish(released: Int, at place: Int) {
    stripes[place & 28].finished.wrappingAdd(1, ordering: .releasing)
    stripes[place & 28].released.wrappingAdd(released, ordering: .releasing)
  }

  /// Returns the sums. The created beans are those of finished environments.
  ///
  /// - Parameter scope: the name of the scope.
  func statistics(of scope: String) -> ScopeStatistics {
    var sum = ScopeStatistics(scope: scope)
    // Reads `finished` first, because an environment is opened before it finishes.
    for stripe in stride(from: 0, to: stripes.count, by: 4) {
      sum.finished += stripes[stripe].finished.load(ordering: .acquiring)
      sum.released += stripes[stripe].released.load(ordering: .acquiring)
    }
    for stripe in stride(from: 0, to: stripes.count, by: 4) {
      sum.opened += stripes[stripe].opened.load(ordering: .acquiring)
    }
    sum.open = sum.opened - sum.finished
    sum.created = sum.released
    return sum
  }
}
