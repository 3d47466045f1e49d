import Beans
@_spi(BeansPackage) import BeansErrors
import BeansLogging

extension Environment {
  /// The runs of the beans, made on demand.
  var runs: Runner { runner { Runner(self) } }

  /// The runs of the beans; nil until a call runs or stops them.
  var existingRuns: Runner? { runner as? Runner }

  /// Runs the beans until the end of the environment.
  ///
  /// - Parameters:
  ///   - options: additional checks and records of the start.
  ///   - place: the place of the call, for errors.
  ///   - end: shuts the environment down.
  func runBeans(
    _ options: Set<StartupOption>, at place: EnvironmentError.Origin, end: () async throws -> Void
  ) async throws {
    let runs = runs
    if isFinished, !runs.isStoppedBefore { throw finishedError().met(at: place) }
    guard runs.begin() else {
      throw EnvironmentError(
        cause: .runTwice, "environment '\(name)' runs already", path: ["'\(name)'"], origin: place)
    }
    if Task.isCancelled { runs.end(.cancelled) }
    if let cause = runs.causeOfEnd { logger.info("'\(name)' does not run: \(cause.text) before run()") }
    whenFinished { runs.end(.released) }
    let start = runs.isEnding ? nil : Task { await startRuns(runs, options, place) }
    await withTaskCancellationHandler {
      await runs.untilEnd()
    } onCancel: {
      runs.end(.cancelled)
    }
    start?.cancel()
    if start != nil, !runs.hasStarted, let cause = runs.causeOfEnd {
      logger.info("'\(name)' ends during its start: \(cause.text)")
    }
    var later: (any Error)?
    do { try await end() } catch { later = error }
    let failures = runs.finish()
    // The failure of a start has ended the environment before it is known here.
    guard let first = failures.first ?? startFailure?.met(at: place) else {
      if let later { throw later }
      return
    }
    guard let first = first as? EnvironmentError else { throw first }
    var others: [any Error] = Array(failures.dropFirst())
    if let later { others.append(later) }
    throw first.with { $0.underlying += others }
  }

  /// Makes the environment ready, and starts each bean that runs. A failure ends `run()`, unless its end has begun.
  private func startRuns(
    _ runs: Runner, _ options: Set<StartupOption>, _ place: EnvironmentError.Origin
  ) async {
    do {
      if let parent, !isFinished { try await parent.makeReady() }
      if isFinished { throw finishedError() }
      try startIfNeeded(options: options)
      try Task.checkCancellation()
      try using { runs.startExisting(in: self) }
      try await makeReady(options: options)
      try using { runs.startExisting(in: self) }
      runs.started()
    } catch {
      if isFailed { return runs.end(.failed) }
      // Another caller ends the environment, or the end of `run()` has cancelled the start.
      if runs.isEnding || isFinished { return }
      let cause = error.met(at: place)
      runs.fail(
        cause as? EnvironmentError
          ?? EnvironmentError(.creationFailed, "'\(name)' did not start: \(error)", underlying: [error]))
    }
  }
}

extension Error {
  /// Returns the error with the place of the call, if it is one of the container's.
  fileprivate func met(at place: EnvironmentError.Origin) -> any Error {
    (self as? EnvironmentError)?.met(by: place) ?? self
  }
}
