import Beans
@_spi(BeansPackage) import BeansErrors

/// The sessions by id, with the order of eviction. A value that is not synchronised, guarded by its `Sessions`.
///
/// The table does not record each use in its heaps: their times may be too early, and are corrected at the top of the
/// heap. So finding a session costs the same with a capacity and without.
struct SessionTable {
  struct Entry {
    var id: String
    let environment: Environment
    /// The scope, which may have the reason of the session's end and the time of its last use.
    let scope: (any MeasuredScope)?
    let opened: UInt64
    /// The time of the last recorded use; a use that the scope has measured may be later. Of two uses, one is earlier.
    var lastUse: UInt64
    /// The time of the last use by the clock of the idle limit.
    var idleSince: UInt64
    /// Whether the session may have been used since `idleSince`.
    var isWatched = false
    /// Whether the session can be found by its id. An unlisted session is ending, and stays until it has ended.
    var isListed = true
    var isEvicted = false
    var isExpired = false
  }

  /// A session that has been found or added.
  struct Found: Sendable {
    let environment: Environment
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
  var entries: [Entry?] = []
  private var unused: [Int32] = []
  private var indices: [String: Int32] = [:]
  private let isOrdered: Bool
  /// The listed sessions, the least recently used one at the top. Empty without an order.
  private var order = SessionHeap()
  private var latest: UInt64 = 0
  /// The time without use after which a session is idle, in nanoseconds; nil for never.
  let idleLimit: UInt64?
  /// The listed sessions by the time of their next check for idleness. Empty without a limit.
  var checks = SessionHeap()
  /// The time by the clock of the idle limit. Set by `Sessions`, because reading that clock runs code of users.
  var clockTime: UInt64 = 0

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - isOrdered: true if `makeRoom()` will be called.
  ///   - idleLimit: the time without use after which a session is idle, in nanoseconds; nil for never.
  init(isOrdered: Bool, idleLimit: UInt64?) { (self.isOrdered, self.idleLimit) = (isOrdered, idleLimit) }

  /// The number of sessions that can be found by their id.
  var count: Int { indices.count }

  /// The time by the clock of the idle limit, or else the monotonic time.
  private var time: UInt64 { idleLimit == nil ? MonotonicClock.now : clockTime }

  /// Returns the time, later than the last one: of two uses, one is earlier.
  private mutating func now() -> UInt64 {
    latest = max(time, latest + 1)
    return latest
  }

  /// Returns the time of the last use that the scope of a session has measured; nil if the table measures the uses.
  private func measuredUse(_ index: Int32) -> UInt64? {
    idleLimit == nil ? entries[Int(index)]?.scope?.lastUseIfMeasured : nil
  }

  // MARK: finding

  /// Returns the session with that id, unless it is ending.
  ///
  /// - Parameters:
  ///   - id: the id of the session.
  ///   - entering: true to enter the session.
  mutating func find(_ id: String, entering: Bool) -> Found? {
    guard let index = indices[id], let environment = entries[Int(index)]?.environment else { return nil }
    guard entering ? environment.tryEnter() : !environment.isFinished else { return nil }
    if isOrdered || idleLimit != nil, measuredUse(index) == nil { noteUse(index, isWatched: !entering) }
    return Found(environment: environment, index: index)
  }

  /// Notes a use.
  ///
  /// - Parameters:
  ///   - index: the index of a listed session.
  ///   - isWatched: true if the use may go on without the knowledge of the table, as that of a child does.
  private mutating func noteUse(_ index: Int32, isWatched: Bool) {
    if isOrdered {
      let now = now()
      entries[Int(index)]?.lastUse = now
    }
    if idleLimit != nil { noteIdleTime(index, isWatched: isWatched) }
  }

  /// Notes the end of a use, of a session that may have ended meanwhile.
  mutating func leave(_ session: Found) {
    guard let entry = entries[Int(session.index)], entry.environment === session.environment, entry.isListed else {
      return
    }
    noteUse(session.index, isWatched: session.environment.isInUse)
  }

