import CLibuv
import Glibc

/// Interrupts the wait of a loop: an `eventfd` that the loop watches.
///
/// A wake-up has no payload; several writes before the loop wakes have the effect of one. The descriptor is open until
/// `free()`, so the caller of `send()` must ensure that the loop is not closed.
@safe struct WakeUp {
  private let handle: UnsafeMutablePointer<uv_poll_t>
  private let descriptor: Int32

  /// Opens the descriptor and starts watching it. The active handle also keeps an idle loop waiting.
  static func make(on loop: UnsafeMutablePointer<uv_loop_t>) throws(EventLoopError) -> WakeUp {
    let operation = "create the wake-up of an event loop"
    let descriptor = clibuv_open_wake_up()
    guard descriptor >= 0 else { throw EventLoopError(status: -errno, operation) }
    let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    let status = unsafe uv_poll_init(loop, handle, descriptor)
    guard status == 0 else {
      unsafe handle.deallocate()
      close(descriptor)
      throw EventLoopError(status: status, operation)
    }
    unsafe handle.pointee.data = nil
    let wakeUp = unsafe WakeUp(handle: handle, descriptor: descriptor)
    let startStatus = unsafe uv_poll_start(handle, Int32(UV_READABLE.rawValue)) { handle, _, _ in
      // The wake-up itself is the message; the read only resets the descriptor.
      var descriptor: Int32 = -1
      guard let handle = unsafe handle,
        unsafe uv_fileno(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self), &descriptor) == 0
      else { return }
      var count: UInt64 = 0
      _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
    precondition(startStatus == 0, "uv_poll_start fails only for a closing handle")
    return wakeUp
  }

  /// Makes the loop return from its wait. May be called from any thread; costs a system call.
  func send() {
    var one: UInt64 = 1
    var written: Int
    repeat { written = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size) } while written < 0 && errno == EINTR
    // With a full counter, the descriptor is readable, too.
    precondition(written > 0 || errno == EAGAIN, "BUG in BeansEventLoop: the wake-up was closed while the loop is open")
  }

  /// Starts to close the handle. The loop has to run once more before `free()`.
  func beginClose() { unsafe uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self), nil) }

  /// Releases the memory and the descriptor, after libuv has released the handle.
  func free() {
    unsafe handle.deallocate()
    close(descriptor)
  }
}
