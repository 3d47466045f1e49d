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
  /// Whether releases may be awaited. Set before a `shutdown() async` begins.
  let isAsynchronous = Atomic<Bool>(false)
  /// The number of beans released at the end of the environment.
  let releasedBeans = Atomic<Int>(0)
  /// The beans that are created asynchronously.
  let builds = Locked(AsyncBuilds())
  /// The identities of beans, as far as they have been computed.
  let identities = Locked(BeanIdentities())

  private struct Outcome {
    var failures: [any Error] = []
    /// The error with which the scope has ended.
    var scopeFailure: (any Error)?
    var isDone = false
    var callbacks: [@Sendable () -> Void] = []
    /// The signals that wake the threads that wait for the end.
    var waiting: [DispatchSemaphore] = []
    var rest: Rest?
    /// Returns whether the awaited release needs the calling thread.
    var isAwaitedHere: (@Sendable () -> Bool)?
    /// The watch that waits for the end.
    var watch: EndWatch?
    /// The release in flight; recorded where a thread or a task waits for its end.
    var running: ReleaseInProgress?
    /// The objects that keep beans outside the slots.
    var keepers: [ObjectIdentifier: Keeper] = [:]
    /// Beans that their takers own, numbered in the order of their creation.
    var owned: [ObjectIdentifier: (number: Int, bean: any OwnedInstance)] = [:]
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

  func record(_ failure: any Error) { outcome.withLock { $0.failures.append(failure) } }

  /// Cancels the asynchronous creations in flight.
  ///
  /// - Parameter error: the error that is thrown to the tasks that wait for them.
  func endBuilds(throwing error: @autoclosure () -> any Error) {
    let running = builds.withLock { Array($0.running.values) }
    if running.isEmpty { return }
    let error = error()
    for build in running { build.end(throwing: error) }
  }

  /// The error with which the scope has ended; the first one decides.
  var scopeFailure: (any Error)? { outcome.withLock { $0.scopeFailure } }

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
    return owned.sorted { $0.number < $1.number }.map(\.bean)
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

/// Environments that are not children of factories, below another one of that kind.
struct NestedEnvironments {
  /// The environments that have not ended. Their parents retain them.
  var live: [ObjectIdentifier: Environment] = [:]
  /// The counts of environments that have ended, and of all below them.
  var ended: [String: ScopeStatistics] = [:]

  mutating func begin(_ environment: Environment) { live[ObjectIdentifier(environment)] = environment }

  mutating func end(_ environment: Environment, _ counts: [ScopeStatistics]) {
    live[ObjectIdentifier(environment)] = nil
    for count in counts { ended[count.scope, default: ScopeStatistics(scope: count.scope)].add(count) }
  }
}

/// The state, beside its slots, of an environment that is not a child of a factory.
final class EnvironmentResources: Sendable {
  let name: String
  let configuration: ConfigurationManager
  let traceOrigin: Bool
  /// The log of the environment and its children.
  let log: ContainerLog
  let creations: CreationWatch
  /// The results of lookups that the plan does not foresee.
  let answers = AnswerTable<Retrieval>()
  /// The number of releases that have failed here and below.
  let failedReleases = Atomic<Int>(0)
  private let nestedEnvironments = Locked(NestedEnvironments())
  private let state: Locked<State>

  private struct State {
    var declarations: SharedDeclarations
    /// The thread that starts the environment.
    var starter: UInt?
    var failure: (any Error)?
    /// The scopes that users have registered. A scope's name is read once: reading it runs user code.
    var scopes: [RegisteredScope] = []
    var block: SlotBlock?
    var codes: [any AnyObject & Sendable] = []
    /// The plans of factories, kept as long as their children may exist.
    var plans: [Plan] = []
    /// The reasons why some factories are inactive.
    var inactiveFactories: [EnvironmentError] = []
    /// A line for each active profile that no declaration names.
    var unnamedProfiles: [String] = []
    /// Whether beans that several threads share have to be known to be `Sendable`.
    var requiresSendable = false
    /// Labels of beans that startup could not build without waiting.
    var unready: [String] = []
    var record: StartupRecord?
    var testSetup: TestSetup?
  }

  init(
    _ declarations: EnvironmentDeclarations, traceOrigin: Bool, log: ContainerLog
  ) {
    name = declarations.name
    configuration = declarations.configuration
    self.traceOrigin = traceOrigin
    self.log = log
    creations = CreationWatch(log)
    state = Locked(State(declarations: SharedDeclarations(open: declarations)))
  }

  /// The declarations; nil once startup has read them.
  var declarations: EnvironmentDeclarations? { state.withLock { $0.declarations }.open }

  /// The declarations; nil once a thread starts the environment.
  var openDeclarations: EnvironmentDeclarations? {
    state.withLock { $0.starter == nil ? $0.declarations : SharedDeclarations() }.open
  }

  /// Returns the declarations, before and after startup; nil while a thread other than `thread` starts the environment,
  /// and after the end.
  func knownDeclarations(_ thread: UInt) -> EnvironmentDeclarations? {
    let (declarations, starter) = state.withLock { ($0.declarations, $0.starter) }
    return declarations.read ?? (starter == nil || starter == thread ? declarations.open : nil)
  }

  /// Environments below that are not children of factories, except those below another one of that kind.
  var nested: NestedEnvironments { nestedEnvironments.withLock { $0 } }

  func begin(nested environment: Environment) { nestedEnvironments.withLock { $0.begin(environment) } }

  /// Records the end of an environment below that is not a child of a factory.
  ///
  /// - Parameter counts: the counts of the environment and of all below it; none where it has not become a child.
  func end(nested environment: Environment, _ counts: [ScopeStatistics] = []) {
    nestedEnvironments.withLock { $0.end(environment, counts) }
  }

  // MARK: startup

  var starter: UInt? { state.withLock { $0.starter } }

  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Returns the thread that starts the environment: the calling one where no other does. Returns nil where startup has
  /// ended, and for the starting thread once the slots exist.
  ///
  /// - Throws: the error of an earlier startup.
  func begin(_ thread: UInt) throws -> UInt? {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      guard let starter = state.starter else {
        if state.declarations.open != nil { state.starter = thread }
        return state.starter
      }
      if starter != thread { return starter }
      if state.block != nil { return nil }
      // The only user code that runs while declarations are read is the name of a user's scope.
      throw EnvironmentError(.frozen, "a lookup while the declarations are being read")
    }
  }

  /// Ends a startup, or the wait for the beans that startup has omitted. Reports a failure to the factories of
  /// children.
  ///
  /// - Parameters:
  ///   - failure: the error that every later call throws.
  ///   - declarations: the declarations with which the startup began; the environment may have dropped its reference to
  ///     them.
  func end(_ failure: (any Error)?, of declarations: EnvironmentDeclarations? = nil) {
    let old = state.withLock { state in
      let old = state.declarations
      if failure == nil { state.declarations.read = old.open }
      state.declarations.open = nil
      state.starter = nil
      state.failure = failure
      return old
    }
    guard let failure else { return }
    for factory in (declarations ?? old.open ?? old.read)?.below ?? [] { factory.tell(.failure(failure)) }
  }

  func compiled(_ compiler: GraphCompiler, _ block: SlotBlock) {
    let (codes, inherited) = (compiler.codes, SharedDeclarations(inherited: compiler.declared))
    let (plans, reasons) = (compiler.below.map(\.plan), compiler.inactive.map(\.reason))
    // Before `end(_:of:)` passes the declarations on to other threads.
    compiler.keepDecisions()
    state.withLock { state in
      state.block = block
      state.codes = codes
      state.declarations.inherited = inherited.inherited
      state.plans = plans
      state.inactiveFactories = reasons
    }
  }

  /// The plans of factories.
  var plans: [Plan] { state.withLock { $0.plans } }

  /// The reasons why some factories are inactive, for reports.
  var inactiveFactories: [EnvironmentError] { state.withLock { $0.inactiveFactories } }

  /// A line for each active profile that no declaration names, for reports.
  var unnamedProfiles: [String] { state.withLock { $0.unnamedProfiles } }

  func note(unnamedProfiles lines: [String]) { state.withLock { $0.unnamedProfiles = lines } }

  var declared: DeclaredBeans? { state.withLock { $0.declarations }.inherited }
  var block: SlotBlock? { state.withLock { $0.block } }

  /// Labels of beans that startup could not build without waiting, as long as they do not exist.
  var unready: [String] { state.withLock { $0.unready } }

  /// Whether beans that several threads share have to be known to be `Sendable`.
  var requiresSendable: Bool { state.withLock { $0.requiresSendable } }

  func requireSendable() { state.withLock { $0.requiresSendable = true } }

  /// The record of a startup; nil unless it has been requested.
  var record: StartupRecord? { state.withLock { $0.record } }

  /// Requests a record of the startup's times, unless startup has ended.
  func recordTimes() {
    state.withLock { if $0.declarations.open != nil { $0.record = $0.record ?? StartupRecord() } }
  }

  func note(unready label: String) { state.withLock { $0.unready.append(label) } }

  func isReady() { state.withLock { $0.unready = [] } }

  /// The setup of a test for the environment, and for those below it that are not children of factories.
  var testSetup: TestSetup? { state.withLock { $0.testSetup } }

  func test(_ setup: TestSetup) { state.withLock { $0.testSetup = setup } }

  // MARK: scopes

  typealias RegisteredScope = (name: String, scope: any BeanScope, location: SourceLocation)

  var scopes: [RegisteredScope] { state.withLock { $0.scopes } }

  func add(_ scope: any BeanScope, _ name: String, _ location: SourceLocation) {
    state.withLock { $0.scopes.append((name, scope, location)) }
  }

  // MARK: the end

  /// Drops the references to objects of users: their closures may hold the environment.
  func letGo() {
    configuration.close()
    let old = state.withLock { state in
      let old = state
      state.codes = []
      state.declarations = SharedDeclarations()
      state.scopes = []
      return old
    }
    old.block?.releaseValues()
  }
}

