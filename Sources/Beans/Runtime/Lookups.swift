import Synchronization
import BeansSupport
import CBeansRuntime

/// Answering lookups: one probe of the plan's index, then the slot.
extension Environment {
  // MARK: the usual lookups

  /// The bean of a type that the plan knows, with a count for the caller; nil where there is more to it.
  @usableFromInline
  func fetch(_ type: ObjectIdentifier) throws -> Argument? {
    guard core.lifecycle.isOpen, let operand = core.compiledPlan.with({ $0.index.find(type) }) else { return nil }
    return try fetch(operand)
  }

  @usableFromInline
  func fetch(_ type: ObjectIdentifier, _ id: String) throws -> Argument? {
    guard core.lifecycle.isOpen, let operand = core.compiledPlan.with({ $0.index.find(type, id) }) else { return nil }
    return try fetch(operand)
  }

  @inline(__always)
  private func fetch(_ operand: Operand) throws -> Argument? {
    if case .outer(let slot) = operand.place {
      let home = home
      guard let use = HazardPointer.protecting(home.address) else { return nil }
      // A child that has not begun to end keeps its ancestors from doing so.
      let content = core.lifecycle.isOpen ? slot.content : .empty
      if content.isFilled { content.object.retain() }
      home.with { $0.endUse(use) }
      if core.kind.contains(.hosted) { used() }
      return content.isFilled ? Argument(content.object, operand.reading) : nil
    }
    if case .own(let slot) = operand.place { return try fetchOwn(slot, operand.reading) }
    return try fetchComputed(operand)
  }

  /// A bean of a factory's child.
  @inline(__always)
  private func fetchOwn(_ slot: Int32, _ reading: Reading) throws -> Argument? {
    if core.kind.contains(.scoped) { return nil }
    let object: ObjectReference
    if core.slots[slot].content.isFilled {
      guard let found = keepEntering(slot) else { return nil }
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
  private func fetchComputed(_ operand: Operand) throws -> Argument? {
    guard core.kind.contains(.plain), let use = HazardPointer.protecting(Unretained(self).address) else { return nil }
    defer { endUse(use) }
    return core.lifecycle.isOpen ? try argument(operand) : nil
  }

  /// The nearest environment that is no child of a factory.
  @inline(__always)
  private var home: Unretained<Environment> {
    var home = Unretained(self)
    while let parent = home.with({ $0.core.kind.contains(.plain) ? nil : $0.core.parent }) { home = parent }
    return home
  }

  /// Ends a use that has been noted; where the environment has begun to end, its release may have waited for that.
  @usableFromInline @inline(__always)
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
    private let home: Unretained<Environment>

    fileprivate init(_ object: ObjectReference, _ use: HazardPointer, _ home: Unretained<Environment>) {
      (self.object, self.use, self.home) = (object, use, home)
    }

    @usableFromInline @inline(__always)
    func end() { home.with { $0.endUse(use) } }
  }

  /// The bean of a class that stands in an environment which is no child of a factory; nil where that is otherwise.
  @usableFromInline
  func lend(_ type: ObjectIdentifier) -> Lent? {
    guard core.lifecycle.isOpen, let operand = core.compiledPlan.with({ $0.index.find(type) }),
      case .outer(let slot) = operand.place, !core.kind.contains(.hosted)
    else { return nil }
    let home = home
    guard let use = HazardPointer.protecting(home.address) else { return nil }
    let lent = Lent(slot.content.object, use, home)
    if core.lifecycle.isOpen, slot.content.isFilled { return lent }
    lent.end()
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
    let operand = core.compiledPlan.with { plan in
      if let id { plan.index.find(type, id) } else { plan.index.find(type) }
    }
    if let operand {
      let found = try argument(operand)
      if case .own(let slot) = operand.place, let object = found.object { try checkCaptivity(slot, object) }
      return found
    }
    let key = LookupKey(plan: core.compiledPlan.address, type: type, id: id)
    let resources = homeResources
    if let known = resources?.known(key) { return try known.evaluate(in: self) }
    let lookup = try resolve(parameter, id: id)
    resources?.keep(lookup, for: key)
    return try lookup.evaluate(in: self)
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
        return UnforeseenLookup(place, reading, layouts.all)
      }
      return UnforeseenLookup(converting: place, parameter)
    }
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

/// Names a lookup in the environments of one plan.
struct LookupKey: Hashable, Sendable {
  let plan: UInt
  let type: ObjectIdentifier
  let id: String?
}

/// The answer to a lookup that nobody foresaw.
struct UnforeseenLookup: Sendable {
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
  /// Keeps what the reading names.
  private let layouts: [ExistentialLayout]

  init(_ place: Place, _ reading: Reading, _ layouts: [ExistentialLayout] = []) {
    form = .one(place, reading)
    self.layouts = layouts
  }

  init(_ computation: Computation, _ reading: Reading) { self.init(.computed(computation), reading) }

  init(converting place: Place, _ parameter: Parameter) { (form, layouts) = (.converted(place, parameter), []) }

  init(all places: [Place], _ parameter: Parameter) { (form, layouts) = (.all(places, parameter), []) }

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
