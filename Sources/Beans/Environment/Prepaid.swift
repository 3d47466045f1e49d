/// Which slots' beans have been retained ahead for the steps of a build order that will take them.
///
/// A factory takes each of its arguments with a reference of its own. Counting that costs a locked instruction, because
/// by then the bean may be known to anybody. A build order knows how many of its later steps will take a bean, so they
/// are counted all at once, without one, as long as the bean is new and nobody else has any way to it. A step that does
/// not take what was counted for it, because its own bean is there already or something failed, gives it back.
///
/// One bit per slot: those beyond are not paid for ahead.
struct Prepaid {
  private var slots: UInt64 = 0

  init() {}

  init(slot: Int) { slots = slot >= 0 && slot < UInt64.bitWidth ? 1 << UInt64(slot) : 0 }

  var isEmpty: Bool { slots == 0 }

  mutating func formUnion(_ other: Prepaid) { slots |= other.slots }

  /// The step's bean has been retained for all that take it.
  @inline(__always)
  mutating func insert(_ step: UnsafePointer<BuildOrder.Step>) { slots |= step.pointee.prepaid.slots }

  @inline(__always)
  func contains(_ step: UnsafePointer<BuildOrder.Step>) -> Bool { slots & step.pointee.prepaid.slots != 0 }

  /// Whether all of the step's arguments that can be paid for have been,
  @inline(__always)
  func coversAll(_ step: UnsafePointer<BuildOrder.Step>) -> Bool { step.pointee.takes.slots & ~slots == 0 }

  /// or none.
  @inline(__always)
  func coversNone(_ step: UnsafePointer<BuildOrder.Step>) -> Bool { step.pointee.takes.slots & slots == 0 }

  /// Whether the argument has a reference already.
  @inline(__always)
  func covers(_ argument: UnsafePointer<SlotPlan.Step>) -> Bool { slots & argument.pointee.prepaid.slots != 0 }

  /// The step does not take its arguments.
  @inline(__always)
  func giveBack(_ step: UnsafePointer<BuildOrder.Step>, _ all: UnsafeMutablePointer<Slot>) {
    if slots != 0 { release(step, all) }
  }

  /// Nor do any of these.
  @inline(never)
  func giveBack(
    from first: UnsafePointer<BuildOrder.Step>, to last: UnsafePointer<BuildOrder.Step>,
    _ all: UnsafeMutablePointer<Slot>
  ) {
    var step = first
    while step <= last {
      giveBack(step, all)
      step += 1
    }
  }

  @inline(never)
  private func release(_ step: UnsafePointer<BuildOrder.Step>, _ all: UnsafeMutablePointer<Slot>) {
    for slot in step.pointee.settled.pointee.takenSlots where slots & Prepaid(slot: slot).slots != 0 {
      // Filled by the step that has paid, and emptied by nobody while this thread is inside.
      if let object = all[slot].object { Unmanaged<AnyObject>.fromOpaque(object).release() }
    }
  }
}
