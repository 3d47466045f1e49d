import Synchronization
import BeansSupport
import CBeansRuntime

/// Answering lookups: one probe of the plan's index, then the slot.
extension Environment {
  // MARK: the usual lookups

  /// The bean of a type that has been asked for before, or that the plan foresees, with a count for the caller;
  /// `Argument.none` where there is more to it.
  @usableFromInline
  func fetch(_ type: ObjectIdentifier) throws -> Argument {
    guard let plan = core.plan else { return .none }
    if let entry = plan.with({ $0.index.entry(type) }) { return try fetch(entry.value.operand, plan) }
    return try fetchUnforeseen(plan, type, nil)
  }

  @usableFromInline
  func fetch(_ type: ObjectIdentifier, _ id: String) throws -> Argument {
    guard let plan = core.plan else { return .none }
    if let entry = plan.with({ $0.index.entry(type, id) }) { return try fetch(entry.value.operand, plan) }
    return try fetchUnforeseen(plan, type, id)
  }

  /// What a lookup that the plan does not foresee has found before.
  @inline(never)
  private func fetchUnforeseen(_ plan: Unretained<Plan>, _ type: ObjectIdentifier, _ id: String?) throws -> Argument {
    let operand = home(plan).with { home in
      home.core.extras?.with { $0.resources?.answers.find(plan.address, type, id)?.with { $0.operand } ?? nil } ?? nil
    }
    return if let operand { try fetch(operand, plan) } else { .none }
  }

  @inline(__always)
  private func fetch(_ operand: Operand, _ plan: Unretained<Plan>) throws -> Argument {
    if case .own(let slot) = operand.place { return try fetchOwn(slot, operand.reading) }
    guard case .outer(let slot) = operand.place else { return try fetchComputed(operand) }
    guard let lent = lend(slot, plan) else { return .none }
    lent.object.retain()
    lent.use.clear()
    if lent.home.with({ $0.core.isFinishing }) { lent.home.with { $0.releaseUnlessRead() } }
    if core.kind.contains(.hosted) { used() }
    return Argument(lent.object, operand.reading)
  }

  /// A bean of a factory's child.
  @inline(never)
  private func fetchOwn(_ slot: Int32, _ reading: Reading) throws -> Argument {
    if core.kind.contains(.scoped) { return .none }
    let object: ObjectReference
    if core.slots[slot].content.isFilled {
      guard let found = keepEntering(slot) else { return .none }
      object = found
    } else {
      object = try buildEntering(slot)
    }
    if ResolutionContext.innermost != nil { try checkCaptivity(slot, object) }
    if core.kind.contains(.hosted) { used() }
    return Argument(object, reading)
  }

  /// A bean that stands, with a count for the caller; nil where nothing is looked up any more.
  private func keepEntering(_ slot: Int32) -> ObjectReference? {
    core.lock.withLock { () -> ObjectReference? in
      guard core.lifecycle.isOpen else { return nil }
      let content = core.slots[slot].content
      guard content.isFilled, !content.isUnlogged || core.builds == nil else { return nil }
      content.object.retain()
      return content.object
    }
  }

  /// A prototype, nearly always. In an environment that is no child of a factory a note is enough to keep it.
  @inline(never)
  private func fetchComputed(_ operand: Operand) throws -> Argument {
    guard core.kind.contains(.plain), let use = HazardPointer.protecting(Unretained(self).address) else { return .none }
    defer { endUse(use) }
    return core.lifecycle.isOpen ? try argument(operand) : .none
  }

  /// The nearest environment that is no child of a factory.
  @inline(__always)
  private func home(_ plan: Unretained<Plan>) -> Unretained<Environment> { ancestor(plan.with { $0.depth }) }

  /// Ends a use that has been noted; where the environment has begun to end, its release may have waited for that.
  @inline(__always)
  func endUse(_ use: HazardPointer) {
    use.clear()
    if core.lifecycle.isFinishing { releaseUnlessRead() }
  }

  // MARK: lent beans

  /// A bean in use until its note is crossed out; not retained.
  @usableFromInline
  struct Lent {
    @usableFromInline let object: ObjectReference
    @usableFromInline let use: HazardPointer
    @usableFromInline let home: Unretained<Environment>

    @inline(__always)
    fileprivate init(_ object: ObjectReference, _ use: HazardPointer, _ home: Unretained<Environment>) {
      (self.object, self.use, self.home) = (object, use, home)
    }

    @inlinable @inline(__always)
    func end() {
      use.clear()
      home.with { if $0.core.isFinishing { $0.releaseUnlessRead() } }
    }
  }

