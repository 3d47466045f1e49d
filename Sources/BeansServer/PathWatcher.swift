@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import BeansLogging

/// The watchers of all places through which a path leads to its file.
///
/// After a change, `renew` makes the watchers follow the path again: an old one stays with the directory or the file that
/// it was made for, wherever that is now.
final class PathWatcher: Sendable {
  /// The number of attempts to make watchers without a change of the path meanwhile.
  private static let attempts = 8

  private let path: String
  private let loop: EventLoop
  private let changed: @Sendable () -> Void
  private let state = Locked(State())

  private struct State {
    var watchers: [FileWatcher] = []
    var isClosed = false
    /// The places that could not be watched, each of which is reported once.
    var unwatched: Set<String> = []
  }

  /// Creates a watcher, which watches nothing before `renew`.
  ///
  /// - Parameters:
  ///   - path: the path of the file, of which any part may be missing.
  ///   - loop: the loop that observes the changes.
  ///   - changed: called on the loop's thread after each change of the file or of a name on the way to it.
  init(path: String, on loop: EventLoop, changed: @escaping @Sendable () -> Void) {
    self.path = path
    self.loop = loop
    self.changed = changed
  }

  deinit { close() }

  /// Watches the places to which the path leads now. Called on the loop's thread.
  func renew() {
    var current = WatchedPath(path)
    for _ in 0..<Self.attempts {
      watch(current)
      // A change between the look and the watch has caused no event.
      let next = WatchedPath(path)
      if next == current { return }
      current = next
    }
    // The path changes faster than it is watched: another look comes later.
    changed()
  }

  /// Closes all watchers. Idempotent, callable from any thread.
  func close() {
    let watchers = state.withLock { state in
      state.isClosed = true
      defer { state.watchers = [] }
      return state.watchers
    }
    for watcher in watchers { watcher.cancel() }
  }

  private func watch(_ path: WatchedPath) {
    if state.withLock({ $0.isClosed }) { return }
    let watchers = path.places.compactMap(watch)
    // The new watchers exist before the old ones are closed, so that no event is lost.
    let old = state.withLock { state in
      if state.isClosed { return watchers }
      defer { state.watchers = watchers }
      return state.watchers
    }
    for watcher in old { watcher.close() }
  }

  private func watch(_ place: WatchedPath.Place) -> FileWatcher? {
    let changed = changed
    do throws(EventLoopError) {
      return try loop.onFileChange(place.path) { if place.isConcerned(by: $0.name) { changed() } }
    } catch {
      // A place that has gone meanwhile is no longer part of the path.
      if error.code == .notFound { return nil }
      if state.withLock({ $0.unwatched.insert(place.path).inserted }) {
        LogManager.getLogger(forName: "Beans.Configuration").error(
          "changes of \(path) may pass unnoticed: \(place.path) is not watched: \(error)")
      }
      return nil
    }
  }
}
