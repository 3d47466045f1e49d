import BeansConfiguration
import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Dispatch
import Synchronization

/// Rarely used state of an environment, allocated on demand: its children, failures, and threads that wait for the end.
final class EnvironmentExtras: Sendable {
  let children: ChildRegistry
  /// The resources of an environment that is not a child of a factory; nil in a child of a factory.
  let resources: EnvironmentResources?
  private let outcome = Locked(Outcome())
  /// The number of beans released at the end of the environment.
  let releasedBeans = Atomic<Int>(0)
  /// The asynchronous creations in flight, by slot.
  let builds = Locked([Int32: AsyncBuild]())
  /// The observation of a child of a factory; nil unless observers are registered.
  let observation = AtomicLazyReference<ChildObservation>()
  /// The identities of beans, as far as they have been computed.
  let identities = Locked(BeanIdentities())
  /// The work of beans; nil until there is some.
  private let lazyWorks = AtomicLazyReference<BeanWorks>()

  private struct Outcome {
    var failures: [any Error] = []
    /// The error with which the scope has ended.
    var scopeFailure: (any Error)?
    /// The call that has ended the environment by hand.
    var endPlace: CallPlace?
    var isDone = false
    var callbacks: [@Sendable () -> Void] = []
    /// The signals that wake the threads that wait for the end.
    var waiting: [DispatchSemaphore] = []
    /// The part of the end that was handed over last.
    var errand: Errand?
    /// Returns whether the awaited release needs the calling thread.
    var isAwaitedHere: (@Sendable () -> Bool)?
    /// The watch that waits for the end.
    var watch: EndWatch?
    /// Whether a task continues the end.
    var continuesInTask = false
    /// The release in flight; recorded where a thread or a task waits for its end.
    var running: ReleaseInProgress?
    /// The objects that keep beans outside the slots.
    var keepers = [ObjectIdentifier: Keeper]()
    /// Beans that their takers own, numbered in the order of their creation.
    var owned = [ObjectIdentifier: (number: Int, bean: OwnedBean)]()
    var ownedCount = 0
  }

  private struct Keeper {
    weak let object: Deferral?
  }

  init(_ resources: EnvironmentResources? = nil) {
    self.resources = resources
    children = ChildRegistry(isShared: resources != nil)
  }

  /// The schedules and runs of beans, made on demand.
  var works: BeanWorks { lazyWorks.load() ?? lazyWorks.storeIfNil(BeanWorks()) }

  /// The schedules and runs of beans, if there have been any.
  var existingWorks: BeanWorks? { lazyWorks.load() }

  /// Records failures, up to a number of all that are recorded.
  func record(_ failures: [any Error], upTo limit: Int = .max) {
    outcome.withLock { outcome in
      let room = max(0, limit - outcome.failures.count)
      outcome.failures += failures.prefix(room)
    }
  }

  /// The number up to which an open environment records the failures of its children: it may live long and have many.
  static var limitOfChildren: Int { 1_000 }

  /// Records that a task continues the end.
  func continueInTask() { outcome.withLock { $0.continuesInTask = true } }

  /// Whether a task has continued the end, and no caller waits for it.
  var hasEndedUnawaited: Bool { outcome.withLock { $0.continuesInTask && $0.watch == nil } }

  /// Cancels the asynchronous creations in flight.
  ///
  /// - Parameter error: the error that is thrown to the tasks that wait for them.
  func endBuilds(throwing error: @autoclosure () -> any Error) {
    let running = builds.withLock { Array($0.values) }
    if running.isEmpty { return }
    let error = error()
    for build in running { build.end(throwing: error) }
  }

  /// The error with which the scope has ended; the first one decides.
  var scopeFailure: (any Error)? { outcome.withLock { $0.scopeFailure } }

  /// The call of `finish()` or `shutdown()` that has ended the environment.
  var endPlace: CallPlace? { outcome.withLock { $0.endPlace } }

  func ended(at place: CallPlace) { outcome.withLock { $0.endPlace = $0.endPlace ?? place } }

  func fail(_ error: any Error) { outcome.withLock { $0.scopeFailure = $0.scopeFailure ?? error } }

  /// Returns the failures. Each failure is returned once.
  func takeFailures() -> [any Error] { releases(takesFailures: true).failures }

  var isDone: Bool { outcome.withLock { $0.isDone } }

  /// Marks the end: everything has been released. Runs the callbacks and wakes the threads that wait.
  func end() {
    let (callbacks, waiting, keepers, _) = outcome.withLock { outcome in
      outcome.isDone = true
      outcome.watch = nil
      defer { (outcome.callbacks, outcome.waiting, outcome.keepers, outcome.errand) = ([], [], [:], nil) }
      return (outcome.callbacks, outcome.waiting, outcome.keepers, outcome.errand)
    }
    for keeper in keepers.values { keeper.object?.letGo() }
    for callback in callbacks { callback() }
    for thread in waiting { thread.signal() }
  }

  func whenEnded(_ body: @escaping @Sendable () -> Void) {
    let isDone = outcome.withLock { outcome in
      if !outcome.isDone { outcome.callbacks.append(body) }
      return outcome.isDone
    }
    if isDone { body() }
  }

