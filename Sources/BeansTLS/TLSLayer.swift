import BeansEventLoop
import COpenSSL

/// The client side of TLS on one connection: bytes in, bytes out, without a socket.
///
/// Belongs to the thread of its connection's loop.
@safe final class TLSLayer: StreamLayer {
  private enum Phase {
    case handshake
    case open
    /// The peer has ended its side.
    case ended
    case failed
  }

  /// The number of bytes that OpenSSL takes at once. Its buffers never shrink.
  private static let portion = 16 * 1024

  /// The number of bytes with which OpenSSL may reply in a row: about 40 new keys.
  private static let longestReply = 1_024

  // This object frees `ssl`, which owns the two buffers.
  private let ssl: OpaquePointer
  private let received: OpaquePointer
  private let toSend: OpaquePointer
  private let name: PeerName
  private var phase = Phase.handshake
  /// The number of bytes with which OpenSSL has replied since the last plaintext, after the handshake.
  private var replied = 0
  /// Whether a first byte has arrived.
  private var hasReceived = false
  private(set) var isReady = false
  /// The reason why the server's certificate was refused.
  private var refusal: String?

  /// Takes ownership of a new connection of OpenSSL, also where it throws.
  init(owning ssl: OpaquePointer, verifying name: PeerName) throws(StreamLayerError) {
    guard let received = unsafe BIO_new(BIO_s_mem()), let toSend = unsafe BIO_new(BIO_s_mem()) else {
      unsafe SSL_free(ssl)
      throw StreamLayerError("OpenSSL has not enough memory")
    }
    unsafe SSL_set_bio(ssl, received, toSend)
    unsafe SSL_set_connect_state(ssl)
    unsafe self.ssl = unsafe ssl
    unsafe self.received = unsafe received
    unsafe self.toSend = unsafe toSend
    self.name = name
    // From here on, `deinit` frees the connection. OpenSSL calls `didVerify` only inside of calls of this object, so the
    // address is valid then.
    unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    try unsafe name.require(on: ssl)
  }

  deinit { unsafe SSL_free(ssl) }

  // MARK: StreamLayer

  func begin() throws(StreamLayerError) -> [UInt8] {
    try shakeHands()
    return takeBytesToSend()
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(StreamLayerError) -> StreamLayerOutput {
    try checkFirst(unsafe bytes.first)
    var output = StreamLayerOutput()
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty, phase == .handshake || phase == .open {
      let part = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(Self.portion))
      unsafe rest = unsafe rest.dropFirst(part.count)
      let count = unsafe BIO_write(received, part.baseAddress, Int32(part.count))
      guard count == part.count else { throw fail("OpenSSL has not enough memory") }
      let (wasReady, known) = (isReady, output.plaintext.count)
      if phase == .handshake { try shakeHands() }
      if phase == .open { try read(into: &output.plaintext) }
      let reply = takeBytesToSend()
      if wasReady { try checkReply(reply, hasPlaintext: output.plaintext.count > known) }
      output.reply += reply
    }
    output.hasEnded = phase == .ended
    return output
  }

  func receiveEnd() throws(StreamLayerError) {
    switch phase {
    case .handshake:
      throw fail("the server closed the connection during the TLS handshake: check that it uses TLS on this port")
    case .open: throw fail("the server closed the connection without the end of TLS, so bytes may be missing")
    case .ended, .failed: break
    }
  }

