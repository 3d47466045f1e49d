import CLibuv
import Glibc

extension TCPConnection {
  /// Connects to a numeric address. Call it on the loop's thread, or before `run()`.
  ///
  /// Returns the pending connection, so that the caller can close it (after a timeout, for example) or write to it:
  /// such writes wait. The connection is paused: call `resumeReading()` in `completion`.
  /// - Parameters:
  ///   - loop: The loop of the connection.
  ///   - host: A numeric IPv4 or IPv6 address.
  ///   - port: 1 to 65,535.
  ///   - noDelay: Whether small writes are sent at once (`TCP_NODELAY`).
  ///   - file: The source file of the call, for the report of open handles.
  ///   - line: The line of the call.
  ///   - completion: Called exactly once, on the loop's thread: with the connection, or with `.connectionRefused`,
  ///     `.timedOut`, `.cancelled` (closed meanwhile) or another code of the system. A connection that failed is closed.
  /// - Throws: Errors that are known at once: `.invalidArgument` for an address that is not numeric, `.loopClosed`.
  @discardableResult
  package static func connect(
    on loop: EventLoop, host: String, port: Int, noDelay: Bool = true, file: StaticString = #fileID,
    line: UInt = #line, completion: @escaping @Sendable (Result<TCPConnection, EventLoopError>) -> Void
  ) throws(EventLoopError) -> TCPConnection {
    let address = SocketAddress(host: host, port: port)
    var native = try address.native()
    let connection = try TCPConnection(connectingOn: loop, site: CreationSite(file: file, line: line))
    let request = ConnectRequest(connection, to: address, noDelay: noDelay, completion)
    let status = unsafe withUnsafePointer(to: &native) {
      unsafe uv_tcp_connect(
        request.memory, connection.tcp, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self)
      ) { connect, status in
        guard let connect = unsafe connect else { return }
        unsafe ConnectRequest.finish(connect).didConnect(status)
      }
    }
    guard status == 0 else {
      let error = EventLoopError(status: status, request.operation)
      unsafe ConnectRequest.finish(request.memory)
      connection.fail(error)
      throw error
    }
    return connection
  }
}

/// One connection attempt. libuv's callback holds the only lasting reference.
@safe private final class ConnectRequest {
  let memory: UnsafeMutablePointer<uv_connect_t>
  let operation: String
  private let connection: TCPConnection
  private let noDelay: Bool
  private let completion: @Sendable (Result<TCPConnection, EventLoopError>) -> Void

  init(
    _ connection: TCPConnection, to address: SocketAddress, noDelay: Bool,
    _ completion: @escaping @Sendable (Result<TCPConnection, EventLoopError>) -> Void
  ) {
    self.connection = connection
    self.noDelay = noDelay
    self.completion = completion
    operation = "connect to \(address)"
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.pointee.data = unsafe Unmanaged.passRetained(self).toOpaque()
  }

  deinit { unsafe memory.deallocate() }

  func didConnect(_ status: Int32) {
    guard status == 0 else {
      let error = EventLoopError(status: status, operation)
      connection.fail(error)
      completion(.failure(error))
      return
    }
    if noDelay { unsafe uv_tcp_nodelay(connection.tcp, 1) }
    completion(.success(connection))
  }

  /// Takes back the reference that libuv holds, in the callback or after a failed call.
  @discardableResult
  static func finish(_ memory: UnsafeMutablePointer<uv_connect_t>) -> ConnectRequest {
    guard let data = unsafe memory.pointee.data else {
      preconditionFailure("BUG in BeansEventLoop: a request without its object")
    }
    return unsafe Unmanaged<ConnectRequest>.fromOpaque(data).takeRetainedValue()
  }
}