  /// Registers a keeper. It drops its bean when everything has been released.
  func add(_ keeper: Deferral) {
    outcome.withLock { $0.keepers[ObjectIdentifier(keeper)] = Keeper(object: keeper) }
  }

  func add(owned bean: OwnedBean) {
    outcome.withLock { outcome in
      outcome.ownedCount += 1
      outcome.owned[ObjectIdentifier(bean)] = (outcome.ownedCount, bean)
    }
  }

  func forget(owned bean: OwnedBean) {
    _ = outcome.withLock { $0.owned.removeValue(forKey: ObjectIdentifier(bean)) }
  }

  /// Returns the owned beans that have not been given back, in the order in which they were made.
  func takeOwned() -> [OwnedBean] {
    let owned = outcome.withLock { outcome in
      defer { outcome.owned = [:] }
      return outcome.owned.values
    }
    return owned.inOrder(of: \.number).map(\.bean)
  }

  /// The bean of an `Owned` whose release has to be awaited, if there is one.
  var awaitedBean: BeanDefinition? {
    let owned = outcome.withLock { $0.owned.values.map(\.bean) }
    return owned.lazy.compactMap(\.awaitedBean).first
  }

  func forget(_ keeper: ObjectIdentifier) { _ = outcome.withLock { $0.keepers.removeValue(forKey: keeper) } }

  // MARK: an end that goes on elsewhere

  /// Returns a signal for a thread that waits for the end. It is sent whenever that thread may have to continue the
  /// end.
  func addWaiter() -> DispatchSemaphore {
    let signal = DispatchSemaphore(value: 0)
    outcome.withLock { $0.waiting.append(signal) }
    return signal
  }

  func wake() {
    let (waiting, watch) = outcome.withLock { ($0.waiting, $0.watch) }
    for thread in waiting { thread.signal() }
    watch?.signal.signal()
  }

  /// The watch that waits for the end, here or further out; nil after the end.
  var watch: EndWatch? {
    get { outcome.withLock { $0.watch } }
    set { outcome.withLock { if !$0.isDone { $0.watch = newValue } } }
  }

  /// The release in flight, where a watch or a thread waits for the end.
  var running: ReleaseInProgress? { outcome.withLock { $0.running } }

  func running(_ release: ReleaseInProgress?) { outcome.withLock { $0.running = release } }

  /// Records the failure of the release in flight, which is abandoned.
  func abandonRunning(_ failure: any Error) {
    outcome.withLock { outcome in
      outcome.failures.append(failure)
      outcome.running = nil
    }
  }

  /// Returns the releases that have failed and the one in flight. A release is never both.
  ///
  /// - Parameter takesFailures: whether failures are returned, each once.
  func releases(takesFailures: Bool) -> (failures: [any Error], running: ReleaseInProgress?) {
    outcome.withLock { outcome in
      defer { if takesFailures { outcome.failures = [] } }
      return (takesFailures ? outcome.failures : [], outcome.running)
    }
  }

  /// Hands a part of the end over to the thread of a place.
  func handOver(to place: any HostedScope, _ work: @escaping Errand.Work) {
    let errand = Errand(place, work)
    outcome.withLock { $0.errand = errand }
    wake()
    errand.send()
  }

  /// Takes the part of the end that has been handed over and that no thread has taken.
  ///
  /// - Parameter ofThisThread: whether it is taken only if it is meant for the calling thread.
  func takeErrand(ofThisThread: Bool) -> Errand.Work? {
    guard let errand = outcome.withLock({ $0.errand }), !ofThisThread || errand.place.canReleaseHere else { return nil }
    return errand.take()
  }

  /// Stores a check whether the awaited release needs the calling thread; nil when the release is over.
  func awaits(_ isAwaitedHere: (@Sendable () -> Bool)?) {
    outcome.withLock { $0.isAwaitedHere = isAwaitedHere }
    wake()
  }

  /// Whether a thread that waited for the end would wait for itself.
  var isAwaitedHere: Bool { outcome.withLock { $0.isAwaitedHere }?() == true }
}

/// A part of an end that belongs to the thread of a place. The first thread that takes it runs it: that of the place, one
/// that waits for the end and may release there, or a spare one shortly before a deadline.
final class Errand: Sendable {
  /// - Parameter isThere: whether this runs in the place, which then can await releases.
  typealias Work = @Sendable (_ isThere: Bool) -> Void

  let place: any HostedScope
  private let work: Locked<Work?>

  init(_ place: any HostedScope, _ work: @escaping Work) {
    self.place = place
    self.work = Locked(work)
  }

  /// Returns the work to the first caller.
  func take() -> Work? {
    work.withLock { work in
      defer { work = nil }
      return work
    }
  }

  /// Sends the work to its place, or runs it here where that place no longer exists.
  func send() {
    let isAccepted = place.release { self.take()?(true) }
    // A place without a running thread accepts work for later.
    if !isAccepted || place.canReleaseHere { take()?(false) }
  }
}
