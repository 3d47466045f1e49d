/// A layer between a client connection and its socket that transforms the bytes of both directions, such as TLS.
///
/// A layer belongs to one connection, which calls it on the loop's thread, one call at a time. It never uses the socket
/// itself.
package protocol StreamLayer: AnyObject {
  /// Whether the handshake is complete. Once true, it stays true.
  var isReady: Bool { get }

  /// Begins the handshake, once the socket is connected. Returns the bytes to send.
  func begin() throws(StreamLayerError) -> [UInt8]

  /// Takes bytes that have arrived, at most 64 KiB, which are valid only during the call.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(StreamLayerError) -> StreamLayerOutput

  /// Handles the end of the peer's side where no output had `hasEnded`. Throws if bytes may be missing, and during the
  /// handshake.
  func receiveEnd() throws(StreamLayerError)

  /// Transforms bytes of the program to bytes to send. Called only when the handshake is complete.
  func send(_ bytes: UnsafeRawBufferPointer) throws(StreamLayerError) -> [UInt8]

  /// Ends this side, at most once. Returns the last bytes to send. Called only when the handshake is complete.
  func end() -> [UInt8]
}

/// The result of bytes that a layer has received.
package struct StreamLayerOutput {
  /// The bytes for the program.
  package var plaintext: [UInt8]
  /// The bytes to send to the peer, before any other.
  package var reply: [UInt8]
  /// Whether the peer has ended its side in the way of the layer.
  package var hasEnded: Bool

  package init(plaintext: [UInt8] = [], reply: [UInt8] = [], hasEnded: Bool = false) {
    self.plaintext = plaintext
    self.reply = reply
    self.hasEnded = hasEnded
  }
}

/// The failure of a layer. It closes the connection, with the code `.layerFailed`.
package struct StreamLayerError: Error, Equatable {
  /// The reason, for people. Contains no secret.
  package let reason: String
  /// The last bytes to send to the peer.
  package let alert: [UInt8]

  package init(_ reason: String, alert: [UInt8] = []) {
    self.reason = reason
    self.alert = alert
  }
}

/// Makes the layer of a connection to `host`, which is the host as the caller of `connect` has named it.
package typealias StreamLayerFactory = @Sendable (_ host: String) throws(StreamLayerError) -> any StreamLayer

/// The options of a connection that a program makes.
package struct ConnectOptions: Sendable {
  /// Whether small writes are sent at once (`TCP_NODELAY`).
  package var noDelay = true
  /// The time limit to resolve the host and to connect to one of its addresses; nil for no limit. The handshake of a
  /// layer is not included.
  package var timeout: Duration?
  /// Makes the layer of the connection; nil for a connection without one.
  package var layer: StreamLayerFactory?
  /// Returns the addresses of a name, for tests; nil to ask the system.
  package var resolve: (@Sendable (SocketAddress) -> [SocketAddress])?

  package init() {}
}
