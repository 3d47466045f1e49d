/// Which slots' beans have been retained ahead for the steps of a build order that will take them.
///
/// A factory takes each of its arguments with a reference of its own. Counting that costs a locked instruction, because
/// by then the bean may be known to anybody. A build order knows how many of its later steps will take a bean, so they
/// are counted all at once, without one, as long as the bean is new and nobody else has any way to it. A step that does
/// not take what was counted for it, because its own bean is there already or something failed, gives it back.
///
/// One bit per slot: those beyond are not paid for ahead.
struct Prepaid {
  /// What has not been, because that is what is asked for.
  private var unpaid = UInt64.max

  /// The step's bean has been retained for all that take it.
  @inline(__always)
  mutating func insert(_ step: UnsafePointer<BuildOrder.Step>) { unpaid &= step.pointee.others.bits }

  @inline(__always)
  func contains(_ step: UnsafePointer<BuildOrder.Step>) -> Bool { unpaid | step.pointee.others.bits != .max }

  /// Whether all of the step's arguments that can be paid for have been.
  @inline(__always)
  func coversAll(_ step: UnsafePointer<BuildOrder.Step>) -> Bool { unpaid & step.pointee.takes.bits == 0 }

  /// Retains what the step takes and has not been paid for: what was there before its order began.
  @inline(never)
  func payRest(_ step: UnsafePointer<BuildOrder.Step>, _ all: UnsafeMutablePointer<Slot>) {
    step.pointee.settled.pointee.forEachTaken { slot in
      // An earlier step has filled it, or found it filled.
      if unpaid & SlotBits(slot).bits != 0, let object = all[slot].object {
        _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
      }
    }
  }

  /// The step does not take its arguments.
  @inline(__always)
  func giveBack(_ step: UnsafePointer<BuildOrder.Step>, _ all: UnsafeMutablePointer<Slot>) {
    if unpaid != .max { release(step, all) }
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
    step.pointee.settled.pointee.forEachTaken { slot in
      // Filled by the step that has paid, and emptied by nobody while this thread is inside.
      if unpaid & SlotBits(slot).bits == 0, let object = all[slot].object {
        Unmanaged<AnyObject>.fromOpaque(object).release()
      }
    }
  }
}

/// Some slots, a bit each: of those that have one.
struct SlotBits: Equatable {
  private(set) var bits: UInt64

  static var all: SlotBits { SlotBits(bits: .max) }

  private init(bits: UInt64) { self.bits = bits }

  init() { bits = 0 }

  init(_ slot: Int) { bits = slot >= 0 && slot < UInt64.bitWidth ? 1 << UInt64(slot) : 0 }

  init(allBut slot: Int) { bits = ~SlotBits(slot).bits }

  var isEmpty: Bool { bits == 0 }

  mutating func formUnion(_ other: SlotBits) { bits |= other.bits }
}
