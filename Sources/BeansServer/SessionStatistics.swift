/// How many sessions a `SessionRegistry` has, and what became of the others.
///
/// A session that has ended is counted by what ended it once its beans are released.
public struct SessionCounts: Sendable, Hashable {
  /// Sessions there are, as `SessionRegistry.count` counts them.
  public var open = 0
  /// Sessions that have been opened or taken in so far.
  public var opened = 0
  /// How often a session has got another id.
  public var rotated = 0
  /// Sessions that have ended because nobody used them, or because their deadline had passed.
  public var expired = 0
  /// Sessions that have ended to make room for others.
  public var evicted = 0
  /// Sessions that have ended for another reason.
  public var ended = 0

  /// Counts of no session.
  public init() {}
}

/// What a `SessionRegistry` knows of its sessions: for reports and metrics.
///
/// The counts are of one moment; what was found out session by session is of the moments after it.
public struct SessionStatistics: Sendable, Hashable {
  /// How many sessions there are, and what became of the others.
  public var counts: SessionCounts
  /// How many sessions there may be; nil for any number.
  public var capacity: Int?
  /// Sessions that somebody is inside of.
  public var inUse = 0
  /// The time since the oldest session was opened; nil where there is none.
  public var oldestAge: Duration?
  /// How long the session that was used longest ago has not been used; nil where somebody is inside of each.
  public var longestIdle: Duration?

  /// Creates statistics that have found nothing out session by session.
  public init(counts: SessionCounts, capacity: Int? = nil) { (self.counts, self.capacity) = (counts, capacity) }
}
