import BeansErrors
import Synchronization

/// A build that one thread makes while others wait for its end.
///
/// The owner of the build keeps the flight behind a lock, and removes it there before it calls `end`.
final class Flight: Sendable {
  private let thread = WaitForGraph.thread
  private let isOver = Atomic(false)
  private let isAwaited = Atomic(false)
  private var key: WaitForGraph.Key { WaitForGraph.Key(self) }

  /// Begins a build on the calling thread.
  init() {}

  /// Whether the calling thread makes the build, which is not over.
  var isOwn: Bool { thread == WaitForGraph.thread && !isOver.load(ordering: .acquiring) }

  /// Returns when the build is over.
  ///
  /// - Parameters:
  ///   - label: the label of the build, in errors and in the log.
  ///   - environment: the name of its environment.
  ///   - origin: the place of its declaration.
  /// - Throws: `.cyclicDependency` where the wait would never end.
  func wait(
    for label: String, in environment: String, origin: EnvironmentError.Origin? = nil
  ) throws {
    isAwaited.store(true, ordering: .sequentiallyConsistent)
    try WaitForGraph.wait(for: key, label, in: environment, origin: origin) {
      if isOver.load(ordering: .sequentiallyConsistent) { nil } else { thread }
    }
  }

  /// Ends the build. Called by the thread that makes it.
  func end() {
    isOver.store(true, ordering: .sequentiallyConsistent)
    if isAwaited.load(ordering: .sequentiallyConsistent) { WaitForGraph.end(key, nil) }
  }
}
