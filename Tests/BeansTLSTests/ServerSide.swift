import COpenSSL

/// The server's side of TLS, of the test's own: bytes in, bytes out.
final class ServerSide {
  private let context: OpaquePointer
  let ssl: OpaquePointer
  private let received: OpaquePointer
  private let toSend: OpaquePointer

  /// - Parameters:
  ///   - clients: the certificate of the authority of clients, in PEM form; nil where clients need no certificate.
  ///   - version: the only version of TLS; nil for all from 1.2 on.
  init(_ identity: Identity, clients: [UInt8]? = nil, version: Int32? = nil) {
    context = SSL_CTX_new(TLS_server_method())
    // The oldest versions are not allowed on higher levels.
    SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0")
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version ?? TLS1_2_VERSION), nil)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version ?? 0), nil)
    let certificate = Self.read(identity.certificate) { PEM_read_bio_X509($0, nil, nil, nil) }
    let key = Self.read(identity.key) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
    SSL_CTX_use_certificate(context, certificate)
    SSL_CTX_use_PrivateKey(context, key)
    X509_free(certificate)
    EVP_PKEY_free(key)
    if let clients {
      let root = Self.read(clients) { PEM_read_bio_X509($0, nil, nil, nil) }
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root)
      X509_free(root)
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
    ssl = SSL_new(context)
    received = BIO_new(BIO_s_mem())
    toSend = BIO_new(BIO_s_mem())
    SSL_set_bio(ssl, received, toSend)
    SSL_set_accept_state(ssl)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  /// Takes bytes of the client, and returns the plaintext.
  func receive(_ bytes: [UInt8]) -> [UInt8] {
    ERR_clear_error()
    if !bytes.isEmpty { BIO_write(received, bytes, Int32(bytes.count)) }
    var plaintext: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var count = 0
    while SSL_read_ex(ssl, &buffer, buffer.count, &count) == 1 { plaintext += buffer[..<count] }
    return plaintext
  }

  /// Returns the bytes for the client.
  func bytes() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(toSend))
    if !bytes.isEmpty { BIO_read(toSend, &bytes, Int32(bytes.count)) }
    return bytes
  }

  /// Returns the bytes for the client that carry this text.
  func encrypt(_ text: [UInt8]) -> [UInt8] {
    var count = 0
    if !text.isEmpty { SSL_write_ex(ssl, text, text.count, &count) }
    return bytes()
  }

  /// Returns the bytes that end this side.
  func end() -> [UInt8] {
    SSL_shutdown(ssl)
    return bytes()
  }

  /// Returns the bytes that ask the client for another handshake. For TLS 1.2.
  func requestRenegotiation() -> [UInt8] {
    SSL_renegotiate(ssl)
    SSL_do_handshake(ssl)
    return bytes()
  }

  /// Returns the bytes that announce a new key, and ask the client for one. For TLS 1.3.
  func updateKey() -> [UInt8] {
    SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED)
    SSL_do_handshake(ssl)
    return bytes()
  }

  /// Whether the client has ended its side.
  var hasEnded: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

  /// The name that the client asks for.
  var requestedName: String? { SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) } }

  private static func read(_ pem: [UInt8], _ body: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
    let input = BIO_new(BIO_s_mem())
    defer { BIO_free(input) }
    BIO_write(input, pem, Int32(pem.count))
    return body(input)
  }
}
