import CLibuv

/// One write or shutdown in flight: the request struct of libuv, followed by the bytes.
///
/// libuv's callback holds the only lasting reference; until it runs, neither the memory nor the connection is
/// deallocated.
@safe final class WriteRequest {
  /// The libuv request, at a stable address.
  let memory: UnsafeMutableRawPointer
  /// A copy of the bytes to write, in the same allocation.
  let bytes: UnsafeMutableRawBufferPointer
  let connection: TCPConnection
  let completion: TCPConnection.WriteCompletion?

  init(
    for connection: TCPConnection, size: Int,
    copying source: UnsafeRawBufferPointer = unsafe .init(start: nil, count: 0),
    _ completion: TCPConnection.WriteCompletion?
  ) {
    self.connection = connection
    self.completion = completion
    unsafe memory = .allocate(byteCount: size + source.count, alignment: 16)
    unsafe bytes = unsafe UnsafeMutableRawBufferPointer(start: memory + size, count: source.count)
    unsafe bytes.copyMemory(from: source)
    unsafe memory.assumingMemoryBound(to: uv_req_t.self).pointee.data = unsafe Unmanaged.passRetained(self).toOpaque()
  }

  deinit { unsafe memory.deallocate() }

  /// Takes back the reference that libuv holds, in the callback or after a failed call.
  @discardableResult
  static func finish(_ memory: UnsafeMutableRawPointer) -> WriteRequest {
    guard let data = unsafe memory.assumingMemoryBound(to: uv_req_t.self).pointee.data else {
      preconditionFailure("BUG in BeansEventLoop: a request without its object")
    }
    return unsafe Unmanaged<WriteRequest>.fromOpaque(data).takeRetainedValue()
  }
}
