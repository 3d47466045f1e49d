import BeansEventLoop
import COpenSSL
import Testing

@testable import BeansTLS

/// A client of the module and a server of the test, without a socket.
struct Conversation {
  let client: TLSLayer
  let server: ServerSide

  init(
    _ server: ServerSide, host: String = "localhost", trusting authority: Authority? = nil,
    _ change: (inout TLSOptions) -> Void = { _ in }
  ) throws {
    var options = TLSOptions()
    options.roots = authority.map { .bytes($0.pem) }
    change(&options)
    client = try TLSContext(options).makeLayer(host: host)
    self.server = server
  }

  /// Carries bytes to and fro, until neither side has any. Returns the client's plaintext.
  @discardableResult
  func shakeHands() throws -> [UInt8] {
    var plaintext: [UInt8] = []
    var bytes = try client.begin()
    while !bytes.isEmpty {
      _ = server.receive(bytes)
      let output = try client.receive(server.bytes())
      plaintext += output.plaintext
      bytes = output.reply
    }
    return plaintext
  }

  /// Returns the reason why the handshake fails.
  func refusal() throws -> String {
    try #require(throws: StreamLayerError.self) { try shakeHands() }.reason
  }
}

extension TLSLayer {
  func receive(_ bytes: [UInt8]) throws(StreamLayerError) -> StreamLayerOutput {
    // `withUnsafeBytes` does not keep the type of the error.
    let result = bytes.withUnsafeBytes { bytes in Result { () throws(StreamLayerError) in try receive(bytes) } }
    return try result.get()
  }

  func send(_ text: String) throws -> [UInt8] {
    try Array(text.utf8).withUnsafeBytes { try send($0) }
  }
}
