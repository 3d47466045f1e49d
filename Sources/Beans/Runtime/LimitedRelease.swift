@_spi(BeansPackage) import BeansErrors
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

  /// Runs the release callbacks on an instance of this bean: `preDestroy`, then `.onDestroy`. For scopes of your own
  /// that keep instances; `AbstractBeanScope` calls this by itself. Call this once for each instance.
  ///
  /// - Throws: `.destructionFailed`, after all callbacks have run, or if they take longer than the declaration's
  ///   `releaseLimit`. A bean with an asynchronous release cannot be released here: that is such a failure, too.
  public func destroy(_ instance: AnyObject) throws {
    guard let ending = BeanEnding(instance, of: self) else { return }
    let release = BeanRelease(
      ending, ObjectReference(unretained: instance), at: spec.scopeName ?? "singleton", nil, canAwait: false)
    if let failure = release.run() { throw failure }
  }
}

/// Threads for calls that may never return.
enum SpareThread {
  /// Runs `body` on a queue of its own, so that a call that hangs delays no other work.
  static func run(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "Beans.SpareThread").async(execute: body)
  }
}

/// The release of one object, which may have to be awaited and may have a limit.
struct BeanRelease: Sendable {
  let ending: BeanEnding
  private let object: ObjectReference
  /// The name of the environment or scope that releases the object.
  let site: String
  /// The environment; nil for a bean that a scope has kept longer than its environment has lived.
  let environment: Environment?
  /// The outcome that the callbacks of the bean receive.
  private let outcome: ScopeOutcome
  /// The number of beans that the end of the environment releases after this one; nil where a scope or an owner
  /// releases the object, beside that end.
  let behind: Int?
  /// The watch that waits for that end.
  let watch: EndWatch?
  /// The host in whose place the calling thread releases the object; nil for any thread.
  let host: (any HostedScope)?
  let disposal: Disposal

  /// - Parameters:
  ///   - ending: the callbacks of the release.
  ///   - object: the object to release. It is retained until its release ends, even where the release has been
  ///     abandoned.
  ///   - site: the name of the environment or scope that releases the object.
  ///   - environment: the environment of the object.
  ///   - outcome: the outcome that the callbacks receive.
  ///   - behind: the number of beans that the end releases after this one; nil beside the end.
  ///   - host: the host in whose place the calling thread releases the object; nil for any thread.
  ///   - canAwait: whether the caller can continue later, from another thread.
  init(
    _ ending: BeanEnding, _ object: ObjectReference, at site: String, _ environment: Environment?,
    _ outcome: ScopeOutcome = .completed, behind: Int? = nil, on host: (any HostedScope)? = nil, canAwait: Bool
  ) {
    (self.ending, self.object, self.site, self.environment) = (ending, object, site, environment)
    (self.outcome, self.behind, self.host) = (outcome, behind, host)
    watch = behind.flatMap { _ in environment?.existingExtras?.watch }
    // `finish()` of a scope returns after the releases that need no task, and so after those with a limit; that of an
    // environment, too, unless it has a host.
    let isOnLoop = host != nil && behind != nil
    disposal = Disposal(
      isAsynchronous: ending.isAsynchronous, hasLimit: ending.limit != nil, hasDeadline: watch?.isLimited == true,
      isOnLoop: isOnLoop, canAwait: canAwait && (ending.isAsynchronous || isOnLoop || watch != nil))
  }

  /// Whether the caller has to continue in the closure that it passes to `start`.
  var isAwaited: Bool { disposal == .awaited || disposal == .onLoop }

  /// Whether a task runs the release.
  private var isInTask: Bool { disposal == .awaited && ending.isAsynchronous }

  /// Whether the release needs the calling thread, because a task of its place runs it.
  var needsThisThread: Bool { isInTask && host?.canReleaseHere == true }

  /// Releases the object for a caller that cannot continue later. Returns when the release has ended, or has been
  /// abandoned.
  func run() -> EnvironmentError? {
    if disposal == .here {
      // A watch reports the release.
      let release = watch.map { _ in ReleaseInProgress(self) }
      defer { _ = release?.end() }
      return callHere()
    }
    let outcome = Locked<EnvironmentError?>(nil)
    let isThere = DispatchSemaphore(value: 0)
    start { failure, _ in
      outcome.withLock { $0 = failure }
      isThere.signal()
    }
    isThere.wait()
    return outcome.withLock { $0 }
  }

