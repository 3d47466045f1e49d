import Beans

/// The sessions by id, with the order of eviction. A value that is not synchronised, guarded by its registry.
///
/// The table does not record each use: the times in its heap may be too early, and are corrected at the top of the
/// heap. So finding a session costs the same with a capacity and without.
struct SessionTable {
  private struct Entry {
    var id: String
    let environment: Environment
    /// The scope, which has the reason of the session's end, and mostly the time of its last use.
    let scope: (any MeasuredScope)?
    let opened: UInt64
    /// The time of the last recorded use, in nanoseconds like `MonotonicClock.now`; a use that the scope has seen may be
    /// later.
    var lastUse: UInt64
    /// The place in `order`, if there is an order.
    var place: Int32 = 0
    /// Whether the session can be found by its id. An unlisted session is ending, and stays until it has ended.
    var isListed = true
    var isEvicted = false

    /// The time of the last use, as far as it is known.
    var latestUse: UInt64 { max(lastUse, scope?.lastUseIfMeasured ?? 0) }
  }

  private struct Node {
    var lastUse: UInt64
    let index: Int32
  }

  /// The outcome of making room.
  enum Room {
    /// No room: each session is in use.
    case none
    /// Room for one session. If a session was closed for that, the caller calls its `finish()`.
    case one(evicted: Environment?)
  }

  /// The sessions that have not ended; an index is stable until then.
  private var entries: [Entry?] = []
  private var unused: [Int32] = []
  private var indices: [String: Int32] = [:]
  private let isOrdered: Bool
  /// A heap of the listed sessions, the least recently used one at the top. Empty without an order.
  private var order: [Node] = []
  private var latest: UInt64 = 0

  /// Creates an empty table.
  ///
  /// - Parameter isOrdered: true if `makeRoom()` will be called.
  init(isOrdered: Bool) { self.isOrdered = isOrdered }

  /// The number of sessions that can be found by their id.
  var count: Int { indices.count }

  /// Returns the time, later than the last one: of two uses, one is earlier.
  private mutating func now() -> UInt64 {
    latest = max(MonotonicClock.now, latest + 1)
    return latest
  }

  // MARK: finding

  /// Returns the session with that id, unless it is ending.
  ///
  /// - Parameters:
  ///   - id: the id of the session.
  ///   - entering: true to enter the session.
  mutating func find(_ id: String, entering: Bool) -> Environment? {
    guard let index = indices[id], let environment = entries[Int(index)]?.environment else { return nil }
    guard entering ? environment.tryEnter() : !environment.isFinished else { return nil }
    if isOrdered, entries[Int(index)]?.scope?.lastUseIfMeasured == nil {
      let now = now()
      entries[Int(index)]?.lastUse = now
    }
    return environment
  }

  // MARK: coming and going

  /// Lists a session under an unused id. The index identifies the session until it is removed.
  mutating func insert(_ environment: Environment, as id: String) -> Int32 {
    let now = now()
    let scope = environment.host as? any MeasuredScope
    let entry = Entry(id: id, environment: environment, scope: scope, opened: now, lastUse: now)
    let index = unused.popLast() ?? Int32(entries.count)
    if Int(index) == entries.count { entries.append(entry) } else { entries[Int(index)] = entry }
    indices[id] = index
    if isOrdered { push(index, now) }
    return index
  }

  /// Replaces the id of a session, and enters it; nil if there is none, or if it is ending.
  mutating func rename(_ id: String, to other: String) -> Environment? {
    guard let index = indices[id], let environment = entries[Int(index)]?.environment, environment.tryEnter() else {
      return nil
    }
    indices[id] = nil
    indices[other] = index
    entries[Int(index)]?.id = other
    return environment
  }

  /// Removes the id of a session, which is ending or will be ended by the caller.
  mutating func unlist(_ id: String) -> Environment? {
    guard let index = indices[id] else { return nil }
    unlist(index)
    return entries[Int(index)]?.environment
  }

