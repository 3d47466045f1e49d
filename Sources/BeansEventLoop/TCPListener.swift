import CLibuv
import Glibc

/// Accepts TCP connections at one address.
///
/// Belongs to its loop's thread, see `EventLoop`.
public final class TCPListener: LoopHandle, @unchecked Sendable {
  // Safe to send for the reason given in `LoopHandle`.

  /// The address it listens at; the port is the real one where 0 was asked for.
  public private(set) var address: SocketAddress
  /// The port it listens at.
  public var port: Int { address.port }
  /// Called when a connection could not be accepted, for want of file descriptors for example. The listener goes on.
  public var onAcceptError: ((EventLoopError) -> Void)? {
    didSet {
      loop.preconditionMayUseHandles()
      if state == .closed, onAcceptError != nil { onAcceptError = nil }
    }
  }
  private var onConnection: (@Sendable (TCPConnection) -> Void)?
  private let noDelay: Bool

  /// Binds and listens. On the loop's thread, or before `run()`.
  ///
  /// - Parameters:
  ///   - loop: The loop that accepts, and that the connections live on.
  ///   - host: A numeric address. `"0.0.0.0"` means every IPv4 interface, `"::"` every interface.
  ///   - port: 0 lets the system choose; see `port`.
  ///   - backlog: How many connections may wait to be accepted; the system caps it (`net.core.somaxconn`).
  ///   - reusePort: Lets several listeners, each on its own loop, share the port; the system spreads the connections.
  ///     All of them must ask for it.
  ///   - noDelay: Whether accepted connections send small writes at once (`TCP_NODELAY`).
  ///   - file: Where the listener is made, for the report of unclosed handles.
  ///   - line: See `file`.
  ///   - onConnection: Called on the loop's thread with every connection, which is paused: set its callbacks, then call
  ///     `resumeReading()`.
  /// - Throws: `.addressInUse`, `.permissionDenied`, `.invalidArgument`, `.loopClosed`, or another code of the system.
  public init(
    on loop: EventLoop, host: String = "127.0.0.1", port: Int = 0, backlog: Int32 = 511, reusePort: Bool = false,
    noDelay: Bool = true, file: StaticString = #fileID, line: UInt = #line,
    onConnection: @escaping @Sendable (TCPConnection) -> Void
  ) throws(EventLoopError) {
    address = SocketAddress(host: host, port: port)
    self.onConnection = onConnection
    self.noDelay = noDelay
    var native = try address.native()
    let family = UInt32(native.ss_family)
    unsafe try super.init(
      on: loop, .listener, size: MemoryLayout<uv_tcp_t>.size, site: CreationSite(file: file, line: line)
    ) { loop, memory in
      // With a family, the socket exists before `uv_tcp_bind`, as its options require.
      unsafe uv_tcp_init_ex(loop, memory.assumingMemoryBound(to: uv_tcp_t.self), family)
    }
    do {
      try listen(at: &native, backlog: backlog, reusePort: reusePort)
    } catch {
      close()
      throw error
    }
  }

  private func listen(
    at native: inout sockaddr_storage, backlog: Int32, reusePort: Bool
  ) throws(EventLoopError) {
    let operation = "listen on \(address)"
    if reusePort {
      var descriptor: Int32 = -1
      var status = unsafe uv_fileno(handle, &descriptor)
      guard status == 0 else { throw EventLoopError(status: status, operation) }
      var on: Int32 = 1
      status = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, socklen_t(MemoryLayout<Int32>.size))
      guard status == 0 else { throw EventLoopError(status: -errno, operation) }
    }
    var status = unsafe withUnsafePointer(to: &native) {
      unsafe uv_tcp_bind(tcp, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self), 0)
    }
    guard status == 0 else { throw EventLoopError(status: status, operation) }
    status = unsafe uv_listen(stream, backlog) { stream, status in
      guard let listener = unsafe LoopHandle.from(stream) as? TCPListener else { return }
      listener.accept(status)
    }
    guard status == 0 else { throw EventLoopError(status: status, operation) }
    if let bound = unsafe SocketAddress(asking: { unsafe uv_tcp_getsockname(tcp, $0, $1) }) { address = bound }
  }

  private func accept(_ status: Int32) {
    guard status == 0 else {
      onAcceptError?(EventLoopError(status: status, "accept a connection on \(address)"))
      return
    }
    do {
      let connection = try TCPConnection(accepting: self, noDelay: noDelay)
      onConnection?(connection)
    } catch {
      onAcceptError?(error)
    }
  }

  /// Lets no further connection come in, while those that the system has accepted already still arrive; to be called some
  /// iterations before `close()`, which resets whatever the system has accepted and the loop has not.
  ///
  /// Clients that connect from now on get no answer until the listener is closed, then they are refused. Throws
  /// `.handleClosed` after `close()`.
  public func stopAccepting() throws(EventLoopError) {
    loop.preconditionMayUseHandles()
    guard isOpen else { throw EventLoopError(.handleClosed, "stop accepting on \(address)") }
    var descriptor: Int32 = -1
    var status = unsafe uv_fileno(handle, &descriptor)
    // A socket filter that drops what begins a connection, and nothing else: the packets that end a handshake under way,
    // and those of connections that inherit the filter, pass.
    struct Instruction {
      var code: UInt16
      var jt: UInt8 = 0
      var jf: UInt8 = 0
      var k: UInt32
    }
    @safe struct Program {
      var count: UInt16
      var instructions: UnsafeMutablePointer<Instruction>
    }
    var instructions = [
      Instruction(code: 0x30, k: 13),  // load the byte of flags, which is the 14th of a TCP header
      Instruction(code: 0x45, jt: 0, jf: 1, k: 0x02),  // SYN set: next; else: the one behind it
      Instruction(code: 0x06, k: 0),  // keep no byte
      Instruction(code: 0x06, k: .max),  // keep all
    ]
    if status == 0 {
      status = unsafe instructions.withUnsafeMutableBufferPointer { instructions in
        guard let first = instructions.baseAddress else { return 0 }
        var program = unsafe Program(count: UInt16(instructions.count), instructions: first)
        let size = socklen_t(MemoryLayout<Program>.size)
        return unsafe setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size) == 0 ? 0 : -errno
      }
    }
    guard status == 0 else { throw EventLoopError(status: status, "stop accepting on \(address)") }
  }

  override func didClose() {
    // What the callbacks captured may refer to this object.
    onConnection = nil
    onAcceptError = nil
  }

  private var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe memory.assumingMemoryBound(to: uv_tcp_t.self) }
  var stream: UnsafeMutablePointer<uv_stream_t> { unsafe memory.assumingMemoryBound(to: uv_stream_t.self) }
}
