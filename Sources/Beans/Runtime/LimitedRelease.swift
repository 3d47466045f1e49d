import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Dispatch
import Synchronization

extension BeanDeclaration {
  /// Limits the duration of the release of each instance, in any end: of an environment, a request or a scope.
  ///
  /// A release that takes longer is abandoned: the log and the error of `shutdown()` name it, and all other releases
  /// continue. Its later effects do not reach the container. With a limit, a release that is not asynchronous runs on a
  /// thread of its own, even where the scope is bound to a loop: do not limit a release that must run on the loop's
  /// thread. Costs that thread and a timer for each release. A limit that is not above zero is an
  /// `.invalidDeclaration`.
  @discardableResult public func releaseLimit(_ limit: Duration) -> Self {
    if limit <= .zero { note(fault: "releaseLimit has to be above zero, and is \(limit)", .releaseLimit) }
    return with { $0.rare.releaseLimit = limit }
  }
}

/// Threads for calls that may never return.
enum SpareThread {
  /// Runs `body` on a queue of its own, so that a call that hangs delays no other work.
  static func run(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "Beans.SpareThread").async(execute: body)
  }
}

/// The place of a release, as limits and reports need it.
struct ReleaseSite: Sendable {
  let name: String
  /// The environment; nil for a bean that a scope has kept longer than its environment has lived.
  let environment: Environment?
  /// The number of beans of the environment that are released after this one.
  var behind = 0
  /// Whether a scope or an owner releases the bean, beside the environment.
  var isOfScope = false

  private var extras: EnvironmentExtras? { isOfScope ? nil : environment?.existingExtras }
  /// Whether a watch waits for the end of the environment, and logs the wait.
  var isWatched: Bool { watch != nil }
  private var watch: EndWatch? { extras?.watch }

  /// Whether the end of the environment has a deadline.
  var hasDeadline: Bool { watch?.isLimited ?? false }

  /// Records that a release begins. Returns a closure to call when the release has ended; the closure returns false
  /// where the release has been abandoned.
  ///
  /// - Parameter goOn: continues without the release, on a thread of its own, with a failure that is still to be
  ///   recorded; nil where the caller cannot continue.
  func begin(
    _ ending: BeanEnding, _ goOn: (@Sendable (EnvironmentError?) -> Void)? = nil
  ) -> @Sendable () -> Bool {
    let (watch, extras) = (watch, extras)
    let clock = watch?.clock ?? EndingClock.current
    let release = ReleaseInProgress(
      ending.bean, in: name, began: clock.now(), behind: behind, isWorking: { ending.isWorking },
      goOn.map { goOn in { @Sendable failure in abandoned(failure, goOn) } })
    extras?.running(release)
    watch?.arm()
    let cancel = ending.limit.map { limit in
      clock.schedule(limit) { release.abandon(after: limit, isLimit: true) }
    }
    return {
      cancel?()
      guard release.end() else { return false }
      extras?.running(nil)
      return true
    }
  }

  private func abandoned(_ failure: EnvironmentError, _ goOn: @escaping @Sendable (EnvironmentError?) -> Void) {
    guard let environment, !isOfScope else { return SpareThread.run { goOn(failure) } }
    // At once: a watch that gives up now reports the failure.
    environment.countRelease(failing: failure)
    environment.extras.abandonRunning(failure)
    // A log may block.
    SpareThread.run {
      environment.tell(failure)
      goOn(nil)
    }
  }

  /// Runs a part of the release in a context, so that a callback that shuts the environment down is known to be inside
  /// it.
  func within<Result>(_ body: () -> Result) -> Result {
    guard let environment else { return body() }
    return ResolutionContext.with(Unretained(environment), nil) { _ in body() }
  }
}

extension BeanEnding {
  /// Releases the object as the disposer decides for a caller that cannot continue later. Returns when the release has
  /// ended, or has been abandoned.
  func run(_ object: ObjectReference, at site: ReleaseSite) -> EnvironmentError? {
    guard Disposer(self, at: site, canAwait: false).next() == .releaseAside else {
      let end = site.isWatched ? site.begin(self) : nil
      defer { _ = end?() }
      return site.within { object.with { runSynchronously($0) } }
    }
    let outcome = Outcome()
    runOnSpareThread(object, at: site) { failure in
      outcome.failure.withLock { $0 = failure }
      outcome.isThere.signal()
    }
    outcome.isThere.wait()
    return outcome.failure.withLock { $0 }
  }

  /// The result for which a thread waits.
  private final class Outcome: Sendable {
    let failure = Locked<EnvironmentError?>(nil)
    let isThere = DispatchSemaphore(value: 0)
  }

  /// Begins the release, and calls `then` when the release has ended or has been abandoned.
  ///
  /// - Parameters:
  ///   - object: the object to release. It is retained until its release ends, even where the release has been
  ///     abandoned.
  ///   - site: the place of the release, for reports.
  ///   - host: the host that awaits the release; nil for any thread.
  ///   - then: called once, with the failure, and with whether the call happens where the host awaits releases.
  func start(
    _ object: ObjectReference, at site: ReleaseSite, on host: (any HostedScope)?,
    then: @escaping @Sendable (EnvironmentError?, _ isThere: Bool) -> Void
  ) {
    guard isAsynchronous else { return runOnSpareThread(object, at: site) { then($0, false) } }
    object.retain()
    let end = site.begin(self) { then($0, false) }
    let work: @Sendable () async -> Void = {
      let failure = await Environment.$releasing.withValue(site.environment) {
        await runAsynchronously(object.object)
      }
      object.release()
      if end() { then(failure, true) }
    }
    if let host {
      host.release(asynchronously: work)
    } else {
      Task(executorPreference: ReleaseExecutor.shared, operation: work)
    }
  }

  private func runOnSpareThread(
    _ object: ObjectReference, at site: ReleaseSite, then: @escaping @Sendable (EnvironmentError?) -> Void
  ) {
    object.retain()
    let end = site.begin(self, then)
    SpareThread.run {
      let failure = site.within { object.with { runSynchronously($0) } }
      object.release()
      if end() { then(failure) }
    }
  }
}
