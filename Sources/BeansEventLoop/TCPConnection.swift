import CLibuv
import Glibc

/// One TCP connection, accepted by a `TCPListener` or made by `connect`.
///
/// A new connection is paused: set the callbacks, then call `resumeReading()`. Callbacks run on the loop's thread,
/// inside libuv's frames (only `run()` of the same loop is forbidden there), and are released when the connection has
/// been closed, also those that are set later, so a callback may capture its connection.
///
/// A connection belongs to its loop's thread, see `EventLoop`, and takes two allocations, about 500 bytes.
@safe public final class TCPConnection: LoopHandle, @unchecked Sendable {
  // Safe to send for the reason given in `LoopHandle`.

  /// The reason why a connection has ended.
  public enum CloseReason: Sendable, Equatable {
    /// `close()`, `closeAfterWrites()` or `reset()` was called.
    case local
    /// The peer has closed its side, and no `onEnd` was set.
    case endOfFile
    /// Reading, writing or connecting failed.
    case failed(EventLoopError)
  }

  /// Receives the bytes that have arrived, at most 64 KiB. The bytes are valid only during the call.
  @exclusivity(unchecked) public var onRead: ((UnsafeRawBufferPointer) -> Void)? {
    didSet { if hasGone() { unsafe onRead = nil } }
  }
  /// Runs when the peer has closed its side. The connection then stays open for writing until it is closed here.
  /// Without this callback, the end of the peer's side closes the connection once all written bytes have been sent.
  public var onEnd: (() -> Void)? { didSet { if hasGone() { onEnd = nil } } }
  /// Runs when the write queue, having been full (see `isWritable`), has fallen to half of that.
  public var onDrain: (() -> Void)? { didSet { if hasGone() { onDrain = nil } } }
  /// Runs exactly once, after all other callbacks, when libuv has released the connection.
  public var onClose: ((CloseReason) -> Void)? { didSet { if hasGone() { onClose = nil } } }

  /// The number of bytes in the write queue from which on `isWritable` is false; 64 KiB by default.
  @exclusivity(unchecked) package var highWaterMark = 64 * 1024 { willSet { loop.preconditionMayUseHandles() } }

  @exclusivity(unchecked) var isAboveHighWater = false
  @exclusivity(unchecked) var closesAfterWrites = false
  @exclusivity(unchecked) var isShutDown = false
  /// Nil for an accepted connection, and for one that is established without a layer.
  @exclusivity(unchecked) var link: ClientLink?
  private var closeReason = CloseReason.local
  @exclusivity(unchecked) private var isReading = false
  @exclusivity(unchecked) private var hasEnded = false

