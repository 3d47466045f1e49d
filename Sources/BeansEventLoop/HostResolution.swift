import CLibuv
import Glibc

/// One question to the system for the addresses of a host, in a thread of libuv's pool.
///
/// libuv's callback holds the only lasting reference, so that the request outlives a connection that is closed
/// meanwhile. A question that a thread of the pool has begun cannot be cancelled: the loop that asks it can be closed
/// only when the system has returned.
@safe final class HostResolution {
  typealias Completion = (Result<[SocketAddress], EventLoopError>) -> Void

  private let memory: UnsafeMutablePointer<uv_getaddrinfo_t>
  private let address: SocketAddress
  private let operation: String
  /// Nil once the question has been cancelled.
  private var completion: Completion?

  private init(of address: SocketAddress, _ operation: String, _ completion: Completion?) {
    self.address = address
    self.operation = operation
    self.completion = completion
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.initialize(to: uv_getaddrinfo_t())
  }

  deinit { unsafe memory.deallocate() }

  /// Asks for the addresses of a host. `completion` runs once on the loop's thread, unless the question is cancelled.
  static func begin(
    of address: SocketAddress, on loop: EventLoop, _ operation: String, _ completion: @escaping Completion
  ) throws(EventLoopError) -> HostResolution {
    let resolution = HostResolution(of: address, operation, completion)
    unsafe resolution.memory.pointee.data = unsafe Unmanaged.passRetained(resolution).toOpaque()
    let status = unsafe resolution.ask(loop.native.loop) { request, status, list in
      guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
      let resolution = unsafe Unmanaged<HostResolution>.fromOpaque(data).takeRetainedValue()
      let result = unsafe resolution.finish(status, list)
      resolution.completion.take()?(result)
    }
    guard status == 0 else {
      unsafe Unmanaged.passUnretained(resolution).release()  // the reference that libuv would hold
      throw EventLoopError(status: status, operation)
    }
    return resolution
  }

  /// Returns the addresses of a host, and blocks until the system has returned them.
  static func wait(
    for address: SocketAddress, on loop: EventLoop, _ operation: String
  ) throws(EventLoopError) -> [SocketAddress] {
    let resolution = HostResolution(of: address, operation, nil)
    let status = unsafe resolution.ask(loop.native.loop, nil)
    return try unsafe resolution.finish(status, resolution.memory.pointee.addrinfo).get()
  }

  /// Cancels the question: its completion does not run any more. Does nothing once the completion has run.
  func cancel() {
    guard completion.take() != nil else { return }
    unsafe uv_cancel(UnsafeMutableRawPointer(memory).assumingMemoryBound(to: uv_req_t.self))
  }

  private func ask(_ loop: UnsafeMutablePointer<uv_loop_t>, _ callback: uv_getaddrinfo_cb?) -> Int32 {
    // libuv reads up to the first NUL.
    if address.host.utf8.contains(0) { return UV_EINVAL.rawValue }
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    return unsafe uv_getaddrinfo(loop, memory, callback, address.host, nil, &hints)
  }

  /// Takes the list of the system, and releases it.
  private func finish(
    _ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?
  ) -> Result<[SocketAddress], EventLoopError> {
    defer { unsafe uv_freeaddrinfo(list) }
    guard status == 0 else { return .failure(EventLoopError(status: status, operation)) }
    var addresses: [SocketAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let found = unsafe SocketAddress(entry.pointee.ai_addr, port: address.port) { addresses.append(found) }
      unsafe next = unsafe entry.pointee.ai_next
    }
    guard !addresses.isEmpty else { return .failure(EventLoopError(status: UV_EAI_NODATA.rawValue, operation)) }
    return .success(addresses)
  }
}
