import Synchronization
import BeansErrors
import CBeansRuntime

/// Lookups: one probe of the plan's index, then the slot.
extension Environment {
  // MARK: the usual lookups

  /// Returns the bean of a type that the plan foresees, or that an earlier lookup has resolved, retained for the
  /// caller; `Argument.none` where another kind of lookup is needed.
  @usableFromInline
  func fetch(_ type: ObjectIdentifier) throws -> Argument {
    guard let plan = core.plan else { return .none }
    let operand = plan.with { $0.index.entry(type) }.value.operand
    guard case .outer(let slot) = operand.place else { return try fetchOther(operand, type, nil) }
    return fetch(slot, operand.reading, plan)
  }

  @usableFromInline
  func fetch(_ type: ObjectIdentifier, _ id: String) throws -> Argument {
    guard let plan = core.plan else { return .none }
    let operand = plan.with { $0.entry(type, id) }.value.operand
    guard case .outer(let slot) = operand.place else { return try fetchOther(operand, type, id) }
    return fetch(slot, operand.reading, plan)
  }

  /// Returns a bean of an environment that is not a child of a factory.
  @inline(__always)
  private func fetch(_ slot: Slot, _ reading: Reading, _ plan: Unretained<Plan>) -> Argument {
    guard let lent = lend(slot, plan) else { return .none }
    lent.object.retain()
    lent.end()
    // An environment that is not a child of a factory has no host.
    if lent.home != Unretained(self) { used() }
    return Argument(lent.object, reading)
  }

  /// Returns any other bean: nearly always one of a factory's child, else a prototype, or the result of an earlier
  /// lookup that the plan does not foresee.
  @inline(never)
  private func fetchOther(_ operand: Operand, _ type: ObjectIdentifier, _ id: String?) throws -> Argument {
    if case .own(let slot) = operand.place {
      if let found = try fetchKept(slot, of: self, operand.reading) { return found }
      return try checked(Argument(build(slot, isInside: false), operand.reading), slot, of: self)
    }
    guard operand.isNone else { return try fetchFurtherOut(operand) ?? fetchComputed(operand) }
    let plan = core.compiledPlan
    let found = plan.with({ $0.home }).with { home in
      home.core.extras?.with { $0.resources?.answers.find(plan.identifier, type, id)?.with { $0.operand } ?? nil }
        ?? nil
    }
    guard let found else { return .none }
    guard case .outer(let slot) = found.place else { return try fetchOther(found, type, id) }
    return fetch(slot, found.reading, plan)
  }

  /// Returns the bean of a factory's child further out; nil where it does not exist, or for any other operand.
  private func fetchFurtherOut(_ operand: Operand) throws -> Argument? {
    guard case .computed(let number) = operand.place, core.lifecycle.isOpen,
      case .outer(let hops, let slot) = core.compiledPlan.with({ $0.computations[Int(number)] })
    else { return nil }
    return try ancestor(hops).with { try fetchKept(slot, of: $0, operand.reading) }
  }

  /// Returns a bean that exists, here or in a child of a factory further out; nil where there is none, or where lookups
  /// have ended.
  @inline(__always)
  private func fetchKept(_ slot: Int32, of holder: Environment, _ reading: Reading) throws -> Argument? {
    let content = holder.core.slots[slot].content
    guard content.isFilled else { return nil }
    let mayKeep = holder.core.lock.withLock { () -> Bool in
      guard holder.core.lifecycle.isOpen else { return false }
      content.object.retain()
      return true
    }
    guard mayKeep else { return nil }
    return try checked(Argument(content.object, reading), slot, of: holder)
  }

  /// Returns a bean that a lookup has found, unless a build of this thread must not take it.
  @inline(__always)
  private func checked(_ found: Argument, _ slot: Int32, of holder: Environment) throws -> Argument {
    do { try CaptivityCheck.check(slot, of: holder) } catch {
      found.object?.release()
      throw error
    }
    used()
    return found
  }

  /// Evaluates an operand. In an environment that is not a child of a factory, a hazard pointer is enough to prevent
  /// the release.
  private func fetchComputed(_ operand: Operand) throws -> Argument {
    guard core.compiledPlan.with({ $0.isPlain }), let use = HazardPointer.protecting(Unretained(self)) else {
      return .none
    }
    defer { endUse(use) }
    return if core.lifecycle.isOpen { try lookUp(operand) } else { .none }
  }

  /// Ends a use that a hazard pointer protects. If the environment has begun to end, its release may have waited for
  /// this use.
  @inlinable @inline(__always)
  func endUse(_ use: HazardPointer) {
    use.clear()
    if core.isFinishing { releaseUnlessRead() }
  }

  // MARK: lent beans

  /// A bean in use until its hazard pointer is cleared; not retained.
  @usableFromInline
  struct Lent {
    @usableFromInline let object: ObjectReference
    @usableFromInline let use: HazardPointer
    @usableFromInline let home: Unretained<Environment>

    @inlinable @inline(__always)
    func end() { home.with { $0.endUse(use) } }
  }

  /// Returns the bean of a class that exists in an environment which is not a child of a factory; nil in every other
  /// case.
  @usableFromInline
  func lend(_ type: ObjectIdentifier) -> Lent? {
    guard let plan = core.plan, case .outer(let slot) = plan.with({ $0.index.entry(type) }).value.operand.place,
      host == nil
    else { return nil }
    return lend(slot, plan)
  }

  /// Returns the bean of a slot further out; nil where it does not exist.
  @inline(__always)
  private func lend(_ slot: Slot, _ plan: Unretained<Plan>) -> Lent? {
    let home = plan.with { $0.home }
    guard let use = HazardPointer.protecting(home) else { return nil }
    let content = slot.content
    // The ancestors of an environment that has not begun to end are not released.
    guard core.lifecycle.isOpen, content.isFilled else {
      home.with { $0.endUse(use) }
      return nil
    }
    return Lent(object: content.object, use: use, home: home)
  }

