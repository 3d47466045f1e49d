import CLibuv

/// Ends the wait of a loop when its earliest timer is due: the loop's only libuv timer.
///
/// Belongs to the thread that drives the loop. The loop owns the object.
@safe final class LoopAlarm {
  private let loop: UnsafeMutablePointer<uv_loop_t>
  private let timer: UnsafeMutablePointer<uv_timer_t>
  // Only the driving thread accesses the deadline, in accesses that contain no call.
  @exclusivity(unchecked) private var deadline = Deadline.never

  init(on loop: UnsafeMutablePointer<uv_loop_t>) {
    unsafe self.loop = loop
    unsafe timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    let status = unsafe uv_timer_init(loop, timer)
    precondition(status == 0, "uv_timer_init is documented never to fail")
    // Not retained: the loop is alive while it runs, and the alarm fires only during the run.
    unsafe timer.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
  }

  /// Sets the time at which the alarm fires, if it is another one than before.
  func set(_ deadline: UInt64, now: UInt64) {
    if unsafe deadline == self.deadline { return }
    unsafe self.deadline = deadline
    guard deadline != Deadline.never else {
      unsafe uv_timer_stop(timer)
      return
    }
    // libuv measures from the time that it cached when the loop last woke, which may be long ago.
    unsafe uv_update_time(loop)
    let status = unsafe uv_timer_start(
      timer,
      { timer in
        guard let timer = unsafe timer, let data = unsafe timer.pointee.data else { return }
        unsafe Unmanaged<LoopAlarm>.fromOpaque(data).takeUnretainedValue().hasFired()
      }, Deadline.milliseconds(from: now, to: deadline), 0)
    precondition(status == 0, "uv_timer_start fails only for a closing handle")
  }

  private func hasFired() {
    unsafe deadline = Deadline.never
    // libuv before 1.45 fires timers before it polls, and would then wait for a socket: `uv_stop` prevents the wait.
    unsafe uv_stop(loop)
  }

  /// Starts to close the handle. The loop has to run once more before `free()`.
  func beginClose() { unsafe uv_close(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self), nil) }

  /// Releases the memory, after libuv has released the handle.
  func free() { unsafe timer.deallocate() }
}