  /// The bean of a class that stands in an environment which is no child of a factory; nil where that is otherwise.
  @usableFromInline
  func lend(_ type: ObjectIdentifier) -> Lent? {
    guard let plan = core.plan, let operand = plan.with({ $0.index.find(type) }), case .outer(let slot) = operand.place,
      !core.kind.contains(.hosted)
    else { return nil }
    return lend(slot, plan)
  }

  /// The bean of a slot further out, where it stands.
  @inline(__always)
  private func lend(_ slot: SlotReference, _ plan: Unretained<Plan>) -> Lent? {
    let home = home(plan)
    guard let use = HazardPointer.protecting(home.address) else { return nil }
    // A child that has not begun to end keeps its ancestors from doing so.
    let content = slot.content
    if core.lifecycle.isOpen, content.isFilled { return Lent(content.loggedObject, use, home) }
    return refuse(use, home)
  }

  @inline(never)
  private func refuse(_ use: HazardPointer, _ home: Unretained<Environment>) -> Lent? {
    home.with { $0.endUse(use) }
    return nil
  }

  /// Runs `body` while nothing here is released.
  @usableFromInline
  func whileKept<R>(_ body: () throws -> R) throws -> R {
    try using {
      try ResolutionContext.with(Unretained(self), nil) { _ in
        defer { used() }
        return try body()
      }
    }
  }

  // MARK: every other lookup

  /// The bean for a parameter, with a count for the caller. Starts the environment if need be.
  @usableFromInline
  func fetch(_ parameter: Parameter, id: String?) throws -> Argument {
    try using {
      defer { used() }
      return try lookUp(parameter, id: id)
    }
  }

  /// Runs `body` while nothing here is released.
  func using<R>(_ body: () throws -> R) throws -> R {
    try enter()
    defer { leave() }
    return try body()
  }

  func enter() throws {
    while true {
      let isInside = core.lock.withLock {
        core.change { lifecycle in
          let mayEnter = lifecycle.isOpen || lifecycle.phase == .starting && isStartedHere
          if mayEnter { lifecycle.enter() }
          return mayEnter
        }
      }
      if isInside { return }
      if core.lifecycle.isEnding { throw finishedError() }
      try startIfNeeded()
    }
  }

  func leave() {
    if core.lock.withLock({ core.change { $0.leave() } }) == .release { release() }
  }

  /// Why nothing can be looked up any more: what startup threw, or `.finished`.
  func finishedError() -> any Error {
    if let cause = existingExtras?.resources?.failure { return cause }
    return EnvironmentError(.finished, "environment '\(name)' has been finished", path: ["'\(name)'"])
  }

  /// For whoever keeps the environment from being released.
  func lookUp(_ parameter: Parameter, id: String?) throws -> Argument {
    let type = ObjectIdentifier(parameter.wanted)
    let foreseen = core.compiledPlan.with { plan in
      if let id { plan.index.find(type, id) } else { plan.index.find(type) }
    }
    if let foreseen { return try lookUp(foreseen) }
    let (plan, resources) = (core.compiledPlan.address, homeResources)
    let lookup: UnforeseenLookup
    if let known = resources?.answers.find(plan, type, id) {
      lookup = known.object
    } else {
      lookup = try resolve(parameter, id: id)
      resources?.answers.keep(lookup, plan, type, id)
    }
    if let operand = lookup.operand { return try lookUp(operand) }
    return try lookup.evaluate(in: self)
  }

  private func lookUp(_ operand: Operand) throws -> Argument {
    let found = try argument(operand)
    if case .own(let slot) = operand.place, let object = found.object { try checkCaptivity(slot, object) }
    return found
  }

  /// Throws where the thread is building a bean that outlives the one it has looked up: nothing keeps it from being kept.
  ///
  /// A child that was opened by the same build may be used: whoever has opened it knows that it ends.
  private func checkCaptivity(_ slot: Int32, _ object: ObjectReference) throws {
    let bean = recipe(slot)
    guard !bean.value.isSeed, let holder = ResolutionContext.holder(above: self) else { return }
    object.release()
    let (label, holding) = (bean.value.label, holder.value.label)
    throw bean.value.fault(
      .captiveDependency,
      "\(holding.text) (\(holding.scopeName)) is being built and outlives what it looks up (\(label.scopeName)): "
        + "\(label.text); use a Provider", path: [holding.text, label.text])
  }

  // MARK: lookups that nobody foresaw

