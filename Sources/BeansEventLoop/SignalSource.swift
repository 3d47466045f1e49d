import CLibuv
import Glibc

/// Delivers a Unix signal to a closure on the loop's thread.
///
/// While a source is open, its signal has no default effect in the whole process. Closing the last source restores the
/// default effect; `closeIgnoringSignal()` does not. Several loops may watch the same signal; each receives it. Signals
/// that arrive in quick succession may be delivered once.
public final class SignalSource: LoopHandle, @unchecked Sendable {
  // Safe to send for the reason given in `LoopHandle`.

  /// The signal's number.
  package let number: Int32
  private var body: (@Sendable () -> Void)?

  fileprivate init(
    on loop: EventLoop, number: Int32, site: CreationSite, _ body: @escaping @Sendable () -> Void
  ) throws(EventLoopError) {
    self.number = number
    self.body = body
    unsafe try super.init(on: loop, .signal, size: MemoryLayout<uv_signal_t>.size, site: site) { loop, memory in
      unsafe uv_signal_init(loop, memory.assumingMemoryBound(to: uv_signal_t.self))
    }
    let status = unsafe uv_signal_start(
      memory.assumingMemoryBound(to: uv_signal_t.self),
      { handle, _ in
        guard let source = unsafe LoopHandle.from(handle) as? SignalSource else { return }
        source.body?()
      }, number)
    guard status == 0 else {
      close()
      throw EventLoopError(status: status, "watch signal \(number)")
    }
  }

  /// Closes the source. If no other source watches the signal, the process ignores the signal permanently.
  ///
  /// The signal never regains its default effect in between, unless the process is out of file descriptors: the first
  /// call in the process opens four.
  package func closeIgnoringSignal() {
    loop.preconditionMayUseHandles()
    guard isOpen else { return }
    let isIgnored = IgnoredSignals.add(number)
    close()
    // The fallback, set only after the close: with its last handle, libuv restores the default effect of the signal.
    if !isIgnored { signal(number, SIG_IGN) }
  }

  /// Closes the source from any thread. The signal is no longer delivered once the loop has run the close.
  public func cancel() {
    if loop.isCurrent { close() } else { loop.execute { self.close() } }
  }

  override func didClose() { body = nil }
}

/// The signals that are ignored until the process ends.
///
/// When the last handle for a signal is closed, libuv restores the default effect, and a signal that arrives before
/// `SIG_IGN` is set would end the process. A handle on a loop that never runs prevents the restoration.
private enum IgnoredSignals {
  @safe private struct State: @unchecked Sendable {  // guarded by the `Lock`
    let loop: UnsafeMutablePointer<uv_loop_t>?
    var numbers: Set<Int32> = []
  }

  private static let state: Lock<State> = {
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    if unsafe uv_loop_init(loop) == 0 { return unsafe Lock(State(loop: loop)) }
    unsafe loop.deallocate()
    return unsafe Lock(State(loop: nil))
  }()

  /// Adds a handle for the signal, and returns whether the signal has one; false without file descriptors.
  static func add(_ number: Int32) -> Bool {
    state.withLock { state in
      if state.numbers.contains(number) { return true }
      guard let loop = unsafe state.loop else { return false }
      let handle = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
      guard unsafe uv_signal_init(loop, handle) == 0 else {
        unsafe handle.deallocate()
        return false
      }
      // A handle that cannot be started is kept, too, because it belongs to the loop.
      guard unsafe uv_signal_start(handle, { _, _ in }, number) == 0 else { return false }
      state.numbers.insert(number)
      return true
    }
  }
}

extension EventLoop {
  /// Calls `body` on the loop's thread whenever the process receives the signal `number`, until the source is closed.
  ///
  /// Call it on the loop's thread, or before `run()`. The source stays open when the result is dropped, and `close()`
  /// of the loop then reports it.
  ///
  /// - Parameters:
  ///   - number: the number of the signal, such as `SIGTERM`.
  ///   - file: the source file of the call, for the report of open handles.
  ///   - line: the line of the call.
  ///   - body: called on the loop's thread, once for each signal that is delivered.
  /// - Throws: an error for signals that cannot be caught (`SIGKILL`).
  @discardableResult
  public func onSignal(
    _ number: Int32, file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable () -> Void
  ) throws(EventLoopError) -> SignalSource {
    try SignalSource(on: self, number: number, site: CreationSite(file: file, line: line), body)
  }
}
