public import Beans
import BeansErrors
import BeansLogging

extension Environment {
  /// Makes the environment ready, runs its beans, and ends it in order.
  ///
  /// Runs every `RunnableBean` of this environment that exists when the environment is ready: singletons that are not
  /// lazy, and lazy ones that another bean takes. Each starts when the running beans that it takes, directly or through
  /// other beans, are ready (`RunnableBean.untilReady()`); an asynchronous bean is created when those that it takes
  /// are. Beans that do not need each other start side by side, in tasks of their own.
  ///
  /// Returns after the end of the environment: when the calling task is cancelled, when `stop()` is called, or when
  /// another call ends the environment. A run that returns ends nothing. The end cancels the runs one after the other, the
  /// latest first, and awaits each: until the last one has ended, lookups succeed here and in children, so that a run that
  /// serves requests completes them. Then the environment shuts down. An `await shutdown()` of another caller does the same.
  /// A run that ignores its cancellation is abandoned and named once the limit is over.
  ///
  /// - Parameters:
  ///   - options: additional checks and records of the start, see `startup(options:)`.
  ///   - shutdownLimit: the time limit of the end, see `shutdown(within:)`; nil to wait for every release.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: after the end, `.runFailed` for a run that has failed, with its error and those of the end in
  ///   `underlying`; the error of a start that has failed; the failures of releases; `.runFailed` at once if the
  ///   environment runs already.
  public func run(
    options: Set<StartupOption> = [], shutdownLimit: Duration? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    try await runBeans(options, at: EnvironmentError.Origin(file, line)) {
      if let shutdownLimit { try await shutdown(within: shutdownLimit) } else { try await shutdown() }
    }
  }

  /// Runs the beans as `run()` does, until one of the signals arrives: a complete `main` of a service.
  ///
  /// ```swift
  /// let shop = try Environment(name: "shop").include(Shop())
  /// try await shop.run(until: [.terminate, .interrupt])
  /// ```
  ///
  /// A signal that arrives during the start ends what has begun, in order. The first signal restores the former effects of
  /// all of them: a second one usually ends the process at once. A program with a `ServerLifecycle`, which drains requests
  /// first, calls `run()` of that one instead.
  ///
  /// - Parameters:
  ///   - signals: the signals, which have no other effect while this runs. Other causes end the environment as well, as for
  ///     `run()`.
  ///   - options: additional checks and records of the start, see `startup(options:)`.
  ///   - shutdownLimit: the time limit of the end, see `shutdown(within:)`; nil to wait for every release.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: the errors of `run()`.
  public func run(
    until signals: Set<ProcessSignal>, options: Set<StartupOption> = [], shutdownLimit: Duration? = .seconds(10),
    file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    let watch = SignalWatch(signals) { [self] signal in
      logger.info("'\(name)' ends: \(signal) has arrived")
      stop()
    }
    defer { watch.end() }
    try await run(options: options, shutdownLimit: shutdownLimit, file: file, line: line)
  }

  /// Whether a call of `run()` is in progress.
  package var isRunning: Bool { existingRuns?.isRunning == true }

  /// Runs the beans as `run()` does, for a server that ends the environment in a way of its own.
  ///
  /// - Parameters:
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - end: shuts the environment down. Called after `stop()`, or when the start or a run has failed.
  package func serve(file: StaticString, line: UInt, end: () async throws -> Void) async throws {
    try await runBeans([], at: EnvironmentError.Origin(file, line), end: end)
  }

  /// Makes `run()` end, also one that has not been called yet. Returns at once; callable from any thread, also from a
  /// bean that runs.
  public func stop() { runs.end(.stopped) }
}

/// The run of one bean at one moment, for reports.
package struct BeanRunReport: Sendable {
  package enum Status: Sendable {
    /// The run has not begun, or `untilReady()` has not returned.
    case starting
    case up
    /// The run has failed and will be called again.
    case restarting
    /// The run has returned.
    case ended
    /// The run has failed, or has never been called.
    case failed
  }

  /// The type of the bean and its id.
  package let label: String
  package let status: Status
  package let restarts: Int
  /// The reason of the last failure.
  package let reason: String?
}

extension Environment {
  /// The runs of the environment's own beans, in the order of their creation; empty before `run()`.
  package var runReports: [BeanRunReport] {
    (existingRuns?.runs ?? []).map { run in
      let (phase, restarts, reason) = run.progress
      let status: BeanRunReport.Status =
        switch phase {
        case .waiting, .starting: .starting
        case .ready: .up
        case .restarting: .restarting
        case .ended: .ended
        case .failed: .failed
        }
      return BeanRunReport(label: run.work.label, status: status, restarts: restarts, reason: reason)
    }
  }
}
