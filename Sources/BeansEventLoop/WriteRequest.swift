import CLibuv

/// One write or shutdown that libuv is working on: its request struct and, behind it, the bytes.
///
/// libuv's callback holds the only lasting reference; until it comes, neither the memory nor the connection can go.
@safe final class WriteRequest {
  /// The libuv request, at a stable address.
  let memory: UnsafeMutableRawPointer
  /// A copy of what is to be written, in the same allocation.
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

  /// Takes back the reference that was handed to libuv, from the callback or after a call that failed.
  @discardableResult
  static func finish(_ memory: UnsafeMutableRawPointer) -> WriteRequest {
    guard let data = unsafe memory.assumingMemoryBound(to: uv_req_t.self).pointee.data else {
      preconditionFailure("BUG in BeansEventLoop: a request without its object")
    }
    return unsafe Unmanaged<WriteRequest>.fromOpaque(data).takeRetainedValue()
  }
}
