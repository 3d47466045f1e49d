import CLibuv
import Glibc

/// Accepts TCP connections at one address.
///
/// A listener belongs to its loop's thread, see `EventLoop`.
public final class TCPListener: LoopHandle, @unchecked Sendable {
  // Safe to send for the reason given in `LoopHandle`.

  /// The address of the listener. For a requested port 0, it contains the port that the system has chosen.
  package private(set) var address: SocketAddress
  /// The port of the listener.
  public var port: Int { address.port }
  /// Runs when a connection could not be accepted, for example for lack of file descriptors. The listener tries again
  /// 50 ms later; clients wait in the system's queue meanwhile.
  package var onAcceptError: ((EventLoopError) -> Void)? {
    didSet {
      loop.preconditionMayUseHandles()
      if state == .closed, onAcceptError != nil { onAcceptError = nil }
    }
  }
  private var onConnection: (@Sendable (TCPConnection) -> Void)?
  private let noDelay: Bool
  // libuv's own listener, `uv_listen`, is not used: when another thread has taken its reserve descriptor, it calls
  // `accept` as long as that fails and never returns to the loop.
  private let descriptor: Int32
  private var nextTry: EventLoop.Scheduled?
  /// Whether no client can connect any more, so that the waiting connections are the last ones.
  private var hasStopped = false

  /// The number of connections that are accepted before the loop continues with other sockets.
  private static let acceptedPerTurn = 64

  /// Binds and listens. Call it on the loop's thread, or before `run()`.
  ///
  /// - Parameters:
  ///   - loop: The loop of the listener and of its connections.
  ///   - host: A numeric address, or a name: the call blocks until the system has resolved it, and takes the first of its
  ///     addresses that it can bind. `"0.0.0.0"` means every IPv4 interface, `"::"` every interface.
  ///   - port: 0 lets the system choose; see `port`.
  ///   - backlog: The number of connections that may wait to be accepted; the system caps it (`net.core.somaxconn`).
  ///   - reusePort: Whether several listeners, each on its own loop, share the port; the system distributes the
  ///     connections. All of them must set it, except for a first one with `allowReusingPort()`.
  ///   - noDelay: Whether accepted connections send small writes at once (`TCP_NODELAY`).
  ///   - file: The source file of the call, for the report of open handles.
  ///   - line: The line of the call.
  ///   - onConnection: Called on the loop's thread with every connection, which is paused: set its callbacks, then call
  ///     `resumeReading()`.
  /// - Throws: `.addressInUse`, `.loopClosed`, or another error of the system, such as that of a host that it does not know.
  public init(
    on loop: EventLoop, host: String = "127.0.0.1", port: Int = 0, backlog: Int32 = 511, reusePort: Bool = false,
    noDelay: Bool = true, file: StaticString = #fileID, line: UInt = #line,
    onConnection: @escaping @Sendable (TCPConnection) -> Void
  ) throws(EventLoopError) {
    let (address, descriptor) = try Self.listen(
      at: SocketAddress(host: host, port: port), on: loop, backlog: backlog, reusePort: reusePort)
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

  /// Opens a listening socket at the first address of a host that can be bound.
  private static func listen(
    at address: SocketAddress, on loop: EventLoop, backlog: Int32, reusePort: Bool
  ) throws(EventLoopError) -> (SocketAddress, Int32) {
    try address.checkPort()
    var addresses = [address][...]
    if address.numeric == nil {
      loop.preconditionMayUseHandles()
      guard !loop.isClosed else { throw EventLoopError(.loopClosed, "listen on \(address)") }
      addresses = try HostResolution.wait(for: address, on: loop, "listen on \(address)")[...]
    }
    var failure = EventLoopError(.unknownHost, "listen on \(address)")
    while var next = addresses.popFirst() {
      do throws(EventLoopError) {
        let descriptor = try listen(at: &next, backlog: backlog, reusePort: reusePort)
        return (next, descriptor)
      } catch {
        failure = error
      }
    }
    throw failure
  }

  /// Opens a listening socket. Sets the port in `address` to the one that the system has chosen.
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
      // `SO_REUSEADDR` allows a service to restart while connections of its predecessor are in `TIME_WAIT`.
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
        // Errors of one connection only (accept(2)); the next connection may succeed.
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

  /// Leaves clients in the system's queue for 50 ms, instead of retrying in a busy loop.
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

  /// Resets the connections that wait to be accepted.
  override func startClosing() {
    loop.preconditionMayUseHandles()
    guard isOpen else { return }
    nextTry?.cancel()
    nextTry = nil
    super.startClosing()
    Glibc.close(descriptor)
  }

  /// Allows listeners with `reusePort` to share this listener's port, as if this one had been created with `reusePort`.
  ///
  /// Before this call, no other socket can have the port: of several services that request the port, one gets it, and
  /// the others receive an error.
  ///
  /// - Throws: an error after `close()`; the error of the system.
  public func allowReusingPort() throws(EventLoopError) {
    loop.preconditionMayUseHandles()
    let operation = "share \(address)"
    guard isOpen else { throw EventLoopError(.handleClosed, operation) }
    // Linux checks whether a port may be shared when another socket is bound to it.
    guard Self.set(SO_REUSEPORT, of: descriptor) else { throw EventLoopError(status: -errno, operation) }
  }

  private static func set(_ option: Int32, of descriptor: Int32) -> Bool {
    var on: Int32 = 1
    return unsafe setsockopt(descriptor, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// Stops further connections, while those that the system has accepted already still arrive. Call it some
  /// iterations before `close()`, which resets every connection that the system has accepted and the loop has not.
  ///
  /// Clients that connect from now on get no reply until the listener is closed, and are then refused.
  ///
  /// - Throws: an error after `close()`; the error of the system.
  public func stopAccepting() throws(EventLoopError) {
    loop.preconditionMayUseHandles()
    guard isOpen else { throw EventLoopError(.handleClosed, "stop accepting on \(address)") }
    // A socket filter that drops only the packets that begin a connection: the packets that complete a handshake in
    // progress, and those of connections that inherit the filter, pass.
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
    // The captures of the callbacks may refer to this object.
    onConnection = nil
    onAcceptError = nil
  }

  private var poll: UnsafeMutablePointer<uv_poll_t> { unsafe memory.assumingMemoryBound(to: uv_poll_t.self) }
}
