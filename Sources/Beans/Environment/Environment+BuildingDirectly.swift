import CBeansRuntime
import Synchronization

/// The way of nearly all requests: their leader calls one factory after the other, with beans that stand in slots.
///
/// The same as `advance` does for each step, without what such an order never asks for; a step that finds things
/// otherwise goes that way.
extension Environment {
  /// Fills the slots of a direct order; answers the last bean, retained for who wants it.
  @inline(never)
  func buildDirectly(
    _ order: UnsafePointer<BuildOrder>, _ frame: UnsafeMutablePointer<Frame>
  ) throws -> UnsafeRawPointer {
    lead()
    let (slots, trail, last) = (tail, narrowTrail, order.pointee.last)
    var prepaid = Prepaid()
    var step = order.pointee.first
    (frame.pointee.step, frame.pointee.progress) = (step, .building)
    while true {
      let slot = slots + step.pointee.slot
      let found = slot.pointee.word.load(ordering: .acquiring)
      if found == 0, claimAlone(step.pointee.slot) {
        if !prepaid.coversAll(step) { prepaid.payRest(step, slots) }
        frame.pointee.step = step
        let object: UnsafeMutableRawPointer
        do {
          object = Unmanaged.passRetained(try call(step.pointee.settled, slots)).toOpaque()
        } catch {
          throw failed(step, of: order, slot, error, prepaid)
        }
        if beans_retain_ahead(object, step.pointee.counts) { prepaid.insert(step) }
        let count = header.created.load(ordering: .relaxed)
        trail[Int(count)] = UInt8(truncatingIfNeeded: step.pointee.slot)
        header.created.store(count &+ 1, ordering: .releasing)
        publish(object, in: slot)
      } else if Slot.isBean(found) {
        prepaid.giveBack(step, slots)
      } else {
        // A copy, so that this one may stay in a register.
        var changed = prepaid
        try advance(order, step, found, frame, &changed, wanted: true, isCustom: false)
        prepaid = changed
        frame.pointee.progress = .building
      }
      if step == last { break }
      step += 1
    }
    // The last step has filled it, and nobody empties it while this thread is inside.
    let object = slots[last.pointee.slot].object.unsafelyUnwrapped
    if !prepaid.contains(last) { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
    return object
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