  private func resolve(_ parameter: Parameter, id: String?) throws -> UnforeseenLookup {
    let (directory, below) = core.compiledPlan.with { ($0.directory, $0.below) }
    switch try directory.select(parameter, id: id, below: below) {
    case .computed(let computation, let reading): return UnforeseenLookup(computation, reading)
    case .all(let beans): return UnforeseenLookup(all: try beans.map { try place(of: $0).place }, parameter)
    case .bean(let bean):
      let (place, recipe) = try place(of: bean)
      if let inactive = recipe.value.inactive { throw inactive }
      var layouts = LayoutTable()
      if let reading = Reading(
        parameter, of: bean.entry.type, isClass: bean.entry.traits.contains(.object), recipe.value.slotIdentity,
        &layouts)
      {
        return UnforeseenLookup(place, reading, layouts.all, operand: operand(place, reading))
      }
      return UnforeseenLookup(converting: place, parameter)
    }
  }

  /// The operand that leads to a place, where there is one.
  private func operand(_ place: UnforeseenLookup.Place, _ reading: Reading) -> Operand? {
    guard case .slot(let slot, let hops) = place else { return nil }
    let home = ancestor(hops)
    if home.with({ $0.core.kind.contains(.plain) }) {
      return Operand(.outer(home.with { $0.core.slots[slot] }), reading)
    }
    return hops == 0 ? Operand(.own(slot: slot), reading) : nil
  }

  /// Where a bean is found from here.
  private func place(
    of bean: BeanDirectory.Found
  ) throws -> (place: UnforeseenLookup.Place, recipe: FrozenReference<Recipe>) {
    guard let (number, hops) = core.compiledPlan.with({ $0.recipe(for: bean) }) else { throw bean.entry.notOpen }
    let recipe = ancestor(Int32(hops)).with { $0.recipe(number) }
    switch recipe.value.kind {
    case .slot: return (.slot(recipe.value.slot, hops: Int32(hops)), recipe)
    case .scoped: return (.computed(.scoped(number, hops: Int32(hops))), recipe)
    case .prototype, .product: return (.computed(.prototype(number)), recipe)
    }
  }

  /// What a provider says where only children declare the bean: their scope is not open here.
  func unknownToProvider(_ error: EnvironmentError, _ parameter: Parameter, id: String?) -> EnvironmentError {
    guard error.code == .unknownBean, let plan = core.plan else { return error }
    let holder = plan.with { plan in
      plan.below.first { below in
        if let id { return below.names[id] != nil }
        return !below.candidates(for: parameter.element).isEmpty
      }
    }
    guard let holder else { return error }
    let name = id.map { "'\($0)'" } ?? "\(parameter.element)"
    return EnvironmentError(
      .scopeNotActive, "\(name) lives in scope '\(holder.scopeName ?? holder.name)', which is not open here",
      path: [name])
  }
}

/// The answer to a lookup that nobody foresaw.
final class UnforeseenLookup: Sendable {
  enum Place: Sendable {
    case slot(Int32, hops: Int32)
    case computed(Computation)
  }

  private enum Form: Sendable {
    case one(Place, Reading)
    case converted(Place, Parameter)
    case all([Place], Parameter)
  }

  private let form: Form
  /// Says as much, where the answer is one bean of the environment itself or of one that is no child of a factory.
  let operand: Operand?
  /// Keeps what the reading names.
  private let layouts: [ExistentialLayout]

  init(_ place: Place, _ reading: Reading, _ layouts: [ExistentialLayout] = [], operand: Operand? = nil) {
    (form, self.layouts, self.operand) = (.one(place, reading), layouts, operand)
  }

  convenience init(_ computation: Computation, _ reading: Reading) { self.init(.computed(computation), reading) }

  init(converting place: Place, _ parameter: Parameter) {
    (form, layouts, operand) = (.converted(place, parameter), [], nil)
  }

  init(all places: [Place], _ parameter: Parameter) { (form, layouts, operand) = (.all(places, parameter), [], nil) }

  func evaluate(in environment: Environment) throws -> Argument {
    switch form {
    case .one(let place, let reading): return Argument(try object(place, environment), reading)
    case .converted(let place, let parameter): return try environment.boxed([bean(place, environment)], as: parameter)
    case .all(let places, let parameter):
      return try environment.boxed(places.map { try bean($0, environment) }, as: parameter)
    }
  }

  private func object(_ place: Place, _ environment: Environment) throws -> ObjectReference? {
    switch place {
    case .slot(let slot, let hops): try environment.ancestor(hops).with { try $0.askedOrBuilt(slot) }
    case .computed(let computation): try environment.evaluate(computation).object
    }
  }

  private func bean(_ place: Place, _ environment: Environment) throws -> Any {
    guard let object = try object(place, environment) else { return AnyObject?.none as Any }
    defer { object.release() }
    return object.with { Box.open($0) }
  }
}
