import Synchronization

/// The time in tenths of a second, for what must not cost reading the clock: as of the last time that somebody has told it.
///
/// By the clock of `LoopScope.now`. Four bytes last for 13 years since the machine was started.
enum CoarseTime {
  private static let told = Atomic<UInt32>(0)

  /// What was told last; 0 where nobody has, as where no `LoopLag` watches a loop.
  static var latest: UInt32 { told.load(ordering: .relaxed) }

  /// From any thread. Two threads may put it back by the moment between them.
  static func tell(_ nanoseconds: UInt64) { told.store(of(nanoseconds), ordering: .relaxed) }

  static func of(_ nanoseconds: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: nanoseconds / 100_000_000) }
}
