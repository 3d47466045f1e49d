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
    var rest: Rest?
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
    var owned = [ObjectIdentifier: (number: Int, bean: any OwnedInstance)]()
    var ownedCount = 0
  }

  private struct Keeper {
    weak let object: (any KeepsBean)?
  }

  /// The rest of an end that continues elsewhere. A class, so that extras without a rest stay small.
  private final class Rest: Sendable {
    let place: any HostedScope
    let work: @Sendable (_ isThere: Bool) -> Void

    init(place: any HostedScope, work: @escaping @Sendable (_ isThere: Bool) -> Void) {
      self.place = place
      self.work = work
    }
  }

  init(_ resources: EnvironmentResources? = nil) {
    self.resources = resources
    children = ChildRegistry(isShared: resources != nil)
  }

  /// The schedules and runs of beans, made on demand.
  var works: BeanWorks { lazyWorks.load() ?? lazyWorks.storeIfNil(BeanWorks()) }

  /// The schedules and runs of beans, if there have been any.
  var existingWorks: BeanWorks? { lazyWorks.load() }

  func record(_ failure: any Error) { outcome.withLock { $0.failures.append(failure) } }

  /// Records the failures of a child that has ended, up to a limit: an environment that lives long has many children.
  func record(ofChild failures: [any Error]) {
    outcome.withLock { outcome in
      let room = max(0, Self.limitOfChildren - outcome.failures.count)
      outcome.failures += failures.prefix(room)
    }
  }

  private static var limitOfChildren: Int { 1_000 }

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
  func takeFailures() -> [any Error] {
    outcome.withLock { outcome in
      defer { outcome.failures = [] }
      return outcome.failures
    }
  }

  var isDone: Bool { outcome.withLock { $0.isDone } }

  /// Marks the end: everything has been released. Runs the callbacks and wakes the threads that wait.
  func end() {
    let (callbacks, waiting, keepers) = outcome.withLock { outcome in
      outcome.isDone = true
      outcome.watch = nil
      defer { (outcome.callbacks, outcome.waiting, outcome.keepers) = ([], [], [:]) }
      return (outcome.callbacks, outcome.waiting, outcome.keepers)
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
  func add(_ keeper: any KeepsBean) {
    outcome.withLock { $0.keepers[ObjectIdentifier(keeper)] = Keeper(object: keeper) }
  }

  func add(owned bean: any OwnedInstance) {
    outcome.withLock { outcome in
      outcome.ownedCount += 1
      outcome.owned[ObjectIdentifier(bean)] = (outcome.ownedCount, bean)
    }
  }

  func forget(owned bean: any OwnedInstance) {
    _ = outcome.withLock { $0.owned.removeValue(forKey: ObjectIdentifier(bean)) }
  }

  /// Returns the owned beans that have not been given back, in the order in which they were made.
  func takeOwned() -> [any OwnedInstance] {
    let owned = outcome.withLock { outcome in
      defer { outcome.owned = [:] }
      return outcome.owned.values
    }
    return owned.inOrder(of: \.number).map(\.bean)
  }

  /// The bean of an `Owned` whose release has to be awaited, if there is one.
  var awaitedBean: BeanDefinition? {
    let owned = outcome.withLock { $0.owned.values.map(\.bean) }
    return owned.lazy.compactMap { ($0 as? OwnedBean)?.awaitedBean }.first
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

  /// Stores the rest of the end for its first taker: the thread for which it is meant, or another one that may run it.
  func handOver(to place: any HostedScope, _ work: @escaping @Sendable (_ isThere: Bool) -> Void) {
    outcome.withLock { $0.rest = Rest(place: place, work: work) }
    wake()
  }

  /// Takes the rest of the end.
  ///
  /// - Parameter here: whether the rest is taken only if it is meant for the calling thread.
  func takeHandedOver(here: Bool) -> (@Sendable (_ isThere: Bool) -> Void)? {
    if here, !isHandedOverHere { return nil }
    return outcome.withLock { outcome in
      defer { outcome.rest = nil }
      return outcome.rest?.work
    }
  }

  /// Whether the rest of the end is meant for the calling thread.
  var isHandedOverHere: Bool { outcome.withLock { $0.rest }?.place.canReleaseHere == true }

  /// Stores a check whether the awaited release needs the calling thread; nil when the release is over.
  func awaits(_ isAwaitedHere: (@Sendable () -> Bool)?) {
    outcome.withLock { $0.isAwaitedHere = isAwaitedHere }
    wake()
  }

  /// Whether a thread that waited for the end would wait for itself.
  var isAwaitedHere: Bool { outcome.withLock { $0.isAwaitedHere }?() == true }
}
