import CLibuv
import Glibc

/// The memory of one `uv_loop_t` with the two handles that every loop has, and the buffer all its connections read into.
@safe struct NativeLoop {
  let loop: UnsafeMutablePointer<uv_loop_t>
  /// Interrupts a wait. Not a `uv_async_t`: before 1.45 the woken thread spins until the sender has left
  /// `uv_async_send`, and keeps it from doing so when both share a core.
  let wakeUp: WakeUp
  /// The only libuv timer: it stands for the earliest timer of `TimerHeap`.
  let alarm: UnsafeMutablePointer<uv_timer_t>
  /// One for the whole loop: libuv fills it and hands it to the read callback without a step in between.
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

  /// Closes both handles and the loop. No other handle may be left, and no thread may send any more.
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

  /// libuv writes to sockets without `MSG_NOSIGNAL`, so a peer that went away would end the process.
  /// A handler that the program has set itself is left alone.
  private static let ignoreBrokenPipes: Void = {
    var current = sigaction()
    guard unsafe sigaction(SIGPIPE, nil, &current) == 0, unsafe current.__sigaction_handler.sa_handler == nil else {
      return
    }
    signal(SIGPIPE, SIG_IGN)
  }()
}