  // MARK: coming and going

  /// Lists a session under an unused id. The index in the result identifies the session until it is removed.
  ///
  /// - Parameters:
  ///   - environment: the session.
  ///   - id: the id of the session.
  ///   - isWatched: true if the session may be used without the knowledge of the table.
  mutating func insert(_ environment: Environment, as id: String, isWatched: Bool) -> Found {
    let now = now()
    let scope = environment.host.flatMap { $0 as? any MeasuredScope }
    let entry = Entry(
      id: id, environment: environment, scope: scope, opened: now, lastUse: now, idleSince: clockTime)
    let index = unused.popLast() ?? Int32(entries.count)
    if Int(index) == entries.count { entries.append(entry) } else { entries[Int(index)] = entry }
    indices[id] = index
    if isOrdered { order.insert(index, at: now) }
    if let idleLimit {
      checks.insert(index, at: clockTime + idleLimit)
      noteIdleTime(index, isWatched: isWatched)
    }
    return Found(environment: environment, index: index)
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

  /// Removes the id of a session, unless the session has ended.
  mutating func unlist(_ session: Found) {
    if entries[Int(session.index)]?.environment === session.environment { unlist(session.index) }
  }

  mutating func unlist(_ index: Int32) {
    guard let entry = entries[Int(index)], entry.isListed else { return }
    indices[entry.id] = nil
    entries[Int(index)]?.isListed = false
    order.remove(index)
    checks.remove(index)
  }

  /// Removes an ended session. Returns the event of its end, and the session, whose reference is to be dropped outside
  /// of the caller's locks.
  mutating func remove(_ index: Int32) -> (SessionEvent, Environment)? {
    unlist(index)
    guard let entry = entries[Int(index)] else { return nil }
    entries[Int(index)] = nil
    unused.append(index)
    if entry.isEvicted { return (.evicted(entry.id), entry.environment) }
    let isExpired = entry.isExpired || entry.scope?.hasExpired == true
    return (isExpired ? .expired(entry.id) : .ended(entry.id), entry.environment)
  }

  // MARK: making room

  /// Closes the least recently used session that is not in use.
  ///
  /// Takes time for each session in use whose last use is earlier.
  mutating func makeRoom() -> Room {
    var inUse: [SessionHeap.Node] = []
    defer {
      for node in inUse {
        entries[Int(node.index)]?.lastUse = node.time
        order.insert(node.index, at: node.time)
      }
    }
    while let top = order.first, let entry = entries[Int(top.index)] {
      let latestUse = max(entry.lastUse, measuredUse(top.index) ?? 0)
      if latestUse > top.time {
        order.move(top.index, to: latestUse)
        if order.first?.index != top.index { continue }
      }
      if entry.environment.closeIfUnused(.evicted) {
        unlist(top.index)
        entries[Int(top.index)]?.isEvicted = true
        return .one(evicted: entry.environment)
      }
      if entry.environment.isFinished {
        unlist(top.index)
        return .one(evicted: nil)
      }
      order.remove(top.index)
      inUse.append(SessionHeap.Node(time: now(), index: top.index))
    }
    return .none
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
  func survey(_ statistics: inout ScopeStatistics, from first: Int, upTo maximum: Int, at now: UInt64) -> Int? {
    let end = min(first + min(maximum, 1_024), entries.count)
    for index in min(first, end)..<end {
      guard let entry = entries[index], entry.isListed else { continue }
      let age = Duration.nanoseconds(Int64(clamping: now - min(entry.opened, now)))
      statistics.oldestAge = max(statistics.oldestAge ?? age, age)
      if entry.environment.isInUse {
        statistics.inUse += 1
      } else {
        let lastUse = idleLimit == nil ? max(entry.lastUse, entry.scope?.lastUseIfMeasured ?? 0) : entry.idleSince
        let idle = Duration.nanoseconds(Int64(clamping: now - min(lastUse, now)))
        statistics.longestIdle = max(statistics.longestIdle ?? idle, idle)
      }
    }
    return end < entries.count ? end : nil
  }
}
