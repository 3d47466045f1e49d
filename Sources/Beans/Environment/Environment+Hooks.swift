package import BeansLogging
import Synchronization

/// The interface of an environment for the other modules of the package.
extension Environment {
  // MARK: users of a factory's child, for registries of children, which end those without users

  /// Whether the environment has users. Safe to read from any thread; the result may be outdated when this returns.
  package var isInUse: Bool { core.lifecycle.isInUse }

  /// Adds a body: until `leaveBody()`, the environment is not closed as unused, and is released only by an end that cannot
  /// wait. Safe to call from any thread.
  ///
  /// - Returns: false if the end has begun.
  package func tryEnter() -> Bool { changeLocked { $0.enterBody() } }

  /// Removes a body. The last user of an ending environment releases it.
  package func leaveBody() {
    if changeLocked({ $0.leaveBody() }) { release() }
  }

  /// Throws `.finished` if an end that could not wait has failed the environment, such as a deadline.
  package func checkBodies() throws {
    if core.lifecycle.isOverruled { throw finishedError() }
  }

  /// Runs `body` after `tryEnter()`, then calls `used()` and `leaveBody()`. A `shutdown()` inside `body` does not wait.
  package func inside<R>(_ body: (Environment) throws -> R) rethrows -> R {
    defer { leaveBody() }
    return try ResolutionContext.with(Unretained(self), nil) { _ in
      defer { used() }
      return try body(self)
    }
  }

  /// Runs `body` after `tryEnter()`, then calls `used()` and `leaveBody()`. An asynchronous `shutdown()` inside `body` does
  /// not wait; a synchronous one would wait for itself.
  package nonisolated(nonsending) func inside<R>(
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async rethrows -> R {
    defer {
      used()
      leaveBody()
    }
    return try await Environment.$releasing.withValue(self) { try await body(self) }
  }

  /// Ends lookups if the environment has no users; then the caller must call `finish()`, outside of its locks.
  ///
  /// - Returns: false if the environment has users, or if the end has begun.
  package func closeIfUnused(_ cause: EndCause) -> Bool { changeLocked { $0.closeIfUnused(cause) } }

  /// Begins the end as `finish()` does, with a cause for the error of later lookups.
  package func finish(by cause: EndCause) { beginFinish(cause) }

  // MARK: work

  /// The clock of schedules, restarts and sessions: the nearest one that has been set, or the system's.
  package var clock: EnvironmentClock {
    resourcesOutwards.compactMap(\.clock).first ?? .system
  }

  /// The logger of the container here.
  package var logger: Logger { log.logger }

  /// The runner of the beans; nil until a call runs or stops them.
  package var runner: (any BeanRunner)? { existingExtras?.existingWorks?.runner }

  /// Returns the runner of the beans, which this makes if there is none.
  package func runner<R: BeanRunner>(_ make: () -> R) -> R { extras.works.runner(make) }

  /// Whether lookups have ended because of a failed start.
  package var isFailed: Bool { core.lifecycle.isFailed }

  /// The error of a start that has failed; nil where the end of the environment is the cause.
  package var startFailure: (any Error)? {
    guard core.lifecycle.isFailed, let failure = resources?.failure else { return nil }
    return if (failure as? EnvironmentError)?.code == .finished { nil } else { failure }
  }

  /// The number of scheduled calls that have failed, here and below.
  package var failedCalls: Int { resources?.failedCalls.load(ordering: .relaxed) ?? 0 }

  /// Counts a failed call here and further out: an environment that ends takes its own counts with it.
  package func countFailedCall() {
    for resources in resourcesOutwards { resources.failedCalls.add(1, ordering: .relaxed) }
  }

  // MARK: reports

  /// The counts of `statistics()`, maintained while environments open and end: the cost does not depend on how many are
  /// live.
  ///
  /// Excludes the beans that live children of factories have created; see `forEachLive`. Nil in a child of a factory.
  package var keptStatistics: [ScopeStatistics]? {
    countsBelow.map { ScopeStatistics.merged([ownStatistics] + $0) }
  }

  /// Calls `body` with each live environment below, and with the number of its created beans that `keptStatistics`
  /// excludes.
  ///
  /// Holds a lock for a few hundred siblings at a time. Visits no environment twice, and may miss those that open
  /// meanwhile. Safe to call from any thread.
  ///
  /// - Parameters:
  ///   - maximum: the number of environments to visit; reduced by each visit.
  ///   - body: called outside of all locks.
  /// - Returns: false if some were left out: beyond the maximum, or because a whole slice of siblings ended meanwhile.
  package func forEachLive(upTo maximum: inout Int, _ body: (Environment, Int) -> Void) -> Bool {
    LiveEnvironments(below: self).forEach(upTo: &maximum, body)
  }

  /// The number of failed releases here and below so far; 0 for children of factories.
  package var failedReleases: Int { resources?.failedReleases.load(ordering: .relaxed) ?? 0 }

  /// Whether the environment serves: startup has ended, lookups find every bean that is not lazy, and no end has begun,
  /// neither of the environment nor of its runs.
  package var isReady: Bool {
    guard core.lifecycle.isOpen else { return false }
    guard let extras = existingExtras else { return true }
    return extras.resources?.unready.isEmpty != false && extras.existingWorks?.runner?.isEnding != true
  }

  /// The aliases of beans, by the path of their environment (as in `graph()`) and then by the bean's own id.
  package var aliases: [String: [String: [String]]] { EnvironmentReport(self).aliases }

  // MARK: tests

  /// Installs the hook of a test, here and below. Call this before the first lookup.
  package func install(_ hook: any EnvironmentHook) { resources?.install(hook) }

  /// The place where the factory of the environment is declared; nil for an environment that is no child of a factory.
  package var factoryOrigin: EnvironmentError.Origin? { core.plan?.object.opening?.origin }

  /// The labels of the beans that the calling thread is building, outermost first.
  package static var beansBeingBuilt: [String] { ResolutionContext.path }
}
