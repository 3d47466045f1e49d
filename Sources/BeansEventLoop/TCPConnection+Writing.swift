import CLibuv

extension TCPConnection {
  /// What is told about a write: nil when the system has taken all of it.
  public typealias WriteCompletion = (EventLoopError?) -> Void

  /// Sends `bytes` after everything written before. On the loop's thread.
  ///
  /// What the socket takes at once is sent without a copy; the rest is copied and queued. Watch `isWritable` or
  /// `writeQueueSize`, and go on in `onDrain`, or a slow peer makes the queue grow without bound.
  ///
  /// - Parameters:
  ///   - bytes: what is sent; none are no error.
  ///   - completion: called exactly once, and not before `write` has returned (unless the loop has been closed): with nil
  ///     when the system has taken all bytes, with `.cancelled` when the connection was closed before, with
  ///     `.handleClosed` or `.notConnected` when it no longer takes writes, else with what the system said; the
  ///     connection is then closed for that reason.
  public func write(_ bytes: [UInt8], completion: WriteCompletion? = nil) {
    unsafe bytes.withUnsafeBytes { unsafe write($0, completion: completion) }
  }

  /// Sends `bytes`, which need to be valid during the call only. See `write(_:completion:)` for arrays.
  public func write(_ bytes: UnsafeRawBufferPointer, completion: WriteCompletion? = nil) {
    loop.preconditionMayUseHandles()
    guard isOpen, unsafe !closesAfterWrites else {
      return complete(completion, EventLoopError(.handleClosed, "write"))
    }
    guard unsafe !isShutDown else { return complete(completion, EventLoopError(.notConnected, "write")) }
    guard let base = bytes.baseAddress, unsafe !bytes.isEmpty else { return complete(completion, nil) }

    var buffer = unsafe uv_buf_init(
      UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: CChar.self),
      // libuv's length is 32 bits wide; what is beyond goes to the queue.
      UInt32(min(bytes.count, 1 << 30)))
    let sent = unsafe uv_try_write(stream, &buffer, 1)
    if sent == bytes.count { return complete(completion, nil) }
    guard sent >= 0 || sent == UV_EAGAIN.rawValue else {
      let error = EventLoopError(status: sent, "write")
      complete(completion, error)
      return fail(error)
    }
    unsafe enqueue(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(max(sent, 0)))), completion)
  }

  /// Sends what the socket takes at once, without a copy or a completion, and returns how many bytes that were. On the loop's
  /// thread.
  ///
  /// None where writes are queued, refused or fail: `write` the rest, which tells why.
  public func tryWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
    loop.preconditionMayUseHandles()
    guard isOpen, unsafe !closesAfterWrites, unsafe !isShutDown, let base = bytes.baseAddress, unsafe !bytes.isEmpty
    else { return 0 }
    var buffer = unsafe uv_buf_init(
      UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: CChar.self), UInt32(min(bytes.count, 1 << 30)))
    return unsafe Int(max(uv_try_write(stream, &buffer, 1), 0))
  }

  /// Bytes that have been written and not yet been taken by the system.
  public var writeQueueSize: Int {
    loop.preconditionMayUseHandles()
    return unsafe state == .closed ? 0 : uv_stream_get_write_queue_size(stream)
  }

  /// Whether the connection takes writes and its queue is below `highWaterMark`.
  public var isWritable: Bool {
    unsafe isOpen && !closesAfterWrites && !isShutDown && writeQueueSize < highWaterMark
  }

  /// Closes this side once everything written has been sent; the connection still reads. Later writes are refused.
  /// - Parameter completion: Called exactly once, with nil when the peer will see the end.
  public func shutdown(completion: WriteCompletion? = nil) {
    loop.preconditionMayUseHandles()
    guard isOpen else { return complete(completion, EventLoopError(.handleClosed, "shut down")) }
    guard unsafe !isShutDown else { return complete(completion, nil) }
    unsafe isShutDown = true
    let request = unsafe WriteRequest(for: self, size: MemoryLayout<uv_shutdown_t>.size, completion)
    let status = unsafe uv_shutdown(request.memory.assumingMemoryBound(to: uv_shutdown_t.self), stream) {
      shutdown, status in
      guard let shutdown = unsafe shutdown else { return }
      let request = unsafe WriteRequest.finish(shutdown)
      request.completion?(status == 0 ? nil : EventLoopError(status: status, "shut down"))
      request.connection.finishWriting()
    }
    if status != 0 {
      unsafe WriteRequest.finish(request.memory)
      complete(completion, EventLoopError(status: status, "shut down"))
    }
  }

  private func enqueue(_ bytes: UnsafeRawBufferPointer, _ completion: WriteCompletion?) {
    let request = unsafe WriteRequest(for: self, size: MemoryLayout<uv_write_t>.size, copying: bytes, completion)
    var buffers: [uv_buf_t] = unsafe []
    var rest = unsafe request.bytes
    while unsafe !rest.isEmpty {
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: rest.prefix(1 << 30))
      unsafe buffers.append(uv_buf_init(part.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(part.count)))
      unsafe rest = unsafe UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(part.count))
    }
    let status = unsafe uv_write(
      request.memory.assumingMemoryBound(to: uv_write_t.self), stream, buffers, UInt32(buffers.count)
    ) { write, status in
      guard let write = unsafe write else { return }
      let request = unsafe WriteRequest.finish(write)
      request.connection.didWrite(status, request.completion)
    }
    guard status == 0 else {
      let error = EventLoopError(status: status, "write")
      unsafe WriteRequest.finish(request.memory)
      complete(completion, error)
      return fail(error)
    }
    if unsafe writeQueueSize >= highWaterMark { unsafe isAboveHighWater = true }
  }

  private func didWrite(_ status: Int32, _ completion: WriteCompletion?) {
    guard status == 0 else {
      let error = EventLoopError(status: status, "write")
      // After a failure libuv leaves the writes behind it where they are; closing completes them.
      fail(error)
      completion?(error)
      return
    }
    completion?(nil)
    if unsafe isAboveHighWater, isOpen, unsafe writeQueueSize <= highWaterMark / 2 {
      unsafe isAboveHighWater = false
      onDrain?()
    }
    finishWriting()
  }

  private func finishWriting() {
    if unsafe closesAfterWrites, isOpen, writeQueueSize == 0 { closeNow() }
  }

  /// Later, because a completion that writes again would otherwise recurse for as long as the socket takes everything.
  private func complete(_ completion: WriteCompletion?, _ error: EventLoopError?) {
    guard let completion else { return }
    // A loop that has been closed has no later.
    guard state != .closed || !loop.isClosed else { return completion(error) }
    loop.afterwards { completion(error) }
  }
}
