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
    return change { $0.releaseLimit = limit }
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
  /// The outcome that the callbacks of the bean receive.
  var outcome = ScopeOutcome.completed
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
  /// - Parameter goOn: nil where the end cannot continue without the release.
  func begin(_ ending: BeanEnding, _ goOn: ReleaseInProgress.GoOn? = nil) -> @Sendable () -> Bool {
    let (watch, extras) = (watch, extras)
    let clock = watch?.clock ?? EndingClock.current
    let release = ReleaseInProgress(ending, at: self, began: clock.now(), goOn)
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

  /// Runs a part of the release in a context, so that a callback that shuts the environment down is known to be inside
  /// it.
  func within<Result>(_ body: () -> Result) -> Result {
    guard let environment else { return body() }
    return ResolutionContext.with(Unretained(environment), nil) { _ in body() }
  }
}

extension BeanEnding {
  /// Releases the object for a caller that cannot continue later. Returns when the release has ended, or has been
  /// abandoned.
  func run(_ object: ObjectReference, at site: ReleaseSite) -> EnvironmentError? {
    let disposal = Disposal(of: self, at: site, canAwait: false)
    if disposal == .here {
      let end = site.isWatched ? site.begin(self) : nil
      defer { _ = end?() }
      return site.within { object.with { runSynchronously($0, site.outcome) } }
    }
    let outcome = Locked<EnvironmentError?>(nil)
    let isThere = DispatchSemaphore(value: 0)
    start(object, at: site, disposal, on: nil) { failure, _ in
      outcome.withLock { $0 = failure }
      isThere.signal()
    }
    isThere.wait()
    return outcome.withLock { $0 }
  }

  /// Begins the release, and calls `then` once: when the release has ended or has been abandoned.
  ///
  /// - Parameters:
  ///   - object: the object to release. It is retained until its release ends, even where the release has been
  ///     abandoned.
  ///   - site: the place of the release, for reports.
  ///   - disposal: the way in which it is released.
  ///   - host: the host in whose place the object is released; nil for any thread.
  ///   - then: receives the failure, and whether the release has ended.
  func start(
    _ object: ObjectReference, at site: ReleaseSite, _ disposal: Disposal, on host: (any HostedScope)?,
    then: @escaping @Sendable (EnvironmentError?, _ hasEnded: Bool) -> Void
  ) {
    object.retain()
    let begin = { @Sendable in site.begin(self) { then($0, false) } }
    let finish = { @Sendable (failure: EnvironmentError?, end: @Sendable () -> Bool) in
      object.release()
      if end() { then(failure, true) }
    }
    let run = { @Sendable end in finish(site.within { object.with { runSynchronously($0, site.outcome) } }, end) }
    if disposal == .onLoop, let host, let environment = site.environment {
      // The next release begins outside of the loop's stack. The time of this one begins when the loop has come to it.
      return SpareThread.run { environment.extras.handOver(to: host) { _ in run(begin()) } }
    }
    let end = begin()
    guard disposal == .awaited, isAsynchronous else { return SpareThread.run { run(end) } }
    let work = { @Sendable () async in
      let failure = await Environment.$releasing.withValue(site.environment) {
        await runAsynchronously(object.object, site.outcome)
      }
      finish(failure, end)
    }
    if let host {
      host.release(asynchronously: work)
    } else {
      Task(executorPreference: ReleaseExecutor.shared, operation: work)
    }
  }
}
