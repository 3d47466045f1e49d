@_spi(BeansPackage) import BeansErrors
import Synchronization

/// Environments that are not children of factories, below another one of that kind.
struct NestedEnvironments {
  /// The environments that have not ended. Their parents retain them.
  var live = [ObjectIdentifier: Environment]()
  /// The counts of environments that have ended, and of all below them.
  var ended = [String: ScopeStatistics]()
}

/// The state, beside its slots, of an environment that is not a child of a factory.
final class EnvironmentResources: Sendable {
  let name: String
  let configuration: ConfigurationManager
  let traceOrigin: Bool
  /// Whether the environment is the argument of `configure`: it declares, and never starts.
  let isTemplate: Bool
  let creations = CreationWatch()
  /// The results of lookups that the plan does not foresee.
  let answers = AnswerTable<Retrieval>()
  /// The remarks on the declarations, once a report has had them.
  let remarks = AtomicLazyReference<DeclarationRemarks>()
  /// The number of releases that have failed here and below.
  let failedReleases = Atomic<Int>(0)
  /// The number of scheduled calls that have failed here and below.
  let failedCalls = Atomic<Int>(0)
  private let nestedEnvironments = Locked(NestedEnvironments())
  private let state: Locked<State>

  private struct State {
    var declarations: SharedDeclarations
    /// The startup in flight.
    var startup: Flight?
    var failure: (any Error)?
    /// The scopes that users have registered. A scope's name is read once: reading it runs user code.
    var scopes: [RegisteredScope] = []
    var block: SlotBlock?
    var declared: [DeclaredBeans] = []
    var plan: Plan?
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
    var hook: (any EnvironmentHook)?
    /// The clock of schedules and restarts; nil for the one further out.
    var clock: EnvironmentClock?
  }

  init(_ declarations: EnvironmentDeclarations, traceOrigin: Bool) {
    name = declarations.name
    configuration = declarations.configuration
    self.traceOrigin = traceOrigin
    isTemplate = declarations.opening != nil
    state = Locked(State(declarations: SharedDeclarations(open: declarations)))
    WaitForGraph.connect(path: { ResolutionContext.path }, warn: { ContainerLog.shared.waiting($0) })
  }

  /// The declarations; nil once startup has read them.
  var declarations: EnvironmentDeclarations? { state.withLock { $0.declarations }.open }

  /// The declarations; nil once a thread starts the environment.
  var openDeclarations: EnvironmentDeclarations? {
    state.withLock { SharedDeclarations(open: $0.startup == nil ? $0.declarations.open : nil) }.open
  }

  /// The declarations, before and after startup; nil while a thread other than the calling one starts the environment,
  /// and after the end.
  var knownDeclarations: EnvironmentDeclarations? {
    let (declarations, startup) = state.withLock { ($0.declarations, $0.startup) }
    return declarations.read ?? (startup?.isOwn != false ? declarations.open : nil)
  }

  /// Environments below that are not children of factories, except those below another one of that kind.
  var nested: NestedEnvironments { nestedEnvironments.withLock { $0 } }

  func begin(nested environment: Environment) {
    nestedEnvironments.withLock { $0.live[ObjectIdentifier(environment)] = environment }
  }

  /// Records the end of an environment below that is not a child of a factory.
  ///
  /// - Parameter counts: the counts of the environment and of all below it; none where it has not become a child.
  func end(nested environment: Environment, _ counts: [ScopeStatistics] = []) {
    nestedEnvironments.withLock { nested in
      nested.live[ObjectIdentifier(environment)] = nil
      nested.ended.add(counts)
    }
  }

  // MARK: startup

  /// Whether the calling thread starts the environment and may look up beans already.
  var isStartedHere: Bool { state.withLock { $0.block != nil && $0.startup?.isOwn == true } }

  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Returns the startup, which the calling thread makes where no other does. Returns nil where startup has ended, and
  /// for the starting thread once the slots exist.
  ///
  /// - Throws: the error of an earlier startup.
  func begin() throws -> Flight? {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      guard let startup = state.startup else {
        if state.declarations.open != nil { state.startup = Flight() }
        return state.startup
      }
      if !startup.isOwn { return startup }
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
      state.startup = nil
      state.failure = failure
      return old
    }
    guard let failure else { return }
    for factory in (declarations ?? old.open ?? old.read)?.below ?? [] { factory.tell(.failure(failure)) }
  }

  func compiled(_ compiler: GraphCompiler, _ plan: Plan, _ block: SlotBlock) {
    let declared = compiler.declared
    let (plans, reasons) = (compiler.below.map(\.plan), compiler.inactive.map(\.reason))
    // Before `end(_:of:)` passes the declarations on to other threads.
    compiler.keepDecisions()
    state.withLock { state in
      state.block = block
      state.plan = plan
      state.declared = declared
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

  var block: SlotBlock? { state.withLock { $0.block } }

  /// Labels of beans that startup could not build without waiting, as long as they do not exist.
  var unready: [String] { state.withLock { $0.unready } }

  /// Whether beans that several threads share have to be known to be `Sendable`.
  var requiresSendable: Bool { state.withLock { $0.requiresSendable } }

  /// The record of a startup; nil unless it has been requested.
  var record: StartupRecord? { state.withLock { $0.record } }

  /// Records the options of a startup that has not ended.
  func require(_ options: Set<StartupOption>) {
    state.withLock { state in
      if options.contains(.requireSendable) { state.requiresSendable = true }
      let isRecorded = options.contains(.recordTimes) && state.declarations.open != nil
      if isRecorded { state.record = state.record ?? StartupRecord() }
    }
  }

  func note(unready label: String) { state.withLock { $0.unready.append(label) } }

  func isReady() { state.withLock { $0.unready = [] } }

  /// The clock of schedules and restarts; nil for the one further out.
  var clock: EnvironmentClock? { state.withLock { $0.clock } }

  func use(_ clock: EnvironmentClock) { state.withLock { $0.clock = clock } }

  /// The hook of a test into the environment, and into those below it that are not children of factories.
  var hook: (any EnvironmentHook)? { state.withLock { $0.hook } }

  func install(_ hook: any EnvironmentHook) { state.withLock { $0.hook = hook } }

  // MARK: scopes

  typealias RegisteredScope = (name: String, scope: any BeanScope, location: SourceLocation)

  var scopes: [RegisteredScope] { state.withLock { $0.scopes } }

  /// Returns the last registered scope of a name.
  func scope(named name: String) -> (any BeanScope)? {
    // Each lookup of a scoped bean comes here: `last(where:)` would copy every entry.
    state.withLock { state in
      for index in state.scopes.indices.reversed() where state.scopes[index].name == name {
        return state.scopes[index].scope
      }
      return nil
    }
  }

  func add(_ scope: any BeanScope, _ name: String, _ location: SourceLocation) {
    state.withLock { $0.scopes.append((name, scope, location)) }
  }

  // MARK: the end

  /// Drops the references to objects of users: their closures may hold the environment.
  func letGo() {
    configuration.close()
    let old = state.withLock { state in
      let old = state
      state.declared = []
      state.declarations = SharedDeclarations()
      state.scopes = []
      return old
    }
    old.block?.releaseValues()
  }
}