  private mutating func unlist(_ index: Int32) {
    guard let entry = entries[Int(index)], entry.isListed else { return }
    indices[entry.id] = nil
    entries[Int(index)]?.isListed = false
    if isOrdered { removeNode(at: Int(entry.place)) }
  }

  /// Removes an ended session. Returns the event of its end, and the session, whose reference is to be dropped outside
  /// of the caller's locks.
  mutating func remove(_ index: Int32) -> (SessionEvent, Environment)? {
    unlist(index)
    guard let entry = entries[Int(index)] else { return nil }
    entries[Int(index)] = nil
    unused.append(index)
    if entry.isEvicted { return (.evicted(entry.id), entry.environment) }
    return (entry.scope?.hasExpired == true ? .expired(entry.id) : .ended(entry.id), entry.environment)
  }

  // MARK: making room

  /// Closes the least recently used session that is not in use.
  ///
  /// Takes time for each session in use whose last use is earlier.
  mutating func makeRoom() -> Room {
    var inUse: [Node] = []
    defer { for node in inUse { push(node.index, node.lastUse) } }
    while let top = order.first, let entry = entries[Int(top.index)] {
      if entry.latestUse > top.lastUse {
        order[0].lastUse = entry.latestUse
        siftDown(0)
        if order[0].index != top.index { continue }
      }
      if entry.environment.closeIfUnused() {
        unlist(top.index)
        entries[Int(top.index)]?.isEvicted = true
        return .one(evicted: entry.environment)
      }
      if entry.environment.isFinished {
        unlist(top.index)
        return .one(evicted: nil)
      }
      removeNode(at: 0)
      inUse.append(Node(lastUse: now(), index: top.index))
    }
    return .none
  }

  private mutating func push(_ index: Int32, _ lastUse: UInt64) {
    order.append(Node(lastUse: lastUse, index: index))
    entries[Int(index)]?.lastUse = lastUse
    entries[Int(index)]?.place = Int32(order.count - 1)
    siftUp(order.count - 1)
  }

  private mutating func removeNode(at place: Int) {
    let last = order.removeLast()
    guard place < order.count else { return }
    put(last, at: place)
    siftDown(place)
    siftUp(place)
  }

  private mutating func siftUp(_ start: Int) {
    var place = start
    let node = order[place]
    while place > 0, node.lastUse < order[(place - 1) / 2].lastUse {
      put(order[(place - 1) / 2], at: place)
      place = (place - 1) / 2
    }
    put(node, at: place)
  }

  private mutating func siftDown(_ start: Int) {
    var place = start
    let node = order[place]
    while 2 * place + 1 < order.count {
      var child = 2 * place + 1
      if child + 1 < order.count, order[child + 1].lastUse < order[child].lastUse { child += 1 }
      guard order[child].lastUse < node.lastUse else { break }
      put(order[child], at: place)
      place = child
    }
    put(node, at: place)
  }

  private mutating func put(_ node: Node, at place: Int) {
    order[place] = node
    entries[Int(node.index)]?.place = Int32(place)
  }

  // MARK: reports

  /// Adds the figures of some sessions.
  ///
  /// - Parameters:
  ///   - statistics: the statistics to update.
  ///   - first: the index at which to begin.
  ///   - maximum: the maximum number of surveyed sessions; at most a slice.
  ///   - now: the time from which ages are computed.
  /// - Returns: the index at which to continue; nil if all sessions have been surveyed.
  func survey(_ statistics: inout SessionStatistics, from first: Int, upTo maximum: Int, at now: UInt64) -> Int? {
    let end = min(first + min(maximum, 1_024), entries.count)
    for index in min(first, end)..<end {
      guard let entry = entries[index], entry.isListed else { continue }
      let age = Duration.nanoseconds(Int64(clamping: now - min(entry.opened, now)))
      statistics.oldestAge = max(statistics.oldestAge ?? age, age)
      if entry.environment.isInUse {
        statistics.inUse += 1
      } else {
        let idle = Duration.nanoseconds(Int64(clamping: now - min(entry.latestUse, now)))
        statistics.longestIdle = max(statistics.longestIdle ?? idle, idle)
      }
    }
    return end < entries.count ? end : nil
  }
}
