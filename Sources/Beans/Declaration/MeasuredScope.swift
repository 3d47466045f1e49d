/// The scope object of a session that measures the uses of the session and may end it by itself.
package protocol MeasuredScope: HostedScope {
  /// The time of the last use of the child, in nanoseconds like `MonotonicClock.now`; nil if no idle time is measured.
  var lastUseIfMeasured: UInt64? { get }
  /// Whether the deadline or the idle time has ended the child.
  var hasExpired: Bool { get }
}
