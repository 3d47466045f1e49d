import CBeansRuntime
import Synchronization

/// Following edges and building what is missing. Everything here runs between `enter` and `leave`.
extension Environment {
  /// What an edge stands for in this environment. Not owned where a slot holds it.
  func argument(for edge: Edge) throws -> Argument {
    guard edge.slot >= 0, let access = edge.direct else { return try convertedArgument(for: edge) }
    return Argument(object: try object(edge.slot, edge.hops), access: access, isOwned: false)
  }

  /// The bean in a slot so many environments further out, built if need be.
  @inline(__always)
  private func object(_ slot: Int, _ hops: Int) throws -> UnsafeRawPointer {
    if hops == 0 { return try slots[slot].object ?? build(slot) }
    return try ancestor(hops)._withUnsafeGuaranteedRef { owner in
      try owner.slots[slot].object ?? owner.build(slot)
    }
  }

  /// The same for edges that are not just a filled slot.
  @inline(never)
  private func convertedArgument(for edge: Edge) throws -> Argument {
    if let prototype = edge.prototype, let access = edge.direct {
      let object = try prototype._withUnsafeGuaranteedRef { try buildUntracked($0) }
      return Argument(object: Unmanaged.passRetained(object).toOpaque(), access: access, isOwned: true)
    }
    if let form = edge.form {
      let object = try object(edge.slot, edge.hops)
      if form.fits(object) {
        return Argument(object: object, access: .existential, isOwned: false, form: .passUnretained(form))
      }
    }
    let dependency = edge.dependency
    switch edge.source {
    case .absent:
      if dependency.isReference { return Argument(object: nil, access: .reference, isOwned: false) }
      return try box([], for: edge)
    case .provider(let id):
      // `.provider` edges are only made for dependencies that have one.
      return Argument(owning: dependency.provider(in: self, id: id).unsafelyUnwrapped, access: .boxed)
    case .environment:
      return Argument(borrowing: self, access: .reference)
    case .configuration:
      return Argument(borrowing: plan.configuration, access: .reference)
    case .fixed(let value):
      return try value.borrowed()
    case .computed(let inject, let property):
      return try compute(inject, property, dependency)
    case .composed(let composition):
      return try compose(composition, for: edge)
    case .assembly(let product):
      return Argument(owning: Assembly(of: product, in: self), access: .reference)
    case .bean(let recipe, let hops):
      let object = try instance(of: recipe, hops: hops)
      if let access = edge.direct { return Argument(owning: object, access: access) }
      return try box([Box.open(object)], for: edge)
    case .all(let targets):
      return try box(targets.map { Box.open(try instance(of: $0.recipe, hops: $0.hops)) }, for: edge)
    }
  }

  private func compose(_ composition: Composition, for edge: Edge) throws -> Argument {
    let parts = try composition.parts.map { part in
      let argument = try argument(for: part)
      defer { argument.release() }
      return argument.any
    }
    guard let value = composition.type.assemble(parts), let argument = edge.dependency.argument(fixed: value) else {
      throw EnvironmentError(.invalidDeclaration, "two entries of a \(edge.dependency.wanted) have the same key")
    }
    return argument
  }

  private func box(_ beans: [Any], for edge: Edge) throws -> Argument {
    guard let box = edge.dependency.box(beans) else {
      let types = beans.map { "\(type(of: $0))" }.joined(separator: ", ")
      throw EnvironmentError(.typeMismatch, "\(types) is not a \(edge.dependency.element)")
    }
    return Argument(owning: box, access: .boxed)
  }

  /// The bean of a recipe: kept, new, or as its scope decides.
  func instance(of recipe: Recipe, hops: Int) throws -> AnyObject {
    switch recipe.kind {
    case .slot(let index):
      return Unmanaged<AnyObject>.fromOpaque(try object(index, hops)).takeUnretainedValue()
    case .prototype: return try buildUntracked(recipe)
    case .custom: return try ancestor(hops)._withUnsafeGuaranteedRef { try $0.askScope(for: recipe) }
    }
  }

