import CLibuv
import Glibc

/// The memory of one `uv_loop_t` with the two handles that every loop has, and the buffer all its connections read into.
struct NativeLoop {
  let loop: UnsafeMutablePointer<uv_loop_t>
  /// Interrupts a wait; carries no payload, because libuv merges sends.
  let wakeUp: UnsafeMutablePointer<uv_async_t>
  /// The only libuv timer: it stands for the earliest timer of `TimerHeap`.
  let alarm: UnsafeMutablePointer<uv_timer_t>
  /// One for the whole loop: libuv fills it and hands it to the read callback without a step in between.
  let readBuffer: UnsafeMutableRawBufferPointer

  static let readBufferSize = 64 * 1024

  static func make() throws(EventLoopError) -> NativeLoop {
    ignoreBrokenPipes
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let wakeUp = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    let alarm = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    func free() {
      loop.deallocate()
      wakeUp.deallocate()
      alarm.deallocate()
    }
    let loopStatus = uv_loop_init(loop)
    guard loopStatus == 0 else {
      free()
      throw EventLoopError(status: loopStatus, "create an event loop")
    }
    // The callback has nothing to do: being woken is the message. An active async handle also keeps an idle loop waiting.
    let wakeUpStatus = uv_async_init(loop, wakeUp) { _ in }
    guard wakeUpStatus == 0 else {
      uv_loop_close(loop)
      free()
      throw EventLoopError(status: wakeUpStatus, "create the wake-up of an event loop")
    }
    let alarmStatus = uv_timer_init(loop, alarm)
    precondition(alarmStatus == 0, "uv_timer_init is documented never to fail")
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readBufferSize, alignment: 64)
    return NativeLoop(loop: loop, wakeUp: wakeUp, alarm: alarm, readBuffer: readBuffer)
  }

  /// Closes both handles and the loop. No other handle may be left, and no thread may send any more.
  func destroy() {
    withExtendedLifetime(self) {
      uv_close(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self), nil)
      uv_close(UnsafeMutableRawPointer(alarm).assumingMemoryBound(to: uv_handle_t.self), nil)
      let left = uv_run(loop, UV_RUN_DEFAULT)
      let status = uv_loop_close(loop)
      precondition(left == 0 && status == 0, "BUG in BeansEventLoop: a handle was left when the loop was destroyed")
    }
    wakeUp.deallocate()
    alarm.deallocate()
    loop.deallocate()
    readBuffer.deallocate()
  }

  /// libuv writes to sockets without `MSG_NOSIGNAL`, so a peer that went away would end the process.
  /// A handler that the program has set itself is left alone.
  private static let ignoreBrokenPipes: Void = {
    var current = sigaction()
    guard sigaction(SIGPIPE, nil, &current) == 0, current.__sigaction_handler.sa_handler == nil else { return }
    signal(SIGPIPE, SIG_IGN)
  }()
}
