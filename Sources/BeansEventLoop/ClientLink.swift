/// The part of a client connection beside its socket: the attempts to connect and the writes that wait until it is
/// established, and its layer, if it has one.
///
/// Belongs to the thread of the connection's loop. The connection drops its link when it is established without a layer,
/// or has been closed.
final class ClientLink {
  private let connection: TCPConnection
  private let address: SocketAddress
  private let options: ConnectOptions
  /// Nil once it has been called.
  private var completion: (@Sendable (Result<TCPConnection, EventLoopError>) -> Void)?
  private var attempts: ConnectAttempts?
  private var layer: (any StreamLayer)?
  private(set) var isEstablished = false
  var isInHandshake: Bool { layer != nil && !isEstablished }
  private var waiting: [(bytes: [UInt8], completion: TCPConnection.WriteCompletion?)] = []
  private(set) var waitingBytes = 0
  /// The bytes from the layer that have arrived while the connection was paused.
  private var plaintext: [UInt8] = []
  private var peerHasEnded = false
  private var hasEnded = false

  init(
    of connection: TCPConnection, to address: SocketAddress, options: ConnectOptions,
    _ completion: @escaping @Sendable (Result<TCPConnection, EventLoopError>) -> Void
  ) {
    self.connection = connection
    self.address = address
    self.options = options
    self.completion = completion
  }

  // MARK: connecting

  func connect() {
    let attempts = ConnectAttempts(of: connection, to: address, options: options) { [self] error in
      self.attempts = nil
      if let error { fail(error) } else { beginLayer() }
    }
    self.attempts = attempts
    attempts.begin()
  }

  private func beginLayer() {
    // A Unix socket has no such option.
    if options.noDelay, address.unixPath == nil { try? connection.setNoDelay(true) }
    guard let makeLayer = options.layer else { return establish() }
    do throws(StreamLayerError) {
      let layer = try makeLayer(address.host)
      self.layer = layer
      connection.send(try layer.begin())
      connection.startReading()
    } catch {
      fail(error, operation)
    }
  }

  private func establish() {
    guard connection.isOpen else { return }
    isEstablished = true
    let writes = waiting
    (waiting, waitingBytes) = ([], 0)
    if connection.isReadingPaused { connection.stopReading() } else { connection.startReading() }
    if layer == nil { unsafe connection.link = nil }
    for write in writes {
      unsafe write.bytes.withUnsafeBytes { bytes in
        if layer == nil {
          unsafe connection.send(bytes, write.completion)
        } else {
          unsafe self.write(bytes, write.completion)
        }
      }
    }
    if unsafe connection.closesAfterWrites { connection.send(end()) }
    connection.hasFlushed()
    completion.take()?(.success(connection))
  }

  private var operation: String { "connect to \(address)" }

  private func fail(_ error: EventLoopError) {
    connection.fail(error)
    completion.take()?(.failure(error))
  }

  private func fail(_ error: StreamLayerError, _ operation: String) {
    if !error.alert.isEmpty { connection.sendAtOnce(error.alert) }
    fail(EventLoopError(.layerFailed, operation, detail: error.reason))
  }

  /// Completes what waits, when libuv has released the connection.
  func didClose(_ reason: TCPConnection.CloseReason) {
    attempts?.cancel()
    attempts = nil
    let writes = waiting
    waiting = []
    for write in writes { write.completion?(EventLoopError(.cancelled, "write")) }
    let error = if case .failed(let error) = reason { error } else { EventLoopError(.cancelled, operation) }
    completion.take()?(.failure(error))
  }

  // MARK: sending

  func write(_ bytes: UnsafeRawBufferPointer, _ completion: TCPConnection.WriteCompletion?) {
    guard isEstablished, let layer else {
      unsafe waiting.append((Array(bytes), completion))
      waitingBytes += bytes.count
      if unsafe waitingBytes >= connection.highWaterMark { unsafe connection.isAboveHighWater = true }
      return
    }
    do throws(StreamLayerError) {
      connection.send(try unsafe layer.send(bytes), completion)
    } catch {
      completion?(EventLoopError(.layerFailed, "write", detail: error.reason))
      fail(error, "write")
    }
  }

  /// Returns the last bytes of this side; none in a second call.
  func end() -> [UInt8] {
    guard isEstablished, !hasEnded, let layer else { return [] }
    hasEnded = true
    return layer.end()
  }

  // MARK: receiving

  /// Handles bytes that have arrived at the socket of a connection with a layer.
  func receive(_ bytes: UnsafeRawBufferPointer) {
    guard let layer else { return }
    do throws(StreamLayerError) {
      let output = try unsafe layer.receive(bytes)
      if !output.reply.isEmpty { connection.send(output.reply) }
      plaintext += output.plaintext
      if output.hasEnded { peerHasEnded = true }
      if !isEstablished, layer.isReady { establish() }
      deliver()
    } catch {
      fail(error, isEstablished ? "read" : operation)
    }
  }

  /// Handles the end of the peer's side of the socket.
  func receiveEnd() {
    guard let layer else { return }
    do throws(StreamLayerError) {
      if !peerHasEnded { try layer.receiveEnd() }
      peerHasEnded = true
      deliver()
    } catch {
      // The peer has ended the connection, for example by a crash; the layer has not failed.
      fail(EventLoopError(.endOfFile, isEstablished ? "read" : operation, detail: error.reason))
    }
  }

  /// Returns the reason that a peer has sent to the layer before it ended the connection; otherwise the error.
  ///
  /// A peer that closes its socket with unread bytes resets the connection. A write then fails while the reason, such as
  /// an alert of TLS, is not read.
  func explain(_ error: EventLoopError) -> EventLoopError {
    guard error.isByPeer, let layer else { return error }
    do throws(StreamLayerError) {
      for _ in 0..<16 {
        let bytes = connection.readRest()
        if bytes.isEmpty { break }
        let result = unsafe bytes.withUnsafeBytes { bytes in
          Result { () throws(StreamLayerError) in try unsafe layer.receive(bytes) }
        }
        _ = try result.get()
      }
      return error
    } catch {
      return EventLoopError(.layerFailed, isEstablished ? "read" : operation, detail: error.reason)
    }
  }

  /// Passes on the bytes that have arrived, and the end of the peer's side, unless the connection is paused.
  func deliver() {
    guard isEstablished, !connection.isReadingPaused else { return }
    if !plaintext.isEmpty {
      var bytes: [UInt8] = []
      swap(&bytes, &plaintext)
      unsafe bytes.withUnsafeBytes { unsafe connection.onRead?($0) }
    }
    if peerHasEnded, plaintext.isEmpty, !connection.isReadingPaused { connection.didEnd() }
  }
}
