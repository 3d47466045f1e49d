import CLibuv
import Synchronization

/// Where a handle was made, for the report of those that were never closed.
struct CreationSite: Sendable {
  let file: StaticString
  let line: UInt
}

/// What listeners, connections, signal sources and file watchers have in common: one libuv handle with its memory and its end.
///
/// The loop keeps an open handle alive: from its creation until libuv has let go of it after `close()`, whether or not
/// anyone else refers to it. A handle that is never closed is therefore reported by `EventLoop.close()`.
///
/// Belongs to its loop's thread, see `EventLoop`; using it elsewhere stops the process.
@safe public class LoopHandle: @unchecked Sendable {
  // Safe to send: everything mutable, here and in the subclasses, is touched by the loop's thread alone, which every
  // method checks.

  enum State {
    case open
    /// `uv_close` has been called; its callback has not.
    case closing
    /// The memory is gone.
    case closed
  }

  /// The loop that the handle lives on.
  public final let loop: EventLoop
  final let kind: HandleKind
  final let site: CreationSite
  /// The libuv struct: its address is stable, and valid until `state` is `.closed`.
  final let memory: UnsafeMutableRawPointer
  private(set) final var state = State.open

  /// Allocates the libuv struct and initialises it. After a failure nothing has to be closed; after success, always.
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
    // Balanced by the close callback, and nowhere else.
    unsafe uv_handle_set_data(handle, Unmanaged.passRetained(self).toOpaque())
    loop.ledger[kind].opened.add(1, ordering: .releasing)
  }

  deinit { assert(state == .closed, "the loop retains a handle until it is closed") }

  /// Whether `close()` has not yet been called.
  public final var isOpen: Bool { state == .open }

  /// Closes the handle; the loop lets go of it in its next iteration. A second call does nothing.
  public func close() { unsafe beginClose() }

  /// Called once, when libuv has let go of the handle.
  func didClose() {}

  /// Calls `uv_close`, unless that has been done.
  /// - Parameter start: another way to have the close callback called; it returns 0 when it will be.
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

  fileprivate final func finishClose() {
    state = .closed
    unsafe memory.deallocate()
    unsafe loop.closingHandles -= 1
    loop.ledger[kind].closed.add(1, ordering: .releasing)
    didClose()
  }

  final var handle: UnsafeMutablePointer<uv_handle_t> { unsafe memory.assumingMemoryBound(to: uv_handle_t.self) }

  /// The object behind a handle that libuv hands to a callback.
  static func from(_ pointer: UnsafeMutableRawPointer?) -> LoopHandle? {
    guard let pointer = unsafe pointer, let data = unsafe pointer.assumingMemoryBound(to: uv_handle_t.self).pointee.data
    else { return nil }
    return unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue()
  }
}

/// The one place where the reference that libuv holds is given up.
private func handleWasClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
  guard let handle = unsafe handle, let data = unsafe handle.pointee.data else { return }
  unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeRetainedValue().finishClose()
}

extension EventLoop {
  /// `"2 TCPConnection, 1 TCPListener (made at Main.swift:12, …)"`. On the thread that closes the loop.
  func describeOpenHandles() -> String {
    var sites: [String: Int] = [:]
    unsafe withUnsafeMutablePointer(to: &sites) { sites in
      unsafe uv_walk(
        native.loop,
        { handle, sites in
          // The loop's own two handles have no object of this class: the wake-up has none, the alarm has the loop.
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
