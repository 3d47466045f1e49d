import CBeansRuntime
import Synchronization

/// Filling slots. Everything here runs between `enter` and `leave`.
extension Environment {
  /// Fills a slot, and before it those it needs; waits for other threads that do. Retains the bean if that is `wanted`.
  ///
  /// `leads`: who has just become the leader here, and so has no frame of this environment yet.
  @inline(__always)
  func build(_ index: Int, leads: Bool = false, wanted: Bool = false) throws -> UnsafeRawPointer {
    let settled = header.plan._withUnsafeGuaranteedRef { $0.flat[index] }
    if beans_stack_is_low() { throw tooDeep(settled.pointee.recipe) }
    let order = settled.pointee.buildOrder
    // What the leader of a request has to do, nearly always.
    if leads, wanted, order.pointee.canRunDirectly, !isCustomScope {
      return try Frame.with(self, nil, leads: true) { try buildDirectly(order, $0) }
    }
    return try build(order, leads: leads, wanted: wanted)
  }

  @inline(never)
  private func build(
    _ order: UnsafePointer<BuildOrder>, leads: Bool, wanted: Bool
  ) throws -> UnsafeRawPointer {
    // A factory of this environment is asking: what it builds is no longer the only thing under construction.
    if Frame.leads(in: self) { markClaim() }
    return try Frame.with(self, nil, leads: leads) { frame in
      let isRetained = try build(order, frame, wanted)
      // The last step has filled it, and nobody empties it while this thread is inside.
      let object = slots[order.pointee.last.pointee.slot].object.unsafelyUnwrapped
      if wanted, !isRetained { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
      return object
    }
  }

  /// Answers whether the bean asked for has been retained for who wants it.
  @inline(never)
  private func build(
    _ order: UnsafePointer<BuildOrder>, _ frame: UnsafeMutablePointer<Frame>, _ wanted: Bool
  ) throws -> Bool {
    let isCustom = isCustomScope
    if frame.pointee.leads { lead() }
    var prepaid = Prepaid()
    // A scope object of the user's own is asked first what it wants built.
    var step = isCustom ? order.pointee.last : order.pointee.first
    while step <= order.pointee.last {
      let found = slots[step.pointee.slot].word.load(ordering: .acquiring)
      try advance(order, step, found, frame, &prepaid, wanted: wanted, isCustom: isCustom)
      step += 1
    }
    return prepaid.contains(order.pointee.last)
  }

  /// One step, whatever it takes. `found` is what its slot held: not read anew, because what stands there after the leader
  /// has claimed an empty one may be its own mark.
  @inline(never)
  func advance(
    _ order: UnsafePointer<BuildOrder>, _ step: UnsafePointer<BuildOrder.Step>, _ found: UInt,
    _ frame: UnsafeMutablePointer<Frame>,
    _ prepaid: inout Prepaid, wanted: Bool, isCustom: Bool
  ) throws {
    let (slots, leads) = (slots, frame.pointee.leads)
    let slot = slots + step.pointee.slot
    if Slot.isBean(found) { return prepaid.giveBack(step, slots) }
    frame.pointee.step = step
    do {
      if try found == 0 && leads && claimAlone(step.pointee.slot) || claim(slot, found, step, frame, prepaid) {
        let object = try fill(slot, step, frame, slots, isCustom, prepaid)
        if beans_retain_ahead(object, wanted || step != order.pointee.last ? step.pointee.counts : 0) {
          prepaid.insert(step)
        }
        noteCreation(in: step.pointee.slot, leads: leads, trail)
        publish(object, in: slot)
      }
    } catch {
      prepaid.giveBack(from: step + 1, to: order.pointee.last, slots)
      throw within(step, error)
    }
  }

  /// Whether the slot is this thread's to fill, among others; false when the bean is there after all.
  @inline(never)
  private func claim(
    _ slot: UnsafeMutablePointer<Slot>, _ found: UInt, _ step: UnsafePointer<BuildOrder.Step>,
    _ frame: UnsafeMutablePointer<Frame>, _ prepaid: Prepaid
  ) throws -> Bool {
    var isClaimed = false
    defer { if !isClaimed { prepaid.giveBack(step, slots) } }
    let found =
      found == 0 ? claimShared(slot, Slot.mark(UInt(beans_thread())), leads: frame.pointee.leads) : found
    isClaimed = try found == 0 || !wait(for: slot, step, frame, found)
    return isClaimed
  }

  /// The new bean, with the slot's reference to it.
  @inline(__always)
  private func fill(
    _ slot: UnsafeMutablePointer<Slot>, _ step: UnsafePointer<BuildOrder.Step>, _ frame: UnsafeMutablePointer<Frame>,
    _ slots: UnsafeMutablePointer<Slot>, _ isCustom: Bool, _ prepaid: Prepaid
  ) throws -> UnsafeMutableRawPointer {
    let settled = step.pointee.settled
    do {
      frame.pointee.progress = isCustom ? .heldUp : .building
      if settled.pointee.isDirect, !isCustom, settled.pointee.isStanding {
        if !prepaid.coversAll(step) { prepaid.payRest(step, slots) }
        return Unmanaged.passRetained(try call(settled, slots)).toOpaque()
      }
      prepaid.giveBack(step, slots)
      return Unmanaged.passRetained(try create(settled, isCustom)).toOpaque()
    } catch { throw abandon(slot, failure(error, of: step.pointee.recipe)) }
  }

  /// Puts the bean into its slot, where others find it.
  @inline(__always)
  func publish(_ object: UnsafeMutableRawPointer, in slot: UnsafeMutablePointer<Slot>) {
    slot.pointee.word.store(UInt(bitPattern: object), ordering: .releasing)
    // This look may pass the store on its way to memory, so that a thread that begins to wait just now is missed: it
    // looks again by itself. Anything stronger would cost each bean of each request a second locked instruction.
    if header.state.load(ordering: .relaxed) & State.awaited != 0 { BuildQueue.end(UInt(bitPattern: slot), nil) }
  }

  /// Another thread is building, or has built: true when the bean is there, false when that thread failed earlier and
  /// this one has the slot now.
  @inline(never)
  private func wait(
    for slot: UnsafeMutablePointer<Slot>, _ step: UnsafePointer<BuildOrder.Step>, _ frame: UnsafeMutablePointer<Frame>,
    _ first: UInt
  ) throws -> Bool {
    let recipe = step.pointee.recipe
    let me = Slot.mark(UInt(beans_thread()))
    var found = first
    // What this thread built last is not what it is waiting for.
    frame.pointee.progress = .heldUp
    while true {
      guard Slot.isMark(found) else { return true }
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
  func abandon(_ slot: UnsafeMutablePointer<Slot>, _ failure: EnvironmentError) -> EnvironmentError {
    dropClaim(slot)
    let (old, _) = header.state.wrappingAdd(0, ordering: .acquiringAndReleasing)
    if old & State.awaited != 0 { BuildQueue.end(UInt(bitPattern: slot), failure) }
    return failure
  }

  /// The failure of a step, as what was asked for sees it.
  @inline(never)
  func within(_ step: UnsafePointer<BuildOrder.Step>, _ cause: any Error) -> EnvironmentError {
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
  private func create(_ settled: UnsafeMutablePointer<SlotPlan>, _ isCustom: Bool) throws -> AnyObject {
    try isCustom ? createInScope(settled.pointee.recipe.takeUnretainedValue()) : make(settled)
  }

  @inline(never)
  private func createInScope(_ recipe: Recipe) throws -> AnyObject {
    guard let scope = scope.custom, let declaration = recipe.definition.declaration,
      recipe.definition.scopeName == plan.scopeName
    else { return try make(recipe) }
    return try ask(scope, for: declaration, recipe)
  }

  // MARK: failures

  @inline(never)
  func tooDeep(_ recipe: Unmanaged<Recipe>) -> EnvironmentError {
    let recipe = recipe.takeUnretainedValue()
    return recipe.definition.fault(
      .creationFailed, "builds are nested too deeply: the thread has no stack left for \(recipe.label)")
  }

  func cycle(closing recipe: Recipe) -> EnvironmentError {
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