  /// Fills a slot, and before it those it needs; waits for other threads that do.
  @inline(never)
  func build(_ index: Int, leads: Bool = false) throws -> UnsafeRawPointer {
    let settled = header.plan._withUnsafeGuaranteedRef { $0.flat[index] }
    if beans_stack_is_low() { throw tooDeep(settled.pointee.recipe) }
    // A factory of this environment is asking: what it builds is no longer the only thing under construction.
    if Frame.leads(in: self) { markClaim() }
    return try settled.pointee.buildOrder._withUnsafeGuaranteedRef { order in
      try Frame.with(self, nil, leads: leads) { frame in
        try withUnsafeTemporaryAllocation(of: Argument.self, capacity: SlotPlan.fewArguments) {
          try build(order, frame, $0)
        }
        // The last step has filled it, and nobody empties it while this thread is inside.
        return slots[index].object.unsafelyUnwrapped
      }
    }
  }

  @inline(__always)
  private func build(
    _ order: BuildOrder, _ frame: UnsafeMutablePointer<Frame>, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws {
    let (slots, isCustom, leads) = (slots, isCustomScope, frame.pointee.leads)
    let me = UInt(beans_thread()) | 1
    // A scope object of the user's own is asked first what it wants built.
    var step = isCustom ? order.last : order.first
    while step <= order.last {
      let slot = slots + step.pointee.slot
      let found = slot.pointee.word.load(ordering: .acquiring)
      if found == 0 || found & 1 == 1 {
        frame.pointee.step = step
        do {
          if try found == 0 && leads && claimAlone(step.pointee.slot, me) || claim(slot, found, step, frame) {
            try fill(slot, step, frame, slots, isCustom, arguments)
          }
        } catch { throw within(step, error) }
      }
      step += 1
    }
  }

  /// Whether the slot is this thread's to fill, among others; false when the bean is there after all.
  @inline(never)
  private func claim(
    _ slot: UnsafeMutablePointer<Slot>, _ found: UInt, _ step: UnsafePointer<BuildOrder.Step>,
    _ frame: UnsafeMutablePointer<Frame>
  ) throws -> Bool {
    let found =
      found == 0 ? claimShared(slot, UInt(beans_thread()) | 1, leads: frame.pointee.leads) : found
    return try found == 0 || !wait(for: slot, step, frame, found)
  }

  @inline(__always)
  private func fill(
    _ slot: UnsafeMutablePointer<Slot>, _ step: UnsafePointer<BuildOrder.Step>, _ frame: UnsafeMutablePointer<Frame>,
    _ slots: UnsafeMutablePointer<Slot>, _ isCustom: Bool, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws {
    let settled = step.pointee.settled
    let object: UnsafeMutableRawPointer
    do {
      frame.pointee.recipe = isCustom ? nil : settled.pointee.recipe
      if settled.pointee.isDirect, !isCustom, resolve(settled, slots, arguments) {
        object = Unmanaged.passRetained(try call(settled, arguments.baseAddress.unsafelyUnwrapped)).toOpaque()
      } else {
        object = Unmanaged.passRetained(try create(settled, isCustom, arguments)).toOpaque()
      }
    } catch { throw abandon(slot, failure(error, of: step.pointee.recipe)) }
    noteCreation(in: step.pointee.slot, leads: frame.pointee.leads)
    slot.pointee.word.store(UInt(bitPattern: object), ordering: .releasing)
    // This look may pass the store on its way to memory, so that a thread that begins to wait just now is missed: it
    // looks again by itself. Anything stronger would cost each bean of each request a second locked instruction.
    if header.state.load(ordering: .relaxed) & State.awaited != 0 { BuildQueue.end(UInt(bitPattern: slot), nil) }
  }

  /// The arguments of a direct plan, not owned; false where one is not there yet.
  @inline(__always)
  private func resolve(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ slots: UnsafeMutablePointer<Slot>,
    _ arguments: UnsafeMutableBufferPointer<Argument>
  ) -> Bool {
    let (steps, count) = (settled.pointee.steps, settled.pointee.stepCount)
    // The buffer is never empty.
    let arguments = arguments.baseAddress.unsafelyUnwrapped
    var index = 0
    while index < count {
      let word = steps[index].place(slots).pointee.word.load(ordering: .acquiring)
      if word == 0 || word & 1 == 1 { return false }
      (arguments + index).initialize(
        to: Argument(object: UnsafeRawPointer(bitPattern: word), rest: steps[index].access == .boxed ? 2 : 0))
      index &+= 1
    }
    return true
  }

  /// Another thread is building, or has built: true when the bean is there, false when that thread failed earlier and
  /// this one has the slot now.
  @inline(never)
  private func wait(
    for slot: UnsafeMutablePointer<Slot>, _ step: UnsafePointer<BuildOrder.Step>, _ frame: UnsafeMutablePointer<Frame>,
    _ first: UInt
  ) throws -> Bool {
    let recipe = step.pointee.recipe
    let me = UInt(beans_thread()) | 1
    var found = first
    // What this thread built last is not what it is waiting for.
    frame.pointee.recipe = nil
    while true {
      guard found & 1 == 1 else { return true }
      if found == me { throw cycle(closing: recipe) }
      _ = header.state.bitwiseOr(State.awaited, ordering: .acquiringAndReleasing)
      try BuildQueue.wait(
        for: UInt(bitPattern: slot), recipe.label, in: name, origin: recipe.definition.origin,
        builder: { Slot.builder(slot.pointee.word.load(ordering: .acquiring)) })
      let (won, now) = slot.pointee.word.compareExchange(expected: 0, desired: me, ordering: .acquiringAndReleasing)
      if won { return false }
      found = now
    }
  }

  /// Empties the slot, so that the next lookup tries again, and hands the failure to those who wait.
  @inline(never)
  private func abandon(_ slot: UnsafeMutablePointer<Slot>, _ failure: EnvironmentError) -> EnvironmentError {
    dropClaim(slot)
    let (old, _) = header.state.wrappingAdd(0, ordering: .acquiringAndReleasing)
    if old & State.awaited != 0 { BuildQueue.end(UInt(bitPattern: slot), failure) }
    return failure
  }

  /// The failure of a step, as what was asked for sees it.
  @inline(never)
  private func within(_ step: UnsafePointer<BuildOrder.Step>, _ cause: any Error) -> EnvironmentError {
    var failure = failure(cause, of: step.pointee.recipe)
    var next = step.pointee.dependent
    while let dependent = next {
      failure = self.failure(failure, of: dependent.pointee.recipe)
      next = dependent.pointee.dependent
    }
    return failure
  }

  /// The instance for a slot: made here, or by the user's scope object of this child.
  @inline(never)
  private func create(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ isCustom: Bool, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    isCustom ? try createInScope(settled.pointee.recipe.takeUnretainedValue()) : try make(settled, arguments)
  }

  @inline(never)
  private func createInScope(_ recipe: Recipe) throws -> AnyObject {
    guard let scope = scope.custom, let declaration = recipe.definition.declaration,
      recipe.definition.scopeName == plan.scopeName
    else { return try make(recipe) }
    return try ask(scope, for: declaration, recipe)
  }

  /// A new instance that nobody keeps.
  func buildUntracked(_ recipe: Recipe) throws -> AnyObject {
    if Frame.isBuilding(recipe, in: self) { throw cycle(closing: recipe) }
    do {
      if beans_stack_is_low() { throw tooDeep(.passUnretained(recipe)) }
      return try make(recipe)
    } catch { throw failure(error, of: recipe) }
  }

  // MARK: one instance

  private func make(_ recipe: Recipe) throws -> AnyObject {
    try Frame.with(self, .passUnretained(recipe), leads: false) {
      try withUnsafeTemporaryAllocation(of: Argument.self, capacity: SlotPlan.fewArguments) {
        // Every recipe of a plan that environments use is frozen.
        try make(recipe.flat.unsafelyUnwrapped, $0)
      }
    }
  }

  @inline(__always)
  private func make(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    let care = settled.pointee.care
    guard care == .plain else {
      return try care == .full ? makeWithCare(settled, arguments) : makeFollowed(settled, arguments)
    }
    return try checked(try callFactory(settled, arguments), settled)
  }

  /// What a factory has made, where that is all there is to be done.
  @inline(__always)
  private func checked(_ object: AnyObject, _ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    if UInt(bitPattern: ObjectIdentifier(type(of: object))) == settled.pointee.identity { return object }
    return try completeUnforeseen(object, settled.pointee.recipe.takeUnretainedValue())
  }

  @inline(__always)
  private func call(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutablePointer<Argument>
  ) throws -> AnyObject {
    try checked(
      settled.pointee.constructor._withUnsafeGuaranteedRef {
        try $0.create(Arguments(UnsafePointer(arguments)))
      }, settled)
  }

  /// Says what it does.
  @inline(never)
  private func makeFollowed(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    let (log, recipe) = (plan.log, settled.pointee.recipe.takeUnretainedValue())
    log.creating(recipe, in: name)
    do {
      let object = try makeWithCare(settled, arguments)
      log.created(recipe, in: name)
      return object
    } catch {
      log.failed(recipe, in: name, error)
      throw error
    }
  }

  @inline(never)
  private func makeWithCare(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    let recipe = settled.pointee.recipe.takeUnretainedValue()
    if let inactive = recipe.inactive { throw inactive }
    for edge in recipe.prerequisites { try prepare(edge) }
    let object = try callFactory(settled, arguments)
    return try complete(object, recipe, recipe.traits(of: object))
  }

  /// The factory has made an instance of a subclass, or of a type that no plan could know.
  @inline(never)
  private func completeUnforeseen(_ object: AnyObject, _ recipe: Recipe) throws -> AnyObject {
    let traits = recipe.traits(of: object)
    return traits.isDisjoint(with: [.aware, .bean, .injected]) ? object : try complete(object, recipe, traits)
  }

  /// `few` has room for a factory's arguments if there are not many.
  @inline(__always)
  private func callFactory(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ few: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    settled.pointee.stepCount <= SlotPlan.fewArguments
      ? try callFactory(settled, few.baseAddress.unsafelyUnwrapped) : try callFactoryWithMany(settled)
  }

  @inline(never)
  private func callFactoryWithMany(_ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    try withUnsafeTemporaryAllocation(of: Argument.self, capacity: settled.pointee.stepCount) {
      try callFactory(settled, $0.baseAddress.unsafelyUnwrapped)
    }
  }

  @inline(__always)
  private func callFactory(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutablePointer<Argument>
  ) throws -> AnyObject {
    let (steps, count) = (settled.pointee.steps, settled.pointee.stepCount)
    var resolved = 0
    var isOwner = false
    defer { if isOwner { Self.release(arguments, resolved) } }
    while resolved < count {
      let step = steps + resolved
      let argument: Argument
      if let access = step.pointee.access {
        let object = try step.pointee.fixed?.pointee.object ?? object(step.pointee.slot, Int(step.pointee.hops))
        argument = Argument(object: object, access: access, isOwned: false)
      } else {
        argument = try step.pointee.edge._withUnsafeGuaranteedRef { try convertedArgument(for: $0) }
        if argument.isOwned { isOwner = true }
      }
      (arguments + resolved).initialize(to: argument)
      resolved += 1
    }
    return try settled.pointee.constructor._withUnsafeGuaranteedRef {
      try $0.create(Arguments(UnsafePointer(arguments)))
    }
  }

  @inline(never)
  private static func release(_ arguments: UnsafeMutablePointer<Argument>, _ count: Int) {
    for index in 0..<count { arguments[index].release() }
  }

  /// Properties, class-level injections, environment, post processors and callbacks, in that order.
  @inline(never)
  func complete(_ created: AnyObject, _ recipe: Recipe, _ found: LifecycleTraits) throws -> AnyObject {
    var object = created
    var traits = found
    if traits.contains(.injected), ObjectIdentifier(type(of: object)) != recipe.identity {
      try injectUnforeseen(object, recipe)
    }
    for property in recipe.properties {
      let argument = try argument(for: property, of: object)
      defer { argument.release() }
      try property.set(object, argument)
    }
    if traits.contains(.aware) { (Box.open(object) as? any EnvironmentAware)?.environment = self }
    if !recipe.isInfrastructure, !plan.processors.isEmpty, let processed = try process(object, recipe) {
      object = processed
      traits = recipe.traits(of: object)
    }
    if traits.contains(.bean) { try (Box.open(object) as? any Bean)?.postConstruct() }
    for callback in recipe.definition.postConstructs { try callback(object) }
    return object
  }

  private func argument(for property: Recipe.Property, of object: AnyObject) throws -> Argument {
    switch property.source {
    case .edge(let edge): try argument(for: edge)
    case .named(let id, let dependency, let place):
      try argument(for: edge(for: dependency, id: id(object), at: place))
    }
  }

  /// Values are not offered to post processors, except a class instance declared as a protocol type.
  private func process(_ object: AnyObject, _ recipe: Recipe) throws -> AnyObject? {
    guard let box = object as? Box else { return try process(instance: object, recipe) }
    guard type(of: box.any) is AnyObject.Type else { return nil }
    let content = box.any as AnyObject
    let processed = try process(instance: content, recipe)
    return processed === content ? nil : recipe.definition.constructor?.product?.box([processed])
  }

  private func process(instance: AnyObject, _ recipe: Recipe) throws -> AnyObject {
    var object = instance
    for edge in plan.processors {
      let argument = try argument(for: edge)
      defer { argument.release() }
      object = try argument.value(as: (any BeanPostProcessor).self).process(object)
    }
    guard object === instance || TypeRelation.isUsable(type(of: object), as: recipe.definition.type) else {
      throw recipe.definition.fault(
        .typeMismatch,
        "a post processor replaced \(recipe.label) by a \(type(of: object)), which is no \(recipe.definition.type)")
    }
    return object
  }

  /// Follows an edge for its effect.
  private func prepare(_ edge: Edge) throws {
    if case .bean(let recipe, let hops) = edge.source { _ = try instance(of: recipe, hops: hops) }
  }

  // MARK: failures

  @inline(never)
  func tooDeep(_ recipe: Unmanaged<Recipe>) -> EnvironmentError {
    let recipe = recipe.takeUnretainedValue()
    return recipe.definition.fault(
      .creationFailed, "builds are nested too deeply: the thread has no stack left for \(recipe.label)")
  }

  private func cycle(closing recipe: Recipe) -> EnvironmentError {
    let path = Frame.path(from: recipe, in: self) + [recipe.label]
    return recipe.definition.fault(
      .cyclicDependency, "\(path.joined(separator: " → ")); break the circle with a Provider", path: path)
  }

  /// What a build throws: the container's own errors with a longer path, everything else as `.creationFailed`.
  func failure(_ error: any Error, of recipe: Recipe) -> EnvironmentError {
    if let error = error as? EnvironmentError {
      // A circle names every bean on it; a longer path would hide where it closes.
      return error.code == .cyclicDependency || error.path.first == recipe.label
        ? error : error.within(recipe.label, declaredAt: recipe.definition.origin)
    }
    return EnvironmentError(
      .creationFailed, "\(recipe.label) could not be created: \(error)", path: [recipe.label],
      origin: recipe.definition.origin, underlying: [error])
  }
}