  /// Begins the release, and calls `then` once: when the release has ended or has been abandoned.
  ///
  /// - Parameter then: receives the failure, and whether the release has ended.
  func start(then: @escaping @Sendable (EnvironmentError?, _ hasEnded: Bool) -> Void) {
    object.retain()
    let begin = { @Sendable in ReleaseInProgress(self) { then($0, false) } }
    let finish = { @Sendable (failure: EnvironmentError?, release: ReleaseInProgress) in
      object.release()
      if release.end() { then(failure, true) }
    }
    if disposal == .onLoop, let host, let environment {
      // The next release begins outside of the loop's stack. The time of this one begins when the loop has come to it.
      return SpareThread.run {
        environment.extras.handOver(to: host) { _ in
          let release = begin()
          finish(callHere(), release)
        }
      }
    }
    let release = begin()
    guard isInTask else { return SpareThread.run { finish(callHere(), release) } }
    let work = { @Sendable () async in finish(await callInTask(), release) }
    if let host {
      host.release(asynchronously: work)
    } else {
      Task(executorPreference: ReleaseExecutor.shared, operation: work)
    }
  }

  /// Runs the callbacks in a context, so that one that shuts the environment down is known to be inside it.
  private func callHere() -> EnvironmentError? {
    let call = { object.with { ending.runSynchronously($0, outcome) } }
    guard let environment else { return call() }
    return ResolutionContext.with(Unretained(environment), nil) { _ in call() }
  }

  /// Runs the callbacks in the calling task.
  func callInTask() async -> EnvironmentError? {
    await Environment.$releasing.withValue(environment) { await ending.runAsynchronously(object.object, outcome) }
  }
}

/// One release in flight. It ends or is abandoned; only the first of the two takes effect.
final class ReleaseInProgress: Sendable {
  let release: BeanRelease
  let began: Duration
  /// The alarm of the limit that the declaration sets.
  private let alarm: Alarm
  private let isOver = Atomic(false)
  private let abandonment = Locked<EnvironmentError?>(nil)
  private let goOn: GoOn?

  /// Continues the end without the release, on a thread of its own, with a failure that is still to be recorded.
  typealias GoOn = @Sendable (EnvironmentError?) -> Void

  /// Records that a release begins.
  ///
  /// - Parameter goOn: nil where the end cannot continue without the release.
  init(_ release: BeanRelease, _ goOn: GoOn? = nil) {
    (self.release, self.goOn) = (release, goOn)
    alarm = Alarm(release.watch?.clock ?? .current)
    began = alarm.clock.now()
    release.environment?.extras.record.withLock { $0.releases.append(self) }
    release.watch?.arm()
    if let limit = release.ending.limit { alarm.set(after: limit) { self.abandon(after: limit, isLimit: true) } }
  }

  /// Ends the release. Returns false where it has been abandoned: its runner then has nothing more to do.
  func end() -> Bool {
    guard claim() else { return false }
    leaveRecord()
    return true
  }

  private func claim() -> Bool {
    alarm.stop()
    return !isOver.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Abandons the release, unless it has ended or the end cannot continue without it.
  ///
  /// - Parameters:
  ///   - time: the time for which the release has been running.
  ///   - isLimit: whether `time` is the limit of the declaration.
  func abandon(after time: Duration, isLimit: Bool) {
    guard let goOn, claim() else { return }
    let ending = release.ending
    let reason = if isLimit { "did not end within its limit of" } else { "has been running for" }
    let part = if ending.isWorking { "its work has been cancelled, and its release" } else { "its release" }
    let failure = ending.bean.fault(
      .limitedRelease,
      "\(ending.bean.label) in '\(release.site)' has been abandoned: \(part) \(reason) \(time.rounded)")
    abandonment.withLock { $0 = failure }
    guard let environment = release.environment, release.behind != nil else {
      leaveRecord()
      return SpareThread.run { goOn(failure) }
    }
    // At once: a watch that gives up now reports the failure.
    environment.countRelease(failing: failure)
    leaveRecord(failure)
    // A log may block.
    SpareThread.run {
      environment.tell(failure)
      goOn(nil)
    }
  }

  /// Removes the release from the record of its environment, which takes the failure.
  private func leaveRecord(_ failure: EnvironmentError? = nil) {
    release.environment?.extras.record.withLock { record in
      if let failure { record.failures.append(failure) }
      record.releases.removeAll { $0 === self }
    }
  }

  /// The failure of a release that has been abandoned.
  var failure: EnvironmentError? { abandonment.withLock { $0 } }

  /// Returns the description of the release for the log.
  func description(_ now: Duration) -> String {
    "\(release.ending.bean.label) in '\(release.site)' (\(release.ending.bean.location.origin)), whose "
      + (release.ending.isWorking ? "work ignores its cancellation, and whose " : "")
      + "release has been running for \((now - began).rounded)"
  }
}
