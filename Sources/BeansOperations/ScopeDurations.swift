public import Beans
@_spi(BeansPackage) import BeansErrors

/// The durations and outcomes of the children of factories, for `/metrics`: how long requests and sessions last, and how
/// many fail.
///
/// Add it to the environment before startup, and give it to its `Operations`:
///
///     let durations = ScopeDurations()
///     try application.addObserver(durations)
///     let operations = Operations(environment: application, durations: durations)
///
/// Safe to use from any thread. An observed child costs two readings of the clock, an allocation and two locks.
public final class ScopeDurations: EnvironmentObserver {
  /// The upper bounds of all buckets but the last, in seconds.
  static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600]

  /// The measurements of one scope.
  struct Scope: Sendable {
    var counts = [Int](repeating: 0, count: ScopeDurations.bounds.count + 1)
    var sum = Duration.zero
    var completed = 0
    var failed = 0
  }

  private let scopes = Locked<[String: Scope]>([:])

  /// Creates an observer without measurements.
  public init() {}

  /// Measures a child that has ended.
  public func childEnded(
    _ child: Environment, outcome: ScopeOutcome, beans: Int, start: ContinuousClock.Instant, duration: Duration
  ) {
    let bucket = Self.bounds.firstIndex { duration.seconds <= $0 } ?? Self.bounds.count
    let hasFailed = if case .failed = outcome { true } else { false }
    scopes.withLock { scopes in
      scopes[child.name, default: Scope()].add(duration, bucket, hasFailed: hasFailed)
    }
  }

  /// The measurements so far, by scope.
  var measured: [(scope: String, measurements: Scope)] {
    scopes.withLock { $0 }.sorted { $0.key < $1.key }.map { (scope: $0.key, measurements: $0.value) }
  }
}

extension ScopeDurations.Scope {
  fileprivate mutating func add(_ duration: Duration, _ bucket: Int, hasFailed: Bool) {
    counts[bucket] += 1
    sum += duration
    if hasFailed { failed += 1 } else { completed += 1 }
  }
}

extension ScopeDurations {
  /// The measurements as families of metrics.
  var families: [MetricFamily] {
    var durations = MetricFamily(
      .histogram, "beans_environments_duration", unit: "seconds", "The time from opening to the last release, by scope."
    )
    var outcomes = MetricFamily(
      .counter, "beans_environments_outcomes", "Environments finished, by scope and outcome.")
    for (scope, measurements) in measured {
      durations.add(
        measurements.counts, bounds: Self.bounds, sum: measurements.sum.seconds, ("scope", scope))
      outcomes.add(.integer(measurements.completed), ("scope", scope), ("outcome", "completed"))
      outcomes.add(.integer(measurements.failed), ("scope", scope), ("outcome", "failed"))
    }
    return [durations, outcomes]
  }
}
