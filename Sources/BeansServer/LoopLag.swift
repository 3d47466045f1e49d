@_spi(BeansPackage) import BeansErrors
public import BeansEventLoop

/// The delay of due work on event loops: each loop has a timer every tenth of a second, which is late by the time that
/// its loop was busy.
///
/// Safe from any thread. Watching costs a loop ten timers a second, until the loop is closed. While a loop is watched,
/// reports contain the age of the oldest request.
public final class LoopLag: Sendable {
  /// The upper bounds of the histogram's buckets, in seconds; one more bucket takes the rest.
  package static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
  private static let nanosecondBounds = bounds.map { UInt64($0 * 1_000_000_000) }
  private static let interval: UInt64 = 100_000_000

  /// The measurements of one loop.
  package struct Histogram: Sendable {
    /// The counts by bucket, the last one without a bound.
    package fileprivate(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all delays in nanoseconds, like `longest`.
    package fileprivate(set) var sum: UInt64 = 0
    package fileprivate(set) var longest: UInt64 = 0
    /// The longest delay since the last call of `takeWorst()`.
    fileprivate var recent: UInt64 = 0
  }

  private let loops = Locked<[Histogram]>([])

  /// Creates an instance that watches no loop.
  public init() {}

  /// Watches loops until they are closed.
  public func watch(_ loops: [EventLoop]) {
    let first = self.loops.withLock { known in
      defer { known += loops.map { _ in Histogram() } }
      return known.count
    }
    for (number, loop) in loops.enumerated() { measure(loop, first + number) }
  }

  private func measure(_ loop: EventLoop, _ number: Int) {
    let begun = LoopScope.now
    CoarseTime.tell(begun)
    let due = begun + Self.interval
    loop.schedule(after: .nanoseconds(Int64(Self.interval))) { [self] in
      let now = LoopScope.now
      let lag = now - min(due, now)
      let bucket = Self.nanosecondBounds.firstIndex { lag <= $0 } ?? Self.bounds.count
      self.loops.withLock { loops in
        loops[number].counts[bucket] += 1
        loops[number].sum += lag
        loops[number].longest = max(loops[number].longest, lag)
        loops[number].recent = max(loops[number].recent, lag)
      }
      measure(loop, number)
    }
  }

  /// Returns the longest delay of each watched loop since the last call.
  package func takeWorst() -> [Duration] {
    loops.withLock { loops in
      defer { for index in loops.indices { loops[index].recent = 0 } }
      return loops.map { .nanoseconds(Int64(clamping: $0.recent)) }
    }
  }

  /// The histograms by loop, in the order of the loops in calls of `watch`.
  package var histograms: [Histogram] { loops.withLock { $0 } }
}
