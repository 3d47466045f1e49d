import COpenSSL

extension TLSOptions.PEM {
  /// Returns the certificates, at least one.
  func certificates() throws(TLSOptionsFault) -> [Certificate] {
    let input = try unsafe open()
    defer { unsafe BIO_free(input) }
    var (certificates, hasPassword): ([Certificate], Bool) = ([], false)
    while let certificate = unsafe PEM_read_bio_X509(input, nil, copenssl_refuse_password, &hasPassword) {
      certificates.append(unsafe Certificate(owning: certificate))
    }
    // After the last certificate, nothing else may be wrong.
    guard !certificates.isEmpty, OpenSSLErrors.firstReason(in: ERR_LIB_PEM) == PEM_R_NO_START_LINE else {
      throw TLSOptionsFault("\(self) contains no certificate in PEM form, or a damaged one: \(OpenSSLErrors.firstText)")
    }
    OpenSSLErrors.clear()
    return certificates
  }

  /// Returns the first private key.
  func privateKey() throws(TLSOptionsFault) -> PrivateKey {
    let input = try unsafe open()
    defer { unsafe BIO_free(input) }
    var hasPassword = false
    if let key = unsafe PEM_read_bio_PrivateKey(input, nil, copenssl_refuse_password, &hasPassword) {
      return unsafe PrivateKey(owning: key)
    }
    throw TLSOptionsFault(
      hasPassword
        ? "the key in \(self) has a password: store it without one, readable for the service only"
        : "\(self) contains no private key in PEM form: \(OpenSSLErrors.firstText)")
  }

  /// Returns the contents as a stream, which the caller frees.
  private func open() throws(TLSOptionsFault) -> OpaquePointer {
    OpenSSLErrors.clear()
    switch source {
    case .file(let path):
      guard let file = unsafe BIO_new_file(path, "r") else {
        throw TLSOptionsFault("\(self) cannot be read: \(OpenSSLErrors.firstText)")
      }
      return unsafe file
    case .bytes(let bytes):
      guard let memory = unsafe BIO_new(BIO_s_mem()) else { throw .noMemory }
      guard unsafe BIO_write(memory, bytes, Int32(clamping: bytes.count)) == bytes.count else {
        unsafe BIO_free(memory)
        throw TLSOptionsFault("\(self) cannot be read")
      }
      return unsafe memory
    }
  }
}
