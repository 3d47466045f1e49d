import BeansConfiguration
@_spi(BeansPackage) import BeansErrors
import Dispatch
import Synchronization

/// Rarely used state of an environment, allocated on demand: its children, its end, and its beans outside of slots.
final class EnvironmentExtras: Sendable {
  let children: ChildRegistry
  /// The resources of an environment that is not a child of a factory; nil in a child of a factory.
  let resources: EnvironmentResources?
  let record = Locked(EndRecord())
  /// Whether the release of the beans in slots needs care: a watch notes each release, or there may be beans that their
  /// takers own, or faces of other beans. Never reset.
  let needsCare = Atomic<Bool>(false)
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
  private let outside = Locked(OutsideBeans())

  /// Beans that are not in slots.
  private struct OutsideBeans {
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

  /// Cancels the asynchronous creations in flight.
  ///
  /// - Parameter error: the error that is thrown to the tasks that wait for them.
  func endBuilds(throwing error: @autoclosure () -> any Error) {
    let running = builds.withLock { Array($0.values) }
    if running.isEmpty { return }
    let error = error()
    for build in running { build.end(throwing: error) }
  }

  // MARK: beans outside of slots

  /// Registers a keeper. It drops its bean when everything has been released.
  func add(_ keeper: Deferral) {
    outside.withLock { $0.keepers[ObjectIdentifier(keeper)] = Keeper(object: keeper) }
  }

  func forget(_ keeper: ObjectIdentifier) { _ = outside.withLock { $0.keepers.removeValue(forKey: keeper) } }

  func add(owned bean: OwnedBean) {
    outside.withLock { outside in
      outside.ownedCount += 1
      outside.owned[ObjectIdentifier(bean)] = (outside.ownedCount, bean)
    }
  }

  func forget(owned bean: OwnedBean) {
    _ = outside.withLock { $0.owned.removeValue(forKey: ObjectIdentifier(bean)) }
  }

  /// Returns the owned beans that have not been given back, in the order in which they were made.
  func takeOwned() -> [OwnedBean] {
    let owned = outside.withLock { outside in
      defer { outside.owned = [:] }
      return outside.owned.values
    }
    return owned.inOrder(of: \.number).map(\.bean)
  }

  /// The bean of an `Owned` whose release has to be awaited, if there is one.
  var awaitedBean: BeanDefinition? {
    let owned = outside.withLock { $0.owned.values.map(\.bean) }
    return owned.lazy.compactMap(\.awaitedBean).first
  }

  // MARK: the end

  /// The error with which the scope has ended; the first one decides.
  var scopeFailure: (any Error)? { record.withLock { $0.scopeFailure } }

  /// The call of `finish()` or `shutdown()` that has ended the environment.
  var endPlace: CallPlace? { record.withLock { $0.call } }

  func ended(at call: CallPlace) { record.withLock { $0.call = $0.call ?? call } }

  func fail(_ error: any Error) { record.withLock { $0.scopeFailure = $0.scopeFailure ?? error } }

  /// Adds failures, up to a number of all that are recorded.
  func add(_ failures: [any Error], upTo limit: Int = .max) {
    record.withLock { record in
      let room = max(0, limit - record.failures.count)
      record.failures += failures.prefix(room)
    }
  }

  /// Returns the failures. Each failure is returned once.
  func takeFailures() -> [any Error] { record.withLock { $0.takeFailures() } }

  /// Whether a task has continued the end, and no caller waits for it.
  var hasEndedUnawaited: Bool { record.withLock { $0.continuesInTask && $0.watch == nil } }

  /// The watch that waits for the end, here or further out; nil after the end.
  var watch: EndWatch? { record.withLock { $0.watch } }

  /// Marks the end: everything has been released. Runs the callbacks and wakes the threads that wait.
  func end() {
    let old = record.withLock { record in
      let old = record
      record.isOver = true
      (record.watch, record.errand, record.callbacks, record.waiting) = (nil, nil, [], [])
      return old
    }
    let keepers = outside.withLock { outside in
      defer { outside.keepers = [:] }
      return outside.keepers.values
    }
    for keeper in keepers { keeper.object?.letGo() }
    for callback in old.callbacks { callback() }
    for thread in old.waiting { thread.signal() }
  }

  /// Wakes the threads that wait for the end: one of them may have to continue it.
  func wake() {
    let (waiting, watch) = record.withLock { ($0.waiting, $0.watch) }
    for thread in waiting { thread.signal() }
    watch?.signal.signal()
  }

  /// Hands a part of the end over to the thread of a place.
  func handOver(to place: any HostedScope, _ work: @escaping Errand.Work) {
    let errand = Errand(place, work)
    record.withLock { $0.errand = errand }
    wake()
    errand.send()
  }

  /// Whether a thread that waited for the end would wait for itself.
  var isAwaitedHere: Bool { record.withLock { $0.releases }.contains { $0.release.needsThisThread } }
}
