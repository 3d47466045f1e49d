import BeansEventLoop
@_spi(BeansPackage) import BeansSupport

/// How late loops run what is due: each has a timer every tenth of a second, which is late by what kept its loop busy.
///
/// Safe from any thread. Watching a loop costs it ten timers a second.
final class LoopLag: Sendable {
  private static let interval = Duration.milliseconds(100)

  /// The worst that each watched loop has come to since somebody asked.
  private let worst = Locked<[Duration]>([])

  /// Watches loops until they are closed.
  func watch(_ loops: [EventLoop]) {
    let first = worst.withLock { worst in
      defer { worst += loops.map { _ in .zero } }
      return worst.count
    }
    for (number, loop) in loops.enumerated() { measure(loop, first + number) }
  }

  private func measure(_ loop: EventLoop, _ number: Int) {
    let due = MonotonicTime.now + Self.interval
    loop.schedule(after: Self.interval) { [self] in
      let lag = MonotonicTime.now.since(due)
      worst.withLock { $0[number] = max($0[number], lag) }
      measure(loop, number)
    }
  }

  /// The worst of each watched loop since this was asked last.
  func takeWorst() -> [Duration] {
    worst.withLock { worst in
      defer { worst = worst.map { _ in .zero } }
      return worst
    }
  }
}