  /// Runs `body` while nothing here is released.
  @usableFromInline
  func whileKept<R>(_ body: () throws -> R) throws -> R {
    try lookingUp { try ResolutionContext.with(Unretained(self), nil) { _ in try body() } }
  }

  // MARK: every other lookup

  /// Returns the bean for a parameter, retained for the caller. Starts the environment if need be.
  @usableFromInline
  func fetch(_ parameter: Parameter, id: String?) throws -> Argument {
    try lookingUp { try lookUp(parameter, id: id) }
  }

  /// Runs `body`, which is a use of the environment, while nothing here is released.
  @inline(__always)
  func lookingUp<R>(_ body: () throws -> R) throws -> R {
    try using {
      defer { used() }
      return try body()
    }
  }

  /// Runs `body` while nothing here is released.
  package func using<R>(_ body: () throws -> R) throws -> R {
    try enter()
    defer { leave() }
    return try body()
  }

  func enter() throws {
    while true {
      let mayEnter = changeLocked { lifecycle in
        let mayEnter =
          lifecycle.isOpen || lifecycle.phase == .starting && existingExtras?.resources?.isStartedHere == true
        if mayEnter { lifecycle.enter() }
        return mayEnter
      }
      if mayEnter { return }
      if core.lifecycle.isEnding { throw finishedError() }
      try startUnasked()
    }
  }

  /// Starts the environment for a call that needs it. An error says so first: its beans may be others than the call's.
  private func startUnasked() throws {
    try checkMayStart()
    do { try startIfNeeded() } catch let error as EnvironmentError {
      throw error.saying("this call started '\(name)', since startup() had not been called; \(error.message)")
    }
  }

  /// Ends a use that `enter` has begun. The last user to leave releases an environment whose end has begun.
  func leave() {
    if changeLocked({ $0.leave() }) { release() }
  }

  /// Runs a transition under the lock.
  func changeLocked<R>(_ transition: (inout Lifecycle) -> R) -> R { core.lock.withLock { core.change(transition) } }

  /// Looks up a bean, for callers that prevent the release of the environment.
  func lookUp(_ parameter: Parameter, id: String?) throws -> Argument {
    if let foreseen = foreseen(parameter, id: id) { return try lookUp(foreseen) }
    return try lookUp(unforeseen(parameter, id: id))
  }

  /// Calls `body` with each bean that a lookup needs. For callers that prevent the release of the environment.
  func forEachBean(of parameter: Parameter, id: String?, _ body: FrozenReference<Recipe>.Visitor) throws {
    if let foreseen = foreseen(parameter, id: id) { return foreseen.place.forEachBean(in: self, body) }
    try unforeseen(parameter, id: id).computed.computation.forEachBean(in: self, body)
  }

  private func foreseen(_ parameter: Parameter, id: String?) -> Operand? {
    core.compiledPlan.with { $0.index.find(ObjectIdentifier(parameter.wanted), id) }
  }

  private func unforeseen(_ parameter: Parameter, id: String?) throws -> Retrieval {
    let type = ObjectIdentifier(parameter.wanted)
    let (plan, resources) = (core.compiledPlan.identifier, homeResources)
    if let known = resources?.answers.find(plan, type, id) { return known.object }
    let found = try resolve(parameter, id: id)
    resources?.answers.keep(found, plan, type, id)
    return found
  }

  /// Looks up a bean as the declarations of a module find it.
  func lookUp(_ parameter: Parameter, id: String?, from module: ObjectIdentifier) throws -> Argument {
    try lookUp(resolve(parameter, id: id, from: module))
  }

  private func lookUp(_ found: Retrieval) throws -> Argument {
    let (computation, reading) = found.computed
    var check = CaptivityCheck(of: self)
    try check?.check(computation)
    return Argument(try evaluate(computation), reading)
  }

  private func lookUp(_ operand: Operand) throws -> Argument {
    var check = CaptivityCheck(of: self)
    try check?.check(operand)
    return try argument(operand)
  }

  // MARK: lookups that the plan does not foresee

  private func resolve(
    _ parameter: Parameter, id: String?, from module: ObjectIdentifier? = nil
  ) throws -> Retrieval {
    let plan = core.compiledPlan.object
    let source = try search(id, from: module).resolve(parameter).map { bean throws(EnvironmentError) in
      guard let located = plan.locate(bean) else { throw bean.definition.notOpen }
      return located.bean
    }
    return Retrieval(source, for: parameter)
  }

  private func search(_ id: String?, from module: ObjectIdentifier?) -> BeanSearch {
    core.compiledPlan.with { BeanSearch(directory: $0.directory, id: id, module: module, below: $0.below) }
  }

  /// Returns the error of a provider that finds no bean: `.scopeNotActive` where children of factories below this
  /// environment declare one. Returns every other error unchanged, including the error of a factory that lacks a bean.
  func reason(
    for error: EnvironmentError, _ parameter: Parameter, id: String?, from module: ObjectIdentifier?
  ) -> EnvironmentError {
    // An environment without a plan has not started: the error already names the reason.
    guard error.code == .unknownBean, core.plan != nil else { return error }
    let search = search(id, from: module)
    do throws(EnvironmentError) {
      _ = try search.resolve(parameter)
      return error
    } catch {
      if error.code != .unknownBean { return error }
    }
    guard let holder = search.holderBelow(parameter) else { return error }
    let name = id.map { "'\($0)'" } ?? "\(parameter.element)"
    return EnvironmentError(
      .scopeNotActive, Lifetime.notOpen(holder.scopeName ?? holder.name, name), path: [name])
  }
}
