extension Environment {
  /// Validates all declarations and builds every singleton that is not lazy. The first lookup does it otherwise.
  ///
  /// Starts the parent first. Threads that come meanwhile wait. A second call returns at once.
  ///
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; what a factory
  ///   threw as `.creationFailed`. What was already built has been released then, in reverse order, and every later
  ///   call throws the same error.
  @discardableResult
  public func startup() throws -> Self {
    if core.lifecycle.isEnding { throw finishedError() }
    try startIfNeeded()
    return self
  }
}
