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
  /// Called when a connection could not be accepted, for want of file descriptors for example. The listener tries again 50 ms
  /// later; clients wait in the system's queue meanwhile.
  public var onAcceptError: ((EventLoopError) -> Void)? {
    didSet {
      loop.preconditionMayUseHandles()
      if state == .closed, onAcceptError != nil { onAcceptError = nil }
    }
  }
  private var onConnection: (@Sendable (TCPConnection) -> Void)?
  private let noDelay: Bool
  // libuv's own listener, `uv_listen`, is not used: when another thread has taken its reserve descriptor, it calls `accept` for
  // as long as that fails and never comes back to the loop.
  private let descriptor: Int32
  private var nextTry: EventLoop.Scheduled?
  /// Nobody can connect any more, so those who wait are all there will be.
  private var hasStopped = false

  /// Connections that are accepted before other sockets get their turn.
  private static let acceptedPerTurn = 64

  /// Binds and listens. On the loop's thread, or before `run()`.
  ///
  /// - Parameters:
  ///   - loop: The loop that accepts, and that the connections live on.
  ///   - host: A numeric address. `"0.0.0.0"` means every IPv4 interface, `"::"` every interface.
  ///   - port: 0 lets the system choose; see `port`.
  ///   - backlog: How many connections may wait to be accepted; the system caps it (`net.core.somaxconn`).
  ///   - reusePort: Lets several listeners, each on its own loop, share the port; the system spreads the connections.
  ///     All of them must ask for it, but for a first one that is told to `allowReusingPort()`.
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
    var address = SocketAddress(host: host, port: port)
    let descriptor = try Self.listen(at: &address, backlog: backlog, reusePort: reusePort)
    self.address = address
    self.descriptor = descriptor
    self.onConnection = onConnection
    self.noDelay = noDelay
    do {
      unsafe try super.init(
        on: loop, .listener, size: MemoryLayout<uv_poll_t>.size, site: CreationSite(file: file, line: line)
      ) { loop, memory in
        unsafe uv_poll_init(loop, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
      }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    do {
      try watch()
    } catch {
      close()
      throw error
    }
  }

  /// A socket that listens. Sets the port in `address` that the system has chosen.
  private static func listen(
    at address: inout SocketAddress, backlog: Int32, reusePort: Bool
  ) throws(EventLoopError) -> Int32 {
    let operation = "listen on \(address)"
    var native = try address.native()
    let descriptor = socket(
      Int32(native.ss_family), Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw EventLoopError(status: -errno, operation) }
    let size = socklen_t(
      native.ss_family == sa_family_t(AF_INET) ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
    let isListening = unsafe withUnsafePointer(to: &native) { native in
      let native = unsafe UnsafeRawPointer(native).assumingMemoryBound(to: sockaddr.self)
      // So that a service can be started again while connections of its predecessor are still being forgotten.
      return unsafe set(SO_REUSEADDR, of: descriptor) && (!reusePort || set(SO_REUSEPORT, of: descriptor))
        && bind(descriptor, native, size) == 0 && Glibc.listen(descriptor, backlog) == 0
    }
    guard isListening else {
      let error = EventLoopError(status: -errno, operation)
      Glibc.close(descriptor)
      throw error
    }
    let bound = unsafe SocketAddress(asking: { unsafe getsockname(descriptor, $0, $1) })
    if let bound { address = bound }
    return descriptor
  }

  private func watch() throws(EventLoopError) {
    let status = unsafe uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { poll, _, _ in
      guard let listener = unsafe LoopHandle.from(poll) as? TCPListener else { return }
      listener.accept()
    }
    guard status == 0 else { throw EventLoopError(status: status, "listen on \(address)") }
  }

  private func accept() {
    var left = Self.acceptedPerTurn
    while isOpen, left > 0 || hasStopped {
      left -= 1
      let accepted = clibuv_accept(descriptor)
      guard accepted >= 0 else {
        switch errno {
        case EAGAIN: return
        // What has gone wrong on the way of one connection (accept(2)); the next may be a good one.
        case EINTR, ECONNABORTED, EPERM, EPROTO, ENOPROTOOPT, EOPNOTSUPP, ENETDOWN, ENETUNREACH, EHOSTDOWN,
          EHOSTUNREACH,
          ETIMEDOUT:
          continue
        default: return pause(EventLoopError(status: -errno, operation))
        }
      }
      do throws(EventLoopError) {
        onConnection?(try TCPConnection(accepted: accepted, by: self, noDelay: noDelay))
      } catch {
        onAcceptError?(error)
      }
    }
  }

  /// Leaves clients in the system's queue for a moment, instead of asking again and again for what there is not.
  private func pause(_ error: EventLoopError) {
    unsafe uv_poll_stop(poll)
    nextTry = loop.schedule(after: .milliseconds(50)) {
      guard self.isOpen else { return }
      do throws(EventLoopError) {
        try self.watch()
      } catch {
        self.pause(error)
      }
    }
    onAcceptError?(error)
  }

  var operation: String { "accept a connection on \(address)" }

  /// Closes the listener. Connections that wait to be accepted are reset.
  public override func close() {
    loop.preconditionMayUseHandles()
    guard isOpen else { return }
    nextTry?.cancel()
    nextTry = nil
    super.close()
    Glibc.close(descriptor)
  }

  /// Lets listeners that ask for `reusePort` join this one at its port, as if it had asked for it itself.
  ///
  /// Until then nobody else could have the port: of several services that want it, one gets it, and the others are
  /// told.
  ///
  /// - Throws: `.handleClosed` after `close()`; what the system says.
  public func allowReusingPort() throws(EventLoopError) {
    loop.preconditionMayUseHandles()
    let operation = "share \(address)"
    guard isOpen else { throw EventLoopError(.handleClosed, operation) }
    // Linux asks whether a port may be shared when another socket is bound to it.
    guard Self.set(SO_REUSEPORT, of: descriptor) else { throw EventLoopError(status: -errno, operation) }
  }

  private static func set(_ option: Int32, of descriptor: Int32) -> Bool {
    var on: Int32 = 1
    return unsafe setsockopt(descriptor, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// Lets no further connection come in, while those that the system has accepted already still arrive; to be called
  /// some iterations before `close()`, which resets whatever the system has accepted and the loop has not.
  ///
  /// Clients that connect from now on get no answer until the listener is closed, then they are refused.
  ///
  /// - Throws: `.handleClosed` after `close()`; what the system says.
  public func stopAccepting() throws(EventLoopError) {
    loop.preconditionMayUseHandles()
    guard isOpen else { throw EventLoopError(.handleClosed, "stop accepting on \(address)") }
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
    let isAttached = unsafe instructions.withUnsafeMutableBufferPointer { instructions in
      guard let first = instructions.baseAddress else { return false }
      var program = unsafe Program(count: UInt16(instructions.count), instructions: first)
      let size = socklen_t(MemoryLayout<Program>.size)
      return unsafe setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size) == 0
    }
    guard isAttached else { throw EventLoopError(status: -errno, "stop accepting on \(address)") }
    hasStopped = true
  }

  override func didClose() {
    // What the callbacks captured may refer to this object.
    onConnection = nil
    onAcceptError = nil
  }

  private var poll: UnsafeMutablePointer<uv_poll_t> { unsafe memory.assumingMemoryBound(to: uv_poll_t.self) }
}
