/// The number of sessions of a `SessionRegistry`, and of the ended ones by reason.
///
/// An ended session is included in the count of its reason once its beans are released.
public struct SessionCounts: Sendable, Hashable {
  /// The number of sessions, as in `SessionRegistry.count`.
  public var open = 0
  /// The number of sessions that have been opened or added so far.
  public var opened = 0
  /// The number of replaced ids.
  public var rotated = 0
  /// The number of sessions whose idle time or deadline has passed.
  public var expired = 0
  /// The number of sessions that were evicted to make room for others.
  public var evicted = 0
  /// The number of sessions that have ended for another reason.
  public var ended = 0

  /// Creates counts of no session.
  public init() {}
}

/// The statistics of a `SessionRegistry`, for reports and metrics.
///
/// The counts are of one moment; the figures of single sessions are of later moments.
public struct SessionStatistics: Sendable, Hashable {
  /// The number of sessions, and of the ended ones by reason.
  public var counts: SessionCounts
  /// The maximum number of sessions; nil for any number.
  public var capacity: Int?
  /// The number of sessions in use.
  public var inUse = 0
  /// The time since the oldest session was opened; nil if there is none.
  public var oldestAge: Duration?
  /// The idle time of the least recently used session; nil if each session is in use.
  public var longestIdle: Duration?

  /// Creates statistics without figures of single sessions.
  public init(counts: SessionCounts, capacity: Int? = nil) { (self.counts, self.capacity) = (counts, capacity) }
}
