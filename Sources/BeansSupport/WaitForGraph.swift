package import BeansErrors
import BeansLogging
import CBeansRuntime
import Dispatch
import Synchronization

/// The threads that wait for a build in flight on another thread: a bean in a slot or a scope, or a whole environment.
///
/// Used only when two threads need the same missing instance. Records which thread waits for which build, and so
/// detects cycles.
package enum WaitForGraph {
  /// The identity of a build among all builds of the process: an object, or a numbered part of one.
  package struct Key: Hashable, Sendable {
    private let owner: ObjectIdentifier
    private let part: Int32?

    /// Creates the key. The object lives as long as the build.
    package init(_ owner: AnyObject, part: Int32? = nil) { (self.owner, self.part) = (ObjectIdentifier(owner), part) }
  }

  /// One build with at least one waiting thread.
  private final class PendingBuild: @unchecked Sendable {  // `error` is written before the group is left, read after
    let group = DispatchGroup()
    let builder: UInt
    var error: EnvironmentError?

    init(builder: UInt) {
      self.builder = builder
      group.enter()
    }
  }

  /// One waiting thread: the key of the build, and the labels of the beans in flight on this thread, the awaited one
  /// last.
  private struct Waiter {
    let key: Key
    let path: [String]
  }

  private struct State {
    var builds: [Key: PendingBuild] = [:]
    var waiters: [UInt: Waiter] = [:]
  }

  /// The function that returns the labels of the calling thread's builds in flight. A struct, because a closure that is
  /// the value of a generic lock is wrapped anew with each access.
  private struct PathFinder {
    let labels: @Sendable () -> [String]
  }

  private static let state = Locked(State())
  private static let logger = LogManager.getLogger(forName: "Beans.Environment")
  private static let path = Locked(PathFinder { [] })

  /// The id of the calling thread, as `builder` returns it.
  package static var thread: UInt { UInt(beans_thread()) }

  /// Sets the function that returns the labels of the calling thread's builds in flight, outermost first.
  package static func findPath(by path: @escaping @Sendable () -> [String]) {
    self.path.withLock { $0 = PathFinder(labels: path) }
  }

  /// Returns when the build has ended or was over already; throws the error of the build, or `.cyclicDependency`.
  ///
  /// `builder` returns the id of the building thread, or nil once the build
  /// is over; the thread that ends a build calls `end` after that. `end` may miss a thread that begins to wait at that
  /// moment.
  package static func wait(
    for key: Key, _ label: String, in environment: String, origin: EnvironmentError.Origin?, builder: () -> UInt?
  ) throws {
    let me = thread
    let path = path.withLock { $0 }.labels() + [label]
    let step: Result<PendingBuild?, EnvironmentError> = state.withLock { state in
      guard let builder = builder() else { return .success(nil) }
      // Follows the chain of waits from the builder: a way back to this thread is a cycle.
      var labels = path
      var thread = builder
      if thread == me {
        return .failure(
          EnvironmentError(
            cause: .circleOfLookups,
            "\(labels.joined(separator: " → ")); break the circle with a Provider that is called later", path: labels,
            origin: origin))
      }
      while let waiter = state.waiters[thread], let build = state.builds[waiter.key] {
        labels += waiter.path.drop { $0 != labels.last }.dropFirst()
        thread = build.builder
        guard thread == me else { continue }
        return .failure(
          EnvironmentError(
            cause: .circleOfLookups,
            "\(labels.joined(separator: " → ")), across threads; break the circle with a Provider that is called later",
            path: labels,
            origin: origin))
      }
      let build = state.builds[key].flatMap { $0.builder == builder ? $0 : nil } ?? PendingBuild(builder: builder)
      state.builds[key] = build
      state.waiters[me] = Waiter(key: key, path: path)
      return .success(build)
    }
    guard let build = try step.get() else { return }
    let begun = DispatchTime.now()
    var patience = DispatchTimeInterval.milliseconds(1)
    while build.group.wait(timeout: .now() + patience) == .timedOut {
      if builder() != build.builder {
        leave(key, build)
        continue
      }
      if case .seconds = patience {
        let seconds = (DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1_000_000_000
        logger.warn(
          "thread \(me) has waited \(seconds) s for \(label) in '\(environment)', "
            + "which thread \(build.builder) is building; waiting: \(path.joined(separator: " → "))")
      }
      patience = .seconds(5)
    }
    state.withLock { _ = $0.waiters.removeValue(forKey: me) }
    if let error = build.error { throw error }
  }

  /// Wakes the threads that wait for the build of the calling thread.
  package static func end(_ key: Key, _ error: EnvironmentError?) {
    let me = thread
    let build = state.withLock { state -> PendingBuild? in
      // Another thread may have started a new build meanwhile, with waiters of its own.
      guard let build = state.builds[key], build.builder == me else { return nil }
      state.builds[key] = nil
      return build
    }
    build?.error = error
    build?.group.leave()
  }

  /// Ends a build whose `end` missed the first waiting thread.
  private static func leave(_ key: Key, _ build: PendingBuild) {
    let isMissed = state.withLock { state in
      guard state.builds[key] === build else { return false }
      state.builds[key] = nil
      return true
    }
    if isMissed { build.group.leave() }
  }
}
