// Each marked listing is in the article to the letter: see SessionsGuideTests.swift.

struct ScopesOfYourOwn {
  final class Till: Sendable {
    private let ends = Recorded<Void>()
    var isClosed: Bool { !ends.all.isEmpty }
    func close() { ends.append(()) }
  }
}

// listing
import Beans
import Synchronization

// end

extension ScopesOfYourOwn {
  // continued
  final class RequestMetrics: EnvironmentObserver {
    struct Totals { var open = 0, failed = 0, beans = 0, time = Duration.zero }
    private let totals = Mutex(Totals())
    var current: Totals { totals.withLock { $0 } }

    func childOpened(_ child: Environment) { totals.withLock { $0.open += 1 } }

    func childEnded(
      _ child: Environment, outcome: ScopeOutcome, beans: Int, start: ContinuousClock.Instant, duration: Duration
    ) {
      totals.withLock { totals in
        totals.open -= 1
        totals.beans += beans
        totals.time += duration
        if case .failed = outcome { totals.failed += 1 }
      }
    }
  }

  func observeChildren(of shop: Environment) throws -> RequestMetrics {
    let metrics = RequestMetrics()
    try shop.addObserver(metrics)
    return metrics
  }
  // end
}
