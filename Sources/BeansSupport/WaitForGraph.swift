package import BeansErrors
import BeansLogging
import CBeansRuntime
import Dispatch
import Synchronization

/// Threads that wait for what another thread is building: a bean in a slot or a scope, or a whole environment.
///
/// Entered only when two threads want the same missing thing. Knows who waits for whom, and so sees circles.
package enum WaitForGraph {
  /// One build that somebody waits for.
  private final class PendingBuild: @unchecked Sendable {  // `error` is written before the group is left, read after
    let group = DispatchGroup()
    let builder: UInt
    var error: EnvironmentError?

    init(builder: UInt) {
      self.builder = builder
      group.enter()
    }
  }

  /// One thread that waits: for which build, and what it is building meanwhile, ending with what it waits for.
  private struct Waiter {
    let key: UInt
    let path: [String]
  }

  private struct State {
    var builds: [UInt: PendingBuild] = [:]
    var waiters: [UInt: Waiter] = [:]
  }

  private static let state = Locked(State())
  private static let logger = LogManager.getLogger(forName: "Beans.Environment")
  private static let path = Locked<@Sendable () -> [String]>({ [] })

  /// Names the calling thread, as `builder` does.
  package static var thread: UInt { UInt(beans_thread()) }

  /// Says how to find what the calling thread is building: labels, outermost first.
  package static func findPath(by path: @escaping @Sendable () -> [String]) { self.path.withLock { $0 = path } }

  /// Returns when the build has ended or was over already; throws what it threw, or `.cyclicDependency`.
  ///
  /// `key` names the build among all there are. `builder` answers the thread that builds, or nil when that is over; the
  /// build that ends has to call `end` after that. It may miss a thread that begins to wait at that moment.
  package static func wait(
    for key: UInt, _ label: String, in environment: String, origin: EnvironmentError.Origin?, builder: () -> UInt?
  ) throws {
    let me = thread
    let path = path.withLock { $0 }() + [label]
    let step: Result<PendingBuild?, EnvironmentError> = state.withLock { state in
      guard let builder = builder() else { return .success(nil) }
      // Who the builder waits for, and so on: a way back to this thread is a circle.
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

  /// Wakes those who wait for what the calling thread has built.
  package static func end(_ key: UInt, _ error: EnvironmentError?) {
    let me = thread
    let build = state.withLock { state -> PendingBuild? in
      // Somebody else may have begun anew meanwhile, and have waiters of its own.
      guard let build = state.builds[key], build.builder == me else { return nil }
      state.builds[key] = nil
      return build
    }
    build?.error = error
    build?.group.leave()
  }

  /// For a build that ended just when the first thread began to wait, and missed it.
  private static func leave(_ key: UInt, _ build: PendingBuild) {
    let isMissed = state.withLock { state in
      guard state.builds[key] === build else { return false }
      state.builds[key] = nil
      return true
    }
    if isMissed { build.group.leave() }
  }
}
