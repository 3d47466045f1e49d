import CLibuv

extension TCPConnection {
  /// The callback of a write. Receives nil when the system has taken all bytes.
  typealias WriteCompletion = (EventLoopError?) -> Void

  /// Sends `bytes` after all earlier writes. Call it on the loop's thread.
  ///
  /// Bytes that the socket takes at once are sent without a copy; the rest is copied and queued. Check `isWritable` or
  /// `writeQueueSize`, and continue in `onDrain`, or a slow peer makes the queue grow without bound.
  ///
  /// - Parameters:
  ///   - bytes: the bytes to send, possibly none.
  ///   - completion: called exactly once, and not before `write` has returned (unless the loop has been closed): with
  ///     nil when the system has taken all bytes, with `.cancelled` when the connection was closed before, with
  ///     another error when it no longer accepts writes, otherwise with the error of the system;
  ///     the connection is then closed for that reason.
  public func write(_ bytes: [UInt8], completion: ((EventLoopError?) -> Void)? = nil) {
    unsafe bytes.withUnsafeBytes { unsafe write($0, completion: completion) }
  }

  /// Sends `bytes`, which need to be valid only during the call. See `write(_:completion:)` for arrays.
  public func write(_ bytes: UnsafeRawBufferPointer, completion: ((EventLoopError?) -> Void)? = nil) {
    loop.preconditionMayUseHandles()
    guard isOpen, unsafe !closesAfterWrites else {
      return complete(completion, EventLoopError(.handleClosed, "write"))
    }
    guard unsafe !isShutDown else { return complete(completion, EventLoopError(.notConnected, "write")) }
    guard unsafe !bytes.isEmpty else { return complete(completion, nil) }
    if let link = unsafe link { unsafe link.write(bytes, completion) } else { unsafe send(bytes, completion) }
  }

  /// Sends the bytes of an array through the socket; see `send`.
  func send(_ bytes: [UInt8], _ completion: WriteCompletion? = nil) {
    unsafe bytes.withUnsafeBytes { unsafe send($0, completion) }
  }

  /// Sends bytes through the socket, beside the layer.
  func send(_ bytes: UnsafeRawBufferPointer, _ completion: WriteCompletion?) {
    guard isOpen, let base = bytes.baseAddress, unsafe !bytes.isEmpty else { return complete(completion, nil) }
    var buffer = unsafe uv_buf_init(
      UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: CChar.self),
      // libuv's length is 32 bits wide; the bytes beyond it are queued.
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

  /// Sends the bytes that the socket takes at once, without a copy or a completion, and returns their number. Call it
  /// on the loop's thread.
  ///
  /// Returns 0 when writes are queued, refused or fail: `write` the rest, whose completion receives the error.
  public func tryWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
    loop.preconditionMayUseHandles()
    guard isOpen, unsafe !closesAfterWrites, unsafe !isShutDown, unsafe link == nil else { return 0 }
    return unsafe sendAtOnce(bytes)
  }

  /// Sends the bytes of an array that the socket takes at once, beside the layer.
  func sendAtOnce(_ bytes: [UInt8]) { _ = unsafe bytes.withUnsafeBytes { unsafe sendAtOnce($0) } }

  private func sendAtOnce(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let base = bytes.baseAddress, unsafe !bytes.isEmpty else { return 0 }
    var buffer = unsafe uv_buf_init(
      UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: CChar.self), UInt32(min(bytes.count, 1 << 30)))
    return unsafe Int(max(uv_try_write(stream, &buffer, 1), 0))
  }

  /// The number of written bytes that the system has not yet taken.
  public var writeQueueSize: Int {
    loop.preconditionMayUseHandles()
    if state == .closed { return 0 }
    return unsafe (link?.waitingBytes ?? 0) + uv_stream_get_write_queue_size(stream)
  }

  /// Whether the connection accepts writes and its queue holds less than 64 KiB.
  public var isWritable: Bool {
    unsafe isOpen && !closesAfterWrites && !isShutDown && writeQueueSize < highWaterMark
  }

  /// Closes this side once all written bytes have been sent; the connection still reads. Later writes are refused.
  /// - Parameter completion: Called exactly once, with nil when the peer will see the end.
  public func shutdown(completion: ((EventLoopError?) -> Void)? = nil) {
    loop.preconditionMayUseHandles()
    guard isOpen else { return complete(completion, EventLoopError(.handleClosed, "shut down")) }
    guard unsafe !isShutDown else { return complete(completion, nil) }
    guard unsafe link?.isEstablished != false else {
      return complete(completion, EventLoopError(.notConnected, "shut down"))
    }
    if let last = unsafe link?.end(), !last.isEmpty { send(last) }
    guard isOpen else { return complete(completion, EventLoopError(.handleClosed, "shut down")) }
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
      // After a failure, libuv leaves the later writes in the queue; the close completes them.
      fail(error)
      completion?(error)
      return
    }
    completion?(nil)
    hasFlushed()
  }

  /// Continues after writes that the system has taken.
  func hasFlushed() {
    if unsafe isAboveHighWater, isOpen, unsafe writeQueueSize <= highWaterMark / 2 {
      unsafe isAboveHighWater = false
      onDrain?()
    }
    finishWriting()
  }

  private func finishWriting() {
    if unsafe closesAfterWrites, isOpen, writeQueueSize == 0 { closeNow() }
  }

  /// Defers the completion, because one that writes again would otherwise recurse as long as the socket takes all
  /// bytes.
  private func complete(_ completion: WriteCompletion?, _ error: EventLoopError?) {
    guard let completion else { return }
    // A closed loop runs no deferred closures.
    guard state != .closed || !loop.isClosed else { return completion(error) }
    loop.afterwards { completion(error) }
  }
}
