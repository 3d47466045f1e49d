import CLibuv
import Glibc

/// The memory of one `uv_loop_t`, of the two handles that every loop has, and of the read buffer of all its
/// connections.
@safe struct NativeLoop {
  let loop: UnsafeMutablePointer<uv_loop_t>
  /// Interrupts a wait. A `uv_async_t` is not used: before libuv 1.45, the woken thread spins until the sender has left
  /// `uv_async_send`, and keeps the sender from leaving it when both share a core.
  let wakeUp: WakeUp
  /// The only libuv timer, set to the earliest timer of `TimerHeap`.
  let alarm: UnsafeMutablePointer<uv_timer_t>
  /// One buffer for the whole loop: libuv fills it and passes it to the read callback without a step in between.
  let readBuffer: UnsafeMutableRawBufferPointer

  static let readBufferSize = 64 * 1024

  static func make() throws(EventLoopError) -> NativeLoop {
    ignoreBrokenPipes
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let alarm = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    func free() {
      unsafe loop.deallocate()
      unsafe alarm.deallocate()
    }
    let loopStatus = unsafe uv_loop_init(loop)
    guard loopStatus == 0 else {
      free()
      throw EventLoopError(status: loopStatus, "create an event loop")
    }
    let wakeUp: WakeUp
    do {
      wakeUp = try unsafe WakeUp.make(on: loop)
    } catch {
      unsafe uv_loop_close(loop)
      free()
      throw error
    }
    let alarmStatus = unsafe uv_timer_init(loop, alarm)
    precondition(alarmStatus == 0, "uv_timer_init is documented never to fail")
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readBufferSize, alignment: 64)
    return unsafe NativeLoop(loop: loop, wakeUp: wakeUp, alarm: alarm, readBuffer: readBuffer)
  }

  /// Closes both handles and the loop. No other handle may be left, and no thread may call `wakeUp.send()` any more.
  func destroy() {
    withExtendedLifetime(self) {
      wakeUp.beginClose()
      unsafe uv_close(UnsafeMutableRawPointer(alarm).assumingMemoryBound(to: uv_handle_t.self), nil)
      let left = unsafe uv_run(loop, UV_RUN_DEFAULT)
      let status = unsafe uv_loop_close(loop)
      precondition(left == 0 && status == 0, "BUG in BeansEventLoop: a handle was left when the loop was destroyed")
    }
    wakeUp.free()
    unsafe alarm.deallocate()
    unsafe loop.deallocate()
    unsafe readBuffer.deallocate()
  }

  /// Makes the process ignore `SIGPIPE`, once: libuv writes to sockets without `MSG_NOSIGNAL`, so a write to a peer
  /// that has gone would end the process. A handler that the program has installed stays in place.
  private static let ignoreBrokenPipes: Void = {
    var current = sigaction()
    guard unsafe sigaction(SIGPIPE, nil, &current) == 0, unsafe current.__sigaction_handler.sa_handler == nil else {
      return
    }
    signal(SIGPIPE, SIG_IGN)
  }()
}
