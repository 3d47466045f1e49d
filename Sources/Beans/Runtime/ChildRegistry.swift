import BeansConfiguration
@_spi(BeansPackage) import BeansErrors
import Dispatch
import Synchronization

/// The children of one environment that have not ended. Each is retained until it has ended. The children themselves
/// are linked, so that joining and leaving cost the same regardless of the number of siblings. Under the environment's
/// lock.
///
/// An environment that many threads use has several lists, and the thread that opens a child determines the list. A
/// thread then finds its own children in its list, in memory that no other processor has to hand over.
final class ChildRegistry: Sendable {
  private struct List: ~Copyable {
    let first = Atomic<Unretained<Environment>?>(nil)
    // The counts of the children of `plan` that have left on threads of this list.
    let finished = Atomic<Int>(0)
    let released = Atomic<Int>(0)
    /// The number of children that have joined on threads of this list, minus those that have left on them; may be
    /// negative.
    let live = Atomic<Int>(0)
  }

  /// The lists. Only every fourth one is used, so that no two used lists share a cache line.
  private let lists: FrozenArray<List>
  /// The plan that most children have. Plans of factories outlive this registry.
  private let plan = Atomic<Unretained<Plan>?>(nil)
  /// The counts of children of all other plans that have left, by scope.
  private let others = Locked<[String: ScopeStatistics]>([:])

  /// Creates an empty registry.
  ///
  /// - Parameter isShared: whether many threads are likely to open children.
  init(isShared: Bool) {
    lists = FrozenArray(count: isShared ? 29 : 1) { List() }
  }

  /// Returns the index in `lists` for the place of a thread.
  @inline(__always)
  private func list(at place: Int) -> Int { place & (lists.count &- 1) }

  var isEmpty: Bool { (0..<lists.count).allSatisfy { lists[$0].first.load(ordering: .acquiring) == nil } }

  /// Adds a child, and retains it.
  ///
  /// - Parameter place: the place of the calling thread, see `ScopeCounts`.
  @inline(__always)
  func join(_ child: Unretained<Environment>, at place: Int) {
    child.retain()
    let list = list(at: place)
    let old = lists[list].first.load(ordering: .relaxed)
    child.with {
      $0.core.next.store(old?.erased, ordering: .relaxed)
      $0.core.previous.store(.first(ofList: list), ordering: .relaxed)
    }
    old?.with { $0.core.previous.store(.after(child.erased), ordering: .relaxed) }
    lists[list].first.store(child, ordering: .releasing)
    lists[list].live.store(lists[list].live.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Removes a child that has released `count` beans, which are all that it has created. The caller takes over the
  /// reference.
  @inline(__always)
  func leave(_ child: Unretained<Environment>, _ plan: Unretained<Plan>, released count: Int, at place: Int) {
    let (before, after) = child.with {
      ($0.core.previous.load(ordering: .relaxed), $0.core.next.load(ordering: .relaxed))
    }
    let next: Unretained<Environment>? = after.map { Unretained($0) }
    if let list = before.list {
      lists[list].first.store(next, ordering: .releasing)
    } else {
      Unretained<Environment>(before.member).with { $0.core.next.store(after, ordering: .relaxed) }
    }
    next?.with { $0.core.previous.store(before, ordering: .relaxed) }
    // A walk that returns to the child finds it gone.
    child.with { $0.core.previous.store(.none, ordering: .relaxed) }
    let list = list(at: place)
    lists[list].live.store(lists[list].live.load(ordering: .relaxed) &- 1, ordering: .relaxed)
    if self.plan.load(ordering: .relaxed) == plan || select(plan) {
      let (finished, released) = (
        lists[list].finished.load(ordering: .relaxed), lists[list].released.load(ordering: .relaxed)
      )
      lists[list].finished.store(finished &+ 1, ordering: .relaxed)
      lists[list].released.store(released &+ count, ordering: .relaxed)
    } else {
      let name = child.with { $0.name }
      add([ScopeStatistics(ended: name, released: count)])
    }
  }

  /// Selects the plan whose counts the lists store: the first plan of a factory. Returns whether the plan is selected
  /// now.
  @inline(never)
  private func select(_ plan: Unretained<Plan>) -> Bool {
    if self.plan.load(ordering: .relaxed) != nil || plan.with({ $0.isPlain }) { return false }
    self.plan.store(plan, ordering: .relaxed)
    return true
  }

  /// The children that live now.
  var all: [Environment] { first(.max) }

  /// Returns some of the children that live now, in the order of `all`.
  func first(_ maximum: Int) -> [Environment] {
    var children: [Environment] = []
    for list in listNumbers { append(from: lists[list].first.load(ordering: .relaxed), to: &children, maximum) }
    return children
  }

  /// The number of children that live now. Reading it needs no walk.
  var count: Int { listNumbers.reduce(0) { $0 + lists[$1].live.load(ordering: .relaxed) } }

  /// The numbers of the lists that take children.
  var listNumbers: StrideTo<Int> { stride(from: 0, to: lists.count, by: 4) }

  /// Appends the next children of a list to an empty array, up to its capacity. A walk holds the lock no longer than
  /// for that many.
  ///
  /// - Parameters:
  ///   - next: receives the children.
  ///   - list: the number of the list.
  ///   - last: the children that precede them; empty at the beginning.
  /// - Returns: false where all of `last` have left, so that the position in the list is lost.
  func read(_ next: inout [Environment], of list: Int, after last: [Environment]) -> Bool {
    var start = lists[list].first.load(ordering: .relaxed)
    if !last.isEmpty {
      guard let place = last.last(where: { $0.core.previous.load(ordering: .relaxed) != .none }) else { return false }
      start = place.core.next.load(ordering: .relaxed).map { Unretained($0) }
    }
    append(from: start, to: &next, next.capacity)
    return true
  }

  private func append(from start: Unretained<Environment>?, to children: inout [Environment], _ maximum: Int) {
    var next = start
    while children.count < maximum, let child = next {
      children.append(child.object)
      next = child.with { $0.core.next.load(ordering: .relaxed) }.map { Unretained($0) }
    }
  }

  /// Stores the counts of environments below an ended child.
  func add(_ below: [ScopeStatistics]) { others.withLock { $0.add(below) } }

  /// The counts of the children that have ended, and of their children.
  var statistics: [ScopeStatistics] {
    var all = Array(others.withLock { $0 }.values)
    guard let plan = plan.load(ordering: .relaxed) else { return all }
    var own = ScopeStatistics(scope: plan.with { $0.name })
    for list in 0..<lists.count {
      own.finished += lists[list].finished.load(ordering: .relaxed)
      own.released += lists[list].released.load(ordering: .relaxed)
    }
    (own.opened, own.created) = (own.finished, own.released)
    all.append(own)
    return all
  }
}
