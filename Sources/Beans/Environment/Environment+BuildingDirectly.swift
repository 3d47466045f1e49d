import CBeansRuntime
import Synchronization

/// The way of nearly all requests: their leader calls one factory after the other, with beans that stand in slots.
///
/// The same as `advance` does for each step, without what such an order never asks for; a step that finds things
/// otherwise goes that way.
extension Environment {
  /// Fills the slots of a direct order and answers whether the last bean has been retained for who wants it.
  @inline(never)
  func buildDirectly(
    _ order: UnsafePointer<BuildOrder>, _ frame: UnsafeMutablePointer<Frame>,
    _ buffer: UnsafeMutableBufferPointer<Argument>
  ) throws -> Bool {
    lead()
    let (slots, trail) = (tail, narrowTrail)
    // The buffer is never empty.
    let arguments = buffer.baseAddress.unsafelyUnwrapped
    var prepaid = Prepaid()
    var step = order.pointee.first
    while true {
      let slot = slots + step.pointee.slot
      let found = slot.pointee.word.load(ordering: .acquiring)
      if found == 0, resolve(step, slots, arguments, prepaid), claimAlone(step.pointee.slot) {
        let settled = step.pointee.settled
        frame.pointee.step = step
        frame.pointee.recipe = settled.pointee.recipe
        let object: UnsafeMutableRawPointer
        do {
          object = Unmanaged.passRetained(try call(settled, arguments)).toOpaque()
        } catch {
          throw failed(step, of: order, slot, error, prepaid)
        }
        if beans_retain_ahead(object, step.pointee.takers) { prepaid.insert(step) }
        let count = header.created.load(ordering: .relaxed)
        trail[Int(count)] = UInt8(truncatingIfNeeded: step.pointee.slot)
        header.created.store(count &+ 1, ordering: .releasing)
        publish(object, in: slot)
      } else if Slot.isBean(found) {
        prepaid.giveBack(step, slots)
      } else {
        // A copy, so that this one may stay in a register.
        var changed = prepaid
        try advance(order.pointee, step, found, frame, buffer, &changed, wanted: true, isCustom: false)
        prepaid = changed
      }
      if step == order.pointee.last { return prepaid.contains(step) }
      step += 1
    }
  }

  /// The arguments of a step, all that can be paid for ahead owned, or none; false where it is neither, or one of them
  /// is not there yet.
  @inline(__always)
  private func resolve(
    _ step: UnsafePointer<BuildOrder.Step>, _ slots: UnsafeMutablePointer<Slot>,
    _ arguments: UnsafeMutablePointer<Argument>, _ prepaid: Prepaid
  ) -> Bool {
    if prepaid.coversAll(step) { return resolve(step, slots, arguments, isPaid: true) }
    return prepaid.coversNone(step) && resolve(step, slots, arguments, isPaid: false)
  }

  @inline(__always)
  private func resolve(
    _ step: UnsafePointer<BuildOrder.Step>, _ slots: UnsafeMutablePointer<Slot>,
    _ arguments: UnsafeMutablePointer<Argument>, isPaid: Bool
  ) -> Bool {
    let settled = step.pointee.settled
    var (step, argument) = (UnsafePointer(settled.pointee.steps), arguments)
    let end = step + settled.pointee.stepCount
    while step != end {
      let object: UnsafeRawPointer
      if let fixed = step.pointee.fixed {
        guard let standing = fixed.pointee.object else { return false }
        object = standing
      } else {
        // Filled by an earlier step of the order, or the seed: emptied by nobody while this thread is inside.
        let word = slots[step.pointee.slot].word.load(ordering: .acquiring)
        object = UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped
      }
      argument.initialize(
        to: Argument(object: object, rest: isPaid ? step.pointee.paidRest : step.pointee.rest))
      step += 1
      argument += 1
    }
    return true
  }

  @inline(never)
  private func failed(
    _ step: UnsafePointer<BuildOrder.Step>, of order: UnsafePointer<BuildOrder>, _ slot: UnsafeMutablePointer<Slot>,
    _ error: any Error, _ prepaid: Prepaid
  ) -> EnvironmentError {
    let failure = abandon(slot, failure(error, of: step.pointee.recipe))
    prepaid.giveBack(from: step + 1, to: order.pointee.last, slots)
    return within(step, failure)
  }
}
