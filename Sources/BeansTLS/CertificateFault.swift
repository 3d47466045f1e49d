import COpenSSL

/// The text of the reason why OpenSSL refuses a certificate.
enum CertificateFault {
  /// Returns the text.
  ///
  /// - Parameters:
  ///   - error: the number of the reason, `X509_V_ERR_…`.
  ///   - certificate: the refused certificate of the chain.
  ///   - isServers: whether it is the server's own, not that of an authority.
  ///   - name: the name that the server's certificate has to contain.
  static func reason(_ error: Int32, _ certificate: Certificate, isServers: Bool, expecting name: PeerName) -> String {
    let subject = isServers ? "the server's certificate" : "the certificate of an authority of the server"
    switch error {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "\(subject) expired \(certificate.timeSinceEnd) ago: renew it there"
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "\(subject) is not valid yet: check the clock of this machine"
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      let names = certificate.names
      let found = names.isEmpty ? "contains no name" : "is for \(names.joined(separator: ", "))"
      return "\(subject) \(found), not for \(name): connect by a name that it contains, or set TLSOptions.serverName"
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "\(subject) is signed by '\(certificate.issuer)', which is not among the trusted authorities: "
        + "set TLSOptions.roots to its certificate, or install it (on Debian, with ca-certificates)"
    default:
      let text = unsafe X509_verify_cert_error_string(Int(error)).map { unsafe String(cString: $0) } ?? "error \(error)"
      return "\(subject) cannot be verified: \(text)"
    }
  }
}
