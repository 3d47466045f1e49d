import BeansErrors
import Dispatch

/// The record of the end of one environment: its cause, its failures, the calls that wait, and the releases in flight.
struct EndRecord {
  /// The call of `finish()` or `shutdown()` that has ended the environment.
  var call: CallPlace?
  /// The error with which the scope has ended; the first one decides.
  var scopeFailure: (any Error)?
  /// The failures of releases that no caller has thrown yet.
  var failures: [any Error] = []
  /// Whether everything has been released.
  var isOver = false
  var callbacks: [@Sendable () -> Void] = []
  /// The signals that wake the threads that wait for the end, whenever one of them may have to continue it.
  var waiting: [DispatchSemaphore] = []
  /// The watch that waits for the end.
  var watch: EndWatch?
  /// The part of the end that was handed over last.
  var errand: Errand?
  /// Whether a task continues the end.
  var continuesInTask = false
  /// The releases in flight: that of the end, and those of scopes and owners. Recorded where a thread or a task waits.
  var releases: [ReleaseInProgress] = []

  /// The release of the end that is in flight.
  var running: ReleaseInProgress? { releases.first { $0.release.behind != nil } }

  /// Returns the failures. Each failure is returned once.
  mutating func takeFailures() -> [any Error] {
    defer { failures = [] }
    return failures
  }
}
