import CLibuv
import Glibc

/// The attempts of a client connection to connect its socket: the addresses of a host, one after the other.
///
/// Each address has an equal share of the time that is left, so that one that does not reply leaves time for the others.
/// Belongs to the thread of the connection's loop.
final class ConnectAttempts: @unchecked Sendable {
  // Safe to send to the loop's timers: only the loop's thread uses it.

  private let connection: TCPConnection
  private let address: SocketAddress
  private let options: ConnectOptions
  private let deadline: ContinuousClock.Instant?
  /// Receives the outcome once, unless the attempts are cancelled.
  private var completion: ((EventLoopError?) -> Void)?
  private var resolution: HostResolution?
  private var timer: EventLoop.Scheduled?
  /// The addresses that have not been tried.
  private var left: ArraySlice<SocketAddress> = []
  /// The failures so far, if the host has several addresses.
  private var failures: [String] = []
  /// The number of the attempt in progress.
  private var number = 0

  var operation: String { "connect to \(address)" }

  init(
    of connection: TCPConnection, to address: SocketAddress, options: ConnectOptions,
    _ completion: @escaping (EventLoopError?) -> Void
  ) {
    self.connection = connection
    self.address = address
    self.options = options
    self.completion = completion
    deadline = options.timeout.map { .now + $0 }
  }

  func begin() {
    if let path = address.unixPath { return connect(toUnixSocket: path) }
    if let resolve = options.resolve { return found(.success(resolve(address))) }
    if address.numeric != nil { return found(.success([address])) }
    do throws(EventLoopError) {
      resolution = try .begin(of: address, on: connection.loop, operation) { [self] result in
        resolution = nil
        timer?.cancel()
        found(result)
      }
      limit(parts: 1) { [self] in end(EventLoopError(.timedOut, operation, detail: "the system resolves the host")) }
    } catch {
      failLater(error)
    }
  }

  /// Ends the attempts. `completion` does not run any more.
  func cancel() {
    completion = nil
    number += 1
    timer?.cancel()
    resolution?.cancel()
  }

  private func found(_ result: Result<[SocketAddress], EventLoopError>) {
    switch result {
    case .success(let addresses):
      left = addresses[...]
      next()
    case .failure(let error): failLater(error)
    }
  }

  private func next() {
    guard connection.isOpen, let target = left.popFirst() else { return }
    number += 1
    let attempt = number
    guard var native = target.numeric else {
      return failLater(EventLoopError(.invalidArgument, operation, detail: "\(target) is not a numeric address"))
    }
    let request = ConnectRequest { [self] status in finish(attempt, target, status) }
    let status = unsafe withUnsafePointer(to: &native) {
      unsafe uv_tcp_connect(
        request.memory, connection.tcp, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self)
      ) { connect, status in
        guard let connect = unsafe connect else { return }
        unsafe ConnectRequest.finish(connect).completion(status)
      }
    }
    if status == 0 {
      limit(parts: left.count + 1) { [self] in finish(attempt, target, UV_ETIMEDOUT.rawValue) }
    } else {
      unsafe ConnectRequest.finish(request.memory)
      connection.loop.afterwards { [self] in finish(attempt, target, status) }
    }
  }

  /// Handles the end of an attempt, unless another one has begun or the attempts have ended.
  private func finish(_ attempt: Int, _ target: SocketAddress, _ status: Int32) {
    guard attempt == number, connection.isOpen else { return }
    timer?.cancel()
    if status == 0 { return end(nil) }
    let error = EventLoopError(status: status, operation)
    failures.append("\(target): \(error.name)")
    guard !left.isEmpty else {
      let detail = target == address ? "" : failures.joined(separator: ", ")
      return end(EventLoopError(error.code, operation, detail: detail))
    }
    do throws(EventLoopError) {
      // Cancels the attempt, if it was too slow: the number has changed when its callback runs.
      try connection.replaceSocket()
      next()
    } catch {
      end(error)
    }
  }

  private func end(_ error: EventLoopError?) {
    number += 1
    timer?.cancel()
    resolution?.cancel()
    guard connection.isOpen else { return }
    completion.take()?(error)
  }

  /// Fails after the caller has returned.
  private func failLater(_ error: EventLoopError) { connection.loop.afterwards { [self] in end(error) } }

  /// Runs `body` when one of so many equal parts of the time that is left is over.
  private func limit(parts: Int, _ body: @escaping @Sendable () -> Void) {
    guard let deadline else { return }
    timer = connection.loop.schedule(after: ContinuousClock.now.duration(to: deadline) / parts, body)
  }

  /// Connects to a Unix socket, which the system does at once.
  private func connect(toUnixSocket path: String) {
    connection.loop.afterwards { [self] in
      guard connection.isOpen else { return }
      do throws(EventLoopError) {
        try connection.open(Self.open(unixSocket: path, operation))
        end(nil)
      } catch {
        end(error)
      }
    }
  }

  private static func open(unixSocket path: String, _ operation: String) throws(EventLoopError) -> Int32 {
    var address = sockaddr_un()
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard !path.isEmpty, path.utf8.count < capacity, !path.utf8.contains(0) else {
      throw EventLoopError(.invalidArgument, operation, detail: "a path has 1 to \(capacity - 1) bytes")
    }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw EventLoopError(status: -errno, operation) }
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe Glibc.connect(
        descriptor, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_un>.size))
    }
    guard status == 0 else {
      let error = EventLoopError(status: -errno, operation)
      Glibc.close(descriptor)
      throw error
    }
    return descriptor
  }
}

/// One attempt of libuv. Its callback holds the only lasting reference.
@safe private final class ConnectRequest {
  let memory: UnsafeMutablePointer<uv_connect_t>
  let completion: (Int32) -> Void

  init(_ completion: @escaping (Int32) -> Void) {
    self.completion = completion
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.pointee.data = unsafe Unmanaged.passRetained(self).toOpaque()
  }

  deinit { unsafe memory.deallocate() }

  /// Takes back the reference that libuv holds, in the callback or after a failed call.
  @discardableResult
  static func finish(_ memory: UnsafeMutablePointer<uv_connect_t>) -> ConnectRequest {
    guard let data = unsafe memory.pointee.data else {
      preconditionFailure("BUG in BeansEventLoop: a request without its object")
    }
    return unsafe Unmanaged<ConnectRequest>.fromOpaque(data).takeRetainedValue()
  }
}