/// The children of one environment that have not ended. Each is retained until it has ended. The children themselves
/// are linked, so that joining and leaving cost the same regardless of the number of siblings. Under the environment's
/// lock.
///
/// An environment that many threads use has several lists, and the thread that opens a child determines the list. A
/// thread then finds its own children in its list, in memory that no other processor has to hand over.
final class ChildRegistry: Sendable {
  private struct List: ~Copyable {
    let first = Atomic<Unretained<Environment>?>(nil)
    // The counts of the children of `plan` that have left on threads of this list.
    let finished = Atomic<Int>(0)
    let released = Atomic<Int>(0)
    /// The number of children that have joined on threads of this list, minus those that have left on them; may be
    /// negative.
    let live = Atomic<Int>(0)
  }

  /// The lists. Only every fourth one is used, so that no two used lists share a cache line.
  private let lists: FrozenArray<List>
  /// The plan that most children have. Plans of factories outlive this registry.
  private let plan = Atomic<Unretained<Plan>?>(nil)
  /// The counts of children of all other plans that have left, by scope.
  private let others = Locked<[String: ScopeStatistics]>([:])

  /// Creates an empty registry.
  ///
  /// - Parameter isShared: whether many threads are likely to open children.
  init(isShared: Bool) {
    var lists = FrozenArray<List>(capacity: isShared ? 29 : 1)
    for _ in 0..<(isShared ? 29 : 1) { lists.append(List()) }
    self.lists = lists
  }

