import CLibuv
import Synchronization

/// The place where a handle was created, for the report of open handles.
struct CreationSite: Sendable {
  let file: StaticString
  let line: UInt
}

/// The base class of listeners, connections, signal sources and file watchers: one libuv handle, its memory and its
/// close.
///
/// The loop retains a handle from its creation until libuv has released it after `close()`, whether or not other
/// references exist. `EventLoop.close()` therefore reports a handle that is never closed.
///
/// A handle belongs to its loop's thread, see `EventLoop`; a use on another thread stops the process.
@safe public class LoopHandle: @unchecked Sendable {
  // Safe to send: only the loop's thread accesses the mutable state, here and in the subclasses, and every method
  // checks the thread.

  enum State {
    case open
    /// `uv_close` has been called; its callback has not.
    case closing
    /// The memory has been deallocated.
    case closed
  }

  /// The loop of the handle.
  public final let loop: EventLoop
  final let kind: HandleKind
  final let site: CreationSite
  /// The libuv struct: its address is valid until `state` is `.closed`, and changes only in `replaceHandle`.
  @exclusivity(unchecked) private(set) final var memory: UnsafeMutableRawPointer
  private(set) final var state = State.open

  /// Allocates the libuv struct and initialises it. After a failure nothing has to be closed; after success, the handle
  /// must be closed.
  init(
    on loop: EventLoop, _ kind: HandleKind, size: Int, site: CreationSite,
    initialize: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutableRawPointer) -> Int32
  ) throws(EventLoopError) {
    loop.preconditionMayUseHandles()
    guard !loop.isClosed else { throw EventLoopError(.loopClosed, "create a \(kind.rawValue)") }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    let status = unsafe initialize(loop.native.loop, memory)
    guard status == 0 else {
      unsafe memory.deallocate()
      throw EventLoopError(status: status, "create a \(kind.rawValue)")
    }
    self.loop = loop
    self.kind = kind
    self.site = site
    unsafe self.memory = unsafe memory
    // Only the close callback releases this reference.
    unsafe uv_handle_set_data(handle, Unmanaged.passRetained(self).toOpaque())
    loop.ledger[kind].opened.add(1, ordering: .releasing)
  }

  deinit { assert(state == .closed, "the loop retains a handle until it is closed") }

  /// Whether `close()` has not yet been called.
  public final var isOpen: Bool { state == .open }

  /// Closes the handle; the loop releases it in its next iteration. Queued writes of a connection complete with
  /// `.cancelled`, and connections that wait for a listener are reset. A second call does nothing.
  public final func close() { startClosing() }

  /// Closes the handle, and what the class holds besides it. A second call does nothing.
  func startClosing() { unsafe beginClose() }

  /// Runs once, when libuv has released the handle.
  func didClose() {}

  /// Calls `uv_close`, unless the handle is closing already.
  /// - Parameter start: a replacement for `uv_close`; returns 0 when it will call the close callback.
  final func beginClose(
    _ start: (
      (UnsafeMutablePointer<uv_handle_t>, @escaping @convention(c) (UnsafeMutablePointer<uv_handle_t>?) -> Void)
        -> Int32
    )? = nil
  ) {
    loop.preconditionMayUseHandles()
    guard state == .open else { return }
    state = .closing
    unsafe loop.closingHandles += 1
    if let start = unsafe start, unsafe start(handle, handleWasClosed) == 0 { return }
    unsafe uv_close(handle, handleWasClosed)
  }

  /// Closes libuv's handle, and initialises another one in its place: a socket that has failed to connect is useless.
  ///
  /// - Throws: the error of the system; the old handle is still there then.
  final func replaceHandle(
    size: Int, initialize: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutableRawPointer) -> Int32
  ) throws(EventLoopError) {
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    let status = unsafe initialize(loop.native.loop, fresh)
    guard status == 0 else {
      unsafe fresh.deallocate()
      throw EventLoopError(status: status, "create a \(kind.rawValue)")
    }
    let old = unsafe handle
    unsafe memory = unsafe fresh
    unsafe uv_handle_set_data(handle, uv_handle_get_data(old))
    // The close callback of the old handle releases this reference.
    unsafe uv_handle_set_data(old, Unmanaged.passRetained(self).toOpaque())
    unsafe loop.closingHandles += 1
    unsafe uv_close(old, replacedHandleWasClosed)
  }

  fileprivate final func finishReplacement(_ old: UnsafeMutablePointer<uv_handle_t>) {
    unsafe UnsafeMutableRawPointer(old).deallocate()
    unsafe loop.closingHandles -= 1
  }

  fileprivate final func finishClose() {
    state = .closed
    unsafe memory.deallocate()
    unsafe loop.closingHandles -= 1
    loop.ledger[kind].closed.add(1, ordering: .releasing)
    didClose()
  }

  final var handle: UnsafeMutablePointer<uv_handle_t> { unsafe memory.assumingMemoryBound(to: uv_handle_t.self) }

  /// Returns the object of a handle that libuv passes to a callback.
  static func from(_ pointer: UnsafeMutableRawPointer?) -> LoopHandle? {
    guard let pointer = unsafe pointer, let data = unsafe pointer.assumingMemoryBound(to: uv_handle_t.self).pointee.data
    else { return nil }
    return unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue()
  }
}

/// Releases the reference that libuv holds. No other code does.
private func handleWasClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
  guard let handle = unsafe handle, let data = unsafe handle.pointee.data else { return }
  unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeRetainedValue().finishClose()
}

/// Releases the reference that a replaced handle holds.
private func replacedHandleWasClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
  guard let handle = unsafe handle, let data = unsafe handle.pointee.data else { return }
  unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeRetainedValue().finishReplacement(handle)
}

extension EventLoop {
  /// Returns the open handles, such as `"2 TCPConnection made at Main.swift:12, …"`. Called on the thread that closes
  /// the loop.
  func describeOpenHandles() -> String {
    var sites: [String: Int] = [:]
    unsafe withUnsafeMutablePointer(to: &sites) { sites in
      unsafe uv_walk(
        native.loop,
        { handle, sites in
          // The loop's own two handles have no `LoopHandle`: the data of the wake-up is nil, the data of the alarm is
          // the `LoopAlarm`.
          guard let handle = unsafe handle, let sites = unsafe sites, unsafe handle.pointee.type != UV_TIMER,
            let object = unsafe LoopHandle.from(handle)
          else { return }
          let entry = "\(object.kind.rawValue) made at \(object.site.file):\(object.site.line)"
          unsafe sites.assumingMemoryBound(to: [String: Int].self).pointee[entry, default: 0] += 1
        }, unsafe sites)
    }
    return sites.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}
