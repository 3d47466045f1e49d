import CBeansRuntime

/// One part of an environment's live children. Guarded by the lock of its shard, as are the links in the children's headers.
struct ChildList: @unchecked Sendable {
  /// Each child in the list is retained once.
  private var first: Unmanaged<Environment>?
  var isClosed = false

  // Counts, by scope. Most parents have children of one factory: its counts are at hand in `current`.
  private var statistics: [String: ScopeStatistics] = [:]
  private var plan: Unmanaged<Plan>?
  private var current = ScopeStatistics(scope: "")

  var isEmpty: Bool { first == nil }

  mutating func join(_ child: Environment, isShared: Bool) {
    let held = Unmanaged.passUnretained(child)
    if isShared { _ = held.retain() } else { beans_retain_unshared(held.toOpaque()) }
    child.header.next = first
    child.header.previous = nil
    first?._withUnsafeGuaranteedRef { $0.header.previous = held }
    first = held
    select(child.header.plan)
    current.opened += 1
  }

  /// Takes the child out of the list; its reference is the caller's then.
  mutating func leave(_ child: Environment, created: Int, released: Int) {
    let (previous, next) = (child.header.previous, child.header.next)
    if let previous {
      previous._withUnsafeGuaranteedRef { $0.header.next = next }
    } else {
      first = next
    }
    next?._withUnsafeGuaranteedRef { $0.header.previous = previous }
    select(child.header.plan)
    current.finished += 1
    current.created += created
    current.released += released
    // A plain child's plan goes with it, and another may get its address.
    if child.header.setup != nil { forget() }
  }

  private mutating func forget() {
    statistics[current.scope] = current
    plan = nil
    current = ScopeStatistics(scope: "")
  }

  var children: [Environment] {
    var children: [Environment] = []
    var next = first
    while let child = next {
      child._withUnsafeGuaranteedRef { children.append($0) }
      next = child._withUnsafeGuaranteedRef { $0.header.next }
    }
    return children
  }

  /// The counts of children that have gone with an ended child.
  mutating func add(_ below: [ScopeStatistics]) {
    if plan != nil { forget() }
    for counts in below {
      statistics[counts.scope, default: ScopeStatistics(scope: counts.scope)].add(counts)
    }
  }

  mutating func allStatistics() -> [ScopeStatistics] {
    if plan != nil { statistics[current.scope] = current }
    return Array(statistics.values)
  }

  /// Makes `current` the counts of that plan, whose child holds it.
  @inline(__always)
  private mutating func select(_ next: Unmanaged<Plan>) {
    if next.toOpaque() != plan?.toOpaque() { change(to: next) }
  }

  @inline(never)
  private mutating func change(to next: Unmanaged<Plan>) {
    if plan != nil { statistics[current.scope] = current }
    plan = next
    let scope = next._withUnsafeGuaranteedRef { $0.name }
    current = statistics[scope] ?? ScopeStatistics(scope: scope)
  }
}
