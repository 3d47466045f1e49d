import BeansEventLoop
import COpenSSL

/// The certificates of `TLSOptions`, read and parsed: the part that all connections with these options share.
@safe final class TLSContext: @unchecked Sendable {
  // Safe to send: nothing changes the context after `init`, and OpenSSL counts the references of its connections
  // atomically.

  /// OpenSSL's context, which this object frees.
  private let native: OpaquePointer
  private let serverName: String?

  /// Reads the files of the options, which blocks.
  init(_ options: TLSOptions) throws(TLSOptionsFault) {
    OpenSSLErrors.clear()
    guard let native = unsafe SSL_CTX_new(TLS_client_method()) else {
      throw TLSOptionsFault("OpenSSL cannot be used: \(OpenSSLErrors.firstText)")
    }
    unsafe self.native = unsafe native
    serverName = options.serverName
    // From here on, `deinit` frees the context where an error is thrown.
    guard unsafe copenssl_set_minimum_version(native, TLS1_2_VERSION) == 1 else {
      throw TLSOptionsFault("this OpenSSL has no TLS 1.2")
    }
    unsafe copenssl_refuse_renegotiation(native)
    unsafe copenssl_keep_no_sessions(native)
    unsafe copenssl_release_buffers(native)
    unsafe SSL_CTX_set_verify(native, SSL_VERIFY_PEER, TLSLayer.didVerify)
    try trust(options.roots)
    try identify(options.certificate, options.key)
  }

  deinit { unsafe SSL_CTX_free(native) }

  private func trust(_ roots: TLSOptions.PEM?) throws(TLSOptionsFault) {
    guard let roots else {
      guard unsafe SSL_CTX_set_default_verify_paths(native) == 1 else {
        throw TLSOptionsFault("the authorities of the system cannot be read: \(OpenSSLErrors.firstText)")
      }
      return
    }
    let store = unsafe SSL_CTX_get_cert_store(native)
    // The store adds a reference.
    for certificate in try roots.certificates() { unsafe X509_STORE_add_cert(store, certificate.native) }
  }

  private func identify(_ certificate: TLSOptions.PEM?, _ key: TLSOptions.PEM?) throws(TLSOptionsFault) {
    guard let certificate, let key else {
      if certificate != nil { throw TLSOptionsFault("TLSOptions.certificate is set without its key: set both") }
      if key != nil { throw TLSOptionsFault("TLSOptions.key is set without its certificate: set both") }
      return
    }
    let (chain, privateKey) = (try certificate.certificates(), try key.privateKey())
    OpenSSLErrors.clear()
    // The context adds references to the certificates and the key.
    guard unsafe SSL_CTX_use_certificate(native, chain[0].native) == 1 else {
      throw TLSOptionsFault("the certificate in \(certificate) cannot be used: \(OpenSSLErrors.firstText)")
    }
    for intermediate in chain.dropFirst() { unsafe copenssl_add_chain_certificate(native, intermediate.native) }
    guard unsafe SSL_CTX_use_PrivateKey(native, privateKey.native) == 1 else {
      throw TLSOptionsFault(
        "the key in \(key) is not that of the certificate in \(certificate): \(OpenSSLErrors.firstText)")
    }
  }

  /// Makes the layer of one connection.
  ///
  /// - Throws: where `host` is not a name that a certificate can contain.
  func makeLayer(host: String) throws(StreamLayerError) -> TLSLayer {
    guard let ssl = unsafe SSL_new(native) else { throw StreamLayerError("OpenSSL has not enough memory") }
    return try unsafe TLSLayer(owning: ssl, verifying: PeerName(serverName ?? host))
  }
}
