/// The statistics of one scope: of the children of factories, or of sessions, for reports and metrics.
///
/// The counts are of one moment; the figures of single sessions are of later moments.
public struct ScopeStatistics: Sendable, Equatable {
  /// The name of the scope, or of an environment that is no child of a factory.
  public let scope: String
  /// The number of environments that have not finished. Excludes sessions whose id is unknown because they are ending.
  public var open = 0
  /// The number of environments opened so far.
  public var opened = 0
  /// The number of environments finished, with their beans released.
  public var finished = 0
  /// The number of beans created in finished environments; 0 where the statistics are of sessions.
  public var created = 0
  /// The number of beans released; 0 where the statistics are of sessions.
  public var released = 0

  /// The number of finished sessions whose idle time or deadline has passed.
  public var expired = 0
  /// The number of finished sessions that were evicted to make room for others.
  public var evicted = 0
  /// The number of environments that finished for another reason.
  package var ended: Int { finished - expired - evicted }
  /// The number of replaced ids of sessions.
  public var rotated = 0
  /// The maximum number of sessions; nil for any number.
  public var capacity: Int?
  /// The number of sessions in use.
  public var inUse = 0
  /// The time since the oldest session was opened; nil if there is none.
  public var oldestAge: Duration?
  /// The idle time of the least recently used session; nil if each session is in use.
  public var longestIdle: Duration?

  /// Creates the statistics of a scope without environments.
  package init(scope: String) { self.scope = scope }

  /// Creates the statistics of one environment that has ended.
  init(ended scope: String, released: Int) {
    self.scope = scope
    (opened, finished, created, self.released) = (1, 1, released, released)
  }

  mutating func add(_ other: ScopeStatistics) {
    open += other.open
    opened += other.opened
    finished += other.finished
    created += other.created
    released += other.released
  }

  /// Returns one element for each scope, in order of name.
  static func merged(_ all: [ScopeStatistics]) -> [ScopeStatistics] {
    var byScope = [String: ScopeStatistics]()
    byScope.add(all)
    return byScope.values.sorted { $0.scope < $1.scope }
  }
}

extension [String: ScopeStatistics] {
  /// Adds statistics, each to those of its scope.
  mutating func add(_ all: [ScopeStatistics]) {
    for counts in all { self[counts.scope, default: ScopeStatistics(scope: counts.scope)].add(counts) }
  }
}
