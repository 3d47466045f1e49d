import COpenSSL

/// The text of a failure of the protocol.
enum TLSFault {
  /// Returns the text of an error of OpenSSL's library for TLS (0 for another one), with a remedy where there is one.
  static func reason(_ number: Int32) -> String {
    // OpenSSL reports an alert of the peer as 1000 and its number.
    let alert = number - SSL_AD_REASON_OFFSET
    if (0...255).contains(alert) { return reason(alert: alert) }
    switch number {
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_WRONG_VERSION_NUMBER:
      return "the server uses a version of TLS before 1.2: enable TLS 1.2 or 1.3 there"
    case SSL_R_TOO_MANY_WARN_ALERTS: return "the server sends too many alerts"
    default: return "the server breaks the rules of TLS: \(OpenSSLErrors.firstText)"
    }
  }

  private static func reason(alert: Int32) -> String {
    let name = unsafe SSL_alert_desc_string_long(alert).map { unsafe String(cString: $0) } ?? "unknown"
    let text = "the server ended TLS with the alert '\(name)'"
    switch alert {
    case SSL_AD_CERTIFICATE_REQUIRED: return "the server requires a certificate: set TLSOptions.certificate and key"
    case SSL_AD_HANDSHAKE_FAILURE:
      return "\(text): it may require a certificate (TLSOptions.certificate) or other ciphers"
    case SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED,
      SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA, SSL_AD_ACCESS_DENIED:
      return "\(text): it does not accept TLSOptions.certificate"
    case SSL_AD_PROTOCOL_VERSION: return "\(text): it has neither TLS 1.2 nor TLS 1.3"
    case SSL_AD_UNRECOGNIZED_NAME: return "\(text): it does not have the name; check the host and TLSOptions.serverName"
    default: return text
    }
  }
}
