import CLibuv
import Glibc

/// The memory of one `uv_loop_t` and of the read buffer of all its connections, and the two handles that every loop has.
@safe struct NativeLoop {
  let loop: UnsafeMutablePointer<uv_loop_t>
  /// Interrupts a wait. A `uv_async_t` is not used: before libuv 1.45, the woken thread spins until the sender has left
  /// `uv_async_send`, and keeps the sender from leaving it when both share a core.
  let wakeUp: WakeUp
  /// The only libuv timer, set to the earliest timer of `TimerHeap`.
  let alarm: LoopAlarm
  /// One buffer for the whole loop: libuv fills it and passes it to the read callback without a step in between.
  let readBuffer: UnsafeMutableRawBufferPointer

  static let readBufferSize = 64 * 1024

  static func make() throws(EventLoopError) -> NativeLoop {
    ignoreBrokenPipes
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let loopStatus = unsafe uv_loop_init(loop)
    guard loopStatus == 0 else {
      unsafe loop.deallocate()
      throw EventLoopError(status: loopStatus, "create an event loop")
    }
    let wakeUp: WakeUp
    do {
      wakeUp = try unsafe WakeUp.make(on: loop)
    } catch {
      unsafe uv_loop_close(loop)
      unsafe loop.deallocate()
      throw error
    }
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readBufferSize, alignment: 64)
    return unsafe NativeLoop(loop: loop, wakeUp: wakeUp, alarm: LoopAlarm(on: loop), readBuffer: readBuffer)
  }

  /// Closes both handles and the loop. No other handle may be left, and no thread may call `wakeUp.send()` any more.
  func destroy() {
    withExtendedLifetime(self) {
      wakeUp.beginClose()
      alarm.beginClose()
      let left = unsafe uv_run(loop, UV_RUN_DEFAULT)
      let status = unsafe uv_loop_close(loop)
      precondition(left == 0 && status == 0, "BUG in BeansEventLoop: a handle was left when the loop was destroyed")
    }
    wakeUp.free()
    alarm.free()
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