  /// Takes ownership of a socket that `listener` has accepted, also when it throws.
  init(accepted descriptor: Int32, by listener: TCPListener, noDelay: Bool) throws(EventLoopError) {
    do {
      unsafe try super.init(on: listener.loop, .connection, size: MemoryLayout<uv_tcp_t>.size, site: listener.site) {
        unsafe uv_tcp_init($0, $1.assumingMemoryBound(to: uv_tcp_t.self))
      }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    let status = unsafe uv_tcp_open(tcp, descriptor)
    guard status == 0 else {
      Glibc.close(descriptor)
      close()
      throw EventLoopError(status: status, listener.operation)
    }
    if noDelay { unsafe uv_tcp_nodelay(tcp, 1) }
  }

  /// Creates a connection whose socket is not yet connected.
  init(connectingOn loop: EventLoop, site: CreationSite) throws(EventLoopError) {
    unsafe try super.init(on: loop, .connection, size: MemoryLayout<uv_tcp_t>.size, site: site) {
      unsafe uv_tcp_init($0, $1.assumingMemoryBound(to: uv_tcp_t.self))
    }
  }

  /// Closes the socket, and takes another one, which is not yet connected.
  func replaceSocket() throws(EventLoopError) {
    unsafe try replaceHandle(size: MemoryLayout<uv_tcp_t>.size) {
      unsafe uv_tcp_init($0, $1.assumingMemoryBound(to: uv_tcp_t.self))
    }
  }

  /// Takes ownership of a connected socket, also when it throws. libuv needs it to be a stream, of any family.
  func open(_ descriptor: Int32) throws(EventLoopError) {
    let status = unsafe uv_tcp_open(tcp, descriptor)
    guard status == 0 else {
      Glibc.close(descriptor)
      throw EventLoopError(status: status, "open a socket")
    }
  }

  // MARK: Reading

  /// Stops reading: the system's buffers fill, and the peer has to wait. May also be called before `resumeReading()`.
  ///
  /// Does nothing after `close()`, which ends the reading by itself.
  public func pauseReading() {
    loop.preconditionMayUseHandles()
    guard isOpen, unsafe isReading else { return }
    unsafe isReading = false
    // A handshake goes on.
    if unsafe link?.isEstablished != false { stopReading() }
  }

  /// Starts reading, until `pauseReading()`. Does nothing after the end of the peer's side or after `close()`.
  public func resumeReading() {
    loop.preconditionMayUseHandles()
    guard isOpen, unsafe !isReading, unsafe !hasEnded else { return }
    unsafe isReading = true
    guard let link = unsafe link else { return startReading() }
    guard link.isEstablished else { return }
    startReading()
    loop.afterwards { link.deliver() }
  }

  func stopReading() { unsafe uv_read_stop(stream) }

  /// Returns bytes that have arrived and are not read, at most 16 KiB; none without any. For a connection that has failed.
  func readRest() -> [UInt8] {
    var descriptor: Int32 = -1
    guard isOpen, unsafe uv_fileno(handle, &descriptor) == 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, count in
      count = unsafe max(recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)), 0)
    }
  }

  /// Reads from the socket. Does nothing where it does so already.
  func startReading() {
    stopReading()
    let status = unsafe uv_read_start(
      stream,
      { handle, _, buffer in
        guard let connection = unsafe LoopHandle.from(handle), let buffer = unsafe buffer else { return }
        let memory = unsafe connection.loop.native.readBuffer
        unsafe buffer.pointee = unsafe uv_buf_init(
          memory.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(memory.count))
      },
      { stream, count, buffer in
        guard let handle = unsafe LoopHandle.from(stream), let buffer = unsafe buffer else { return }
        // Only this class starts reading.
        let connection = unsafe unsafeDowncast(handle, to: TCPConnection.self)
        unsafe connection.didRead(count, UnsafeRawPointer(buffer.pointee.base))
      })
    if status != 0 { fail(EventLoopError(status: status, "read")) }
  }

  /// Whether the connection does not read; true for a closed connection.
  package var isReadingPaused: Bool { unsafe !isOpen || !isReading }

  private func didRead(_ count: Int, _ bytes: UnsafeRawPointer?) {
    if count > 0 {
      let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
      if let link = unsafe link { unsafe link.receive(bytes) } else { unsafe onRead?(bytes) }
    } else if count == Int(UV_EOF.rawValue) {
      stopReading()
      if let link = unsafe link { link.receiveEnd() } else { didEnd() }
    } else if count < 0 {
      fail(EventLoopError(status: Int32(count), "read"))
    }
    // Zero means that there is nothing to read yet.
  }

  /// Handles the end of the peer's side.
  func didEnd() {
    guard isOpen, unsafe !hasEnded else { return }
    pauseReading()
    unsafe hasEnded = true
    if let onEnd { onEnd() } else { close(after: .endOfFile) }
  }

  // MARK: Closing

  /// Closes at once; writes that are still queued complete with `.cancelled`.
  override func startClosing() { close(.local) }

  /// Closes as soon as the system has taken all bytes written so far. Later writes are refused.
  ///
  /// If the peer may still be sending, prefer `shutdown()` and wait for `onEnd`: the system resets a connection that is
  /// closed with unread input, and the peer may lose the last bytes. Reading continues until the close, and a peer that
  /// never reads keeps the connection open: `schedule` a `close()` for that case.
  public func closeAfterWrites() { close(after: .local) }

  /// Closes at once with a reset: the peer gets `ECONNRESET`, and unsent bytes are lost.
  package func reset() {
    guard isOpen else { return }
    closeReason = .local
    unsafe beginClose { handle, closed in
      unsafe uv_tcp_close_reset(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_tcp_t.self), closed)
    }
  }

  func fail(_ error: EventLoopError) { close(.failed(unsafe link?.explain(error) ?? error)) }

  private func close(_ reason: CloseReason) {
    guard isOpen else { return }
    closeReason = reason
    if reason == .local, let last = unsafe link?.end(), !last.isEmpty { sendAtOnce(last) }
    unsafe beginClose()
  }

  private func close(after reason: CloseReason) {
    guard isOpen, unsafe !closesAfterWrites else { return }
    closeReason = reason
    if let last = unsafe link?.end(), !last.isEmpty { send(last) }
    guard isOpen else { return }
    guard writeQueueSize > 0 else { return unsafe beginClose() }
    unsafe closesAfterWrites = true
  }

  /// Closes after the last write; the reason has been set before.
  func closeNow() { unsafe beginClose() }

  override func didClose() {
    let onClose = onClose
    // The callbacks may refer to this connection.
    unsafe onRead = nil
    onEnd = nil
    onDrain = nil
    self.onClose = nil
    unsafe link.take()?.didClose(closeReason)
    onClose?(closeReason)
  }

  /// Whether the connection has been closed, so that a callback set now would be neither called nor released.
  private func hasGone() -> Bool {
    loop.preconditionMayUseHandles()
    return state == .closed
  }

  // MARK: Socket

  /// The address of this end; nil when closed. Costs one system call.
  package var localAddress: SocketAddress? {
    loop.preconditionMayUseHandles()
    return unsafe isOpen ? SocketAddress(asking: { unsafe uv_tcp_getsockname(tcp, $0, $1) }) : nil
  }

  /// The address of the peer; nil when not connected. Costs one system call.
  package var peerAddress: SocketAddress? {
    loop.preconditionMayUseHandles()
    return unsafe isOpen ? SocketAddress(asking: { unsafe uv_tcp_getpeername(tcp, $0, $1) }) : nil
  }

  /// Whether the socket is connected, and the handshake of the layer is not complete.
  package var isInHandshake: Bool {
    loop.preconditionMayUseHandles()
    return unsafe link?.isInHandshake == true
  }

  /// Sets whether small writes are sent at once (`TCP_NODELAY`).
  ///
  /// - Throws: the error of the system; `.handleClosed` after `close()`.
  package func setNoDelay(_ noDelay: Bool) throws(EventLoopError) {
    loop.preconditionMayUseHandles()
    guard isOpen else { throw EventLoopError(.handleClosed, "set TCP_NODELAY") }
    let status = unsafe uv_tcp_nodelay(tcp, noDelay ? 1 : 0)
    guard status == 0 else { throw EventLoopError(status: status, "set TCP_NODELAY") }
  }

  var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe memory.assumingMemoryBound(to: uv_tcp_t.self) }
  var stream: UnsafeMutablePointer<uv_stream_t> { unsafe memory.assumingMemoryBound(to: uv_stream_t.self) }
}
