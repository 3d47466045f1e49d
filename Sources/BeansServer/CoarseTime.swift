import Synchronization

/// The time in tenths of a second, for code that must not pay for reading the clock: the time of the last update.
///
/// By the clock of `MonotonicClock.now`. Four bytes last for 13 years since the start of the machine.
package enum CoarseTime {
  private static let told = Atomic<UInt32>(0)

  /// The time of the last update; 0 if there was none, as without a `LoopLag` that watches a loop.
  package static var latest: UInt32 { told.load(ordering: .relaxed) }

  /// Sets the time. Callable from any thread. Two threads may set it back by the moment between them.
  package static func tell(_ nanoseconds: UInt64) { told.store(of(nanoseconds), ordering: .relaxed) }

  package static func of(_ nanoseconds: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: nanoseconds / 100_000_000) }
}