  /// Returns the index in `lists` for the place of a thread.
  @inline(__always)
  private func list(at place: Int) -> Int { place & (lists.count &- 1) }

  var isEmpty: Bool { (0..<lists.count).allSatisfy { lists[$0].first.load(ordering: .acquiring) == nil } }

  /// Adds a child, and retains it.
  ///
  /// - Parameter place: the place of the calling thread, see `ScopeCounts`.
  @inline(__always)
  func join(_ child: Unretained<Environment>, at place: Int) {
    child.retain()
    let list = list(at: place)
    let old = lists[list].first.load(ordering: .relaxed)
    child.with {
      $0.core.next.store(old?.erased, ordering: .relaxed)
      $0.core.previous.store(.first(ofList: list), ordering: .relaxed)
    }
    old?.with { $0.core.previous.store(.after(child.erased), ordering: .relaxed) }
    lists[list].first.store(child, ordering: .releasing)
    lists[list].live.store(lists[list].live.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Removes a child that has released `count` beans, which are all that it has created. The caller takes over the
  /// reference.
  @inline(__always)
  func leave(_ child: Unretained<Environment>, _ plan: Unretained<Plan>, released count: Int, at place: Int) {
    let (before, after) = child.with {
      ($0.core.previous.load(ordering: .relaxed), $0.core.next.load(ordering: .relaxed))
    }
    let next: Unretained<Environment>? = after.map { Unretained($0) }
    if let list = before.list {
      lists[list].first.store(next, ordering: .releasing)
    } else {
      Unretained<Environment>(before.member).with { $0.core.next.store(after, ordering: .relaxed) }
    }
    next?.with { $0.core.previous.store(before, ordering: .relaxed) }
    // A walk that returns to the child finds it gone.
    child.with { $0.core.previous.store(.none, ordering: .relaxed) }
    let list = list(at: place)
    lists[list].live.store(lists[list].live.load(ordering: .relaxed) &- 1, ordering: .relaxed)
    if self.plan.load(ordering: .relaxed) == plan || select(plan) {
      let (finished, released) = (
        lists[list].finished.load(ordering: .relaxed), lists[list].released.load(ordering: .relaxed)
      )
      lists[list].finished.store(finished &+ 1, ordering: .relaxed)
      lists[list].released.store(released &+ count, ordering: .relaxed)
    } else {
      let name = child.with { $0.name }
      add([ScopeStatistics(ended: name, released: count)])
    }
  }

  /// Selects the plan whose counts the lists store: the first plan of a factory. Returns whether the plan is selected
  /// now.
  @inline(never)
  private func select(_ plan: Unretained<Plan>) -> Bool {
    if self.plan.load(ordering: .relaxed) != nil || plan.with({ $0.isPlain }) { return false }
    self.plan.store(plan, ordering: .relaxed)
    return true
  }

  /// The children that live now.
  var all: [Environment] { first(.max) }

  /// Returns some of the children that live now, in the order of `all`.
  func first(_ maximum: Int) -> [Environment] {
    var children: [Environment] = []
    for list in listNumbers { append(from: lists[list].first.load(ordering: .relaxed), to: &children, maximum) }
    return children
  }

  /// The number of children that live now. Reading it needs no walk.
  var count: Int { listNumbers.reduce(0) { $0 + lists[$1].live.load(ordering: .relaxed) } }

  /// The numbers of the lists that take children.
  var listNumbers: StrideTo<Int> { stride(from: 0, to: lists.count, by: 4) }

  /// Appends the next children of a list to an empty array, up to its capacity. A walk holds the lock no longer than
  /// for that many.
  ///
  /// - Parameters:
  ///   - next: receives the children.
  ///   - list: the number of the list.
  ///   - last: the children that precede them; empty at the beginning.
  /// - Returns: false where all of `last` have left, so that the position in the list is lost.
  func read(_ next: inout [Environment], of list: Int, after last: [Environment]) -> Bool {
    var start = lists[list].first.load(ordering: .relaxed)
    if !last.isEmpty {
      guard let place = last.last(where: { $0.core.previous.load(ordering: .relaxed) != .none }) else { return false }
      start = place.core.next.load(ordering: .relaxed).map { Unretained($0) }
    }
    append(from: start, to: &next, next.capacity)
    return true
  }

  private func append(from start: Unretained<Environment>?, to children: inout [Environment], _ maximum: Int) {
    var next = start
    while children.count < maximum, let child = next {
      children.append(child.object)
      next = child.with { $0.core.next.load(ordering: .relaxed) }.map { Unretained($0) }
    }
  }

  /// Stores the counts of environments below an ended child.
  func add(_ below: [ScopeStatistics]) {
    others.withLock { others in
      for counts in below { others[counts.scope, default: ScopeStatistics(scope: counts.scope)].add(counts) }
    }
  }

  /// The counts of the children that have ended, and of their children.
  var statistics: [ScopeStatistics] {
    var all = Array(others.withLock { $0 }.values)
    guard let plan = plan.load(ordering: .relaxed) else { return all }
    var own = ScopeStatistics(scope: plan.with { $0.name })
    for list in 0..<lists.count {
      own.finished += lists[list].finished.load(ordering: .relaxed)
      own.released += lists[list].released.load(ordering: .relaxed)
    }
    (own.opened, own.created) = (own.finished, own.released)
    all.append(own)
    return all
  }
}
