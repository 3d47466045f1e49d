import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Dispatch
import Synchronization

extension BeanDeclaration {
  /// Limits how long the release of each instance may take, in any end: of an environment, a request or a scope.
  ///
  /// A release that takes longer is abandoned: it is named in the log and in what `shutdown()` throws, and all others go on.
  /// What it does after that has no effect on the container. With a limit, a release that is not asynchronous runs on a
  /// thread of its own, also where the scope is bound to a loop: do not limit what may only be done on the loop's thread.
  /// Costs that thread and a timer for each release. A limit that is not above zero is an `.invalidDeclaration`.
  @discardableResult public func releaseLimit(_ limit: Duration) -> Self {
    if limit <= .zero { note(fault: "releaseLimit has to be above zero, and is \(limit)", .releaseLimit) }
    return set { $0.change { $0.releaseLimit = limit } }
  }
}

/// Threads for what may never return.
enum SpareThread {
  /// A queue of its own: one that hangs keeps nothing else waiting.
  static func run(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "Beans.SpareThread").async(execute: body)
  }
}

/// Where a release is done, as far as limits and reports need to know.
struct ReleaseSite: Sendable {
  let name: String
  /// nil for what a scope has kept longer than its environment has lived.
  let environment: Environment?
  /// How many beans of the environment come after it.
  var behind = 0
  /// Whether a scope releases, beside the environment.
  var isOfScope = false

  private var extras: EnvironmentExtras? { isOfScope ? nil : environment?.existingExtras }
  /// Whether something waits for the end of the environment, and says so in the log.
  var isWatched: Bool { watch != nil }
  private var watch: EndWatch? { extras?.watch }

  /// Whether the end of the environment has a deadline.
  var hasDeadline: Bool { watch?.isLimited ?? false }

  /// Notes that a release begins. Answers what has to be called when it has ended, and says whether that was in time.
  ///
  /// - Parameter goOn: goes on without the release, on a thread of its own, with the failure that is to be noted; nil
  ///   where nothing can.
  func begin(
    _ ending: BeanEnding, _ goOn: (@Sendable (EnvironmentError?) -> Void)? = nil
  ) -> @Sendable () -> Bool {
    let (watch, extras) = (watch, extras)
    let clock = watch?.clock ?? EndingClock.current
    let release = ReleaseInProgress(
      ending.bean, in: name, began: clock.now(), behind: behind,
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
    // At once: whoever gives up now tells of it.
    environment.countFailedRelease()
    environment.extras.abandonRunning(failure)
    // A log may block.
    SpareThread.run {
      environment.tell(failure)
      goOn(nil)
    }
  }

  /// Runs what belongs to the release. The context lets a callback that shuts the environment down see that it is inside.
  func within<Result>(_ body: () -> Result) -> Result {
    guard let environment else { return body() }
    return ResolutionContext.with(Unretained(environment), nil) { _ in body() }
  }
}

extension BeanEnding {
  /// Releases the object as the disposer decides for a caller that cannot go on later. Returns when the release has ended, or
  /// has been abandoned.
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

  /// What a thread waits for.
  private final class Outcome: Sendable {
    let failure = Locked<EnvironmentError?>(nil)
    let isThere = DispatchSemaphore(value: 0)
  }

  /// Begins the release, and calls `then` when it has ended or has been abandoned.
  ///
  /// - Parameters:
  ///   - object: what is released. It is kept until then, and longer where the release has been abandoned.
  ///   - site: where, for what is said of it.
  ///   - host: what awaits it; nil for any thread.
  ///   - then: called once, with what failed, and whether that is where the host awaits releases.
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
    if let host { host.release(asynchronously: work) } else { Task(operation: work) }
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