  func send(_ bytes: UnsafeRawBufferPointer) throws(StreamLayerError) -> [UInt8] {
    var (output, rest): ([UInt8], Slice<UnsafeRawBufferPointer>) = unsafe ([], bytes[...])
    while unsafe !rest.isEmpty {
      let part = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(Self.portion))
      unsafe rest = unsafe rest.dropFirst(part.count)
      OpenSSLErrors.clear()
      var count = 0
      let result = unsafe SSL_write_ex(ssl, part.baseAddress, part.count, &count)
      // A buffer in memory takes all bytes.
      guard result == 1, count == part.count else { throw failure(result) }
      output += takeBytesToSend()
    }
    return output
  }

  func end() -> [UInt8] {
    guard phase == .open || phase == .ended else { return [] }
    OpenSSLErrors.clear()
    unsafe SSL_shutdown(ssl)
    return takeBytesToSend()
  }

  // MARK: OpenSSL

  private func checkFirst(_ byte: UInt8?) throws(StreamLayerError) {
    guard !hasReceived, let byte else { return }
    hasReceived = true
    let isTLS = byte == UInt8(SSL3_RT_HANDSHAKE) || byte == UInt8(SSL3_RT_ALERT)
    if !isTLS { throw fail("the server does not use TLS on this port: connect to its port for TLS, or without TLS") }
  }

  /// Checks the bytes with which OpenSSL replies after the handshake by itself.
  private func checkReply(_ reply: [UInt8], hasPlaintext: Bool) throws(StreamLayerError) {
    replied = hasPlaintext ? 0 : replied + reply.count
    let isTLS12 = unsafe SSL_version(ssl) == TLS1_2_VERSION
    // In TLS 1.2, only a request for another handshake has a reply; in TLS 1.3, only one for new keys.
    if isTLS12, !reply.isEmpty {
      throw fail("the server requested a renegotiation, which is never allowed", sending: reply)
    }
    if replied > Self.longestReply { throw fail("the server requests new keys without end") }
  }

  private func shakeHands() throws(StreamLayerError) {
    OpenSSLErrors.clear()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 {
      isReady = true
      phase = .open
    } else if unsafe SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ {
      throw failure(result)
    }
  }

  private func read(into plaintext: inout [UInt8]) throws(StreamLayerError) {
    let failed = unsafe withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 16) { buffer -> Int32? in
      while true {
        OpenSSLErrors.clear()
        var count = 0
        let result = unsafe SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        guard result == 1 else { return result }
        unsafe plaintext.append(contentsOf: buffer.prefix(count))
      }
    }
    guard let failed else { return }
    switch unsafe SSL_get_error(ssl, failed) {
    case SSL_ERROR_WANT_READ: break
    case SSL_ERROR_ZERO_RETURN: phase = .ended
    default: throw failure(failed)
    }
  }

  private func takeBytesToSend() -> [UInt8] {
    let count = unsafe BIO_ctrl_pending(toSend)
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = unsafe Int(max(BIO_read(toSend, buffer.baseAddress, Int32(clamping: count)), 0))
    }
  }

  // MARK: failures

  private func failure(_ result: Int32) -> StreamLayerError {
    if let refusal { return fail(refusal) }
    return fail(TLSFault.reason(OpenSSLErrors.firstReason(in: ERR_LIB_SSL)))
  }

  private func fail(_ reason: String, sending bytes: [UInt8] = []) -> StreamLayerError {
    phase = .failed
    OpenSSLErrors.clear()
    return StreamLayerError(reason, alert: bytes + takeBytesToSend())
  }

  /// Keeps the reason for which OpenSSL refuses a certificate. Afterwards, OpenSSL forgets the certificate.
  static let didVerify: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isTrusted, verification in
    guard isTrusted == 0, let ssl = unsafe copenssl_connection_of(verification),
      let address = unsafe SSL_get_ex_data(ssl, 0),
      let certificate = unsafe X509_STORE_CTX_get_current_cert(verification)
    else { return isTrusted }
    let layer = unsafe Unmanaged<TLSLayer>.fromOpaque(address).takeUnretainedValue()
    let error = unsafe X509_STORE_CTX_get_error(verification)
    let isServers = unsafe X509_STORE_CTX_get_error_depth(verification) == 0
    layer.refusal = unsafe CertificateFault.reason(
      error, Certificate(retaining: certificate), isServers: isServers, expecting: layer.name)
    return isTrusted
  }
}
