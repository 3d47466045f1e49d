import BeansEventLoop
import COpenSSL

/// The name or the numeric address that the server's certificate has to contain.
struct PeerName: CustomStringConvertible {
  let description: String

  /// Takes a host as programs name it: without the dot at the end of a complete name, without the interface after an
  /// IPv6 address.
  init(_ host: String) {
    let address = host.contains(":") ? host.prefix { $0 != "%" } : host[...]
    description = String(address.hasSuffix(".") ? address.dropLast() : address)
  }

  /// Makes a connection ask the server for this name, and accept only a certificate that contains it.
  func require(on ssl: OpaquePointer) throws(StreamLayerError) {
    guard !description.hasPrefix("unix:") else {
      throw StreamLayerError("the path of a Unix socket is not a name in a certificate: set TLSOptions.serverName")
    }
    guard isPlain else {
      throw StreamLayerError("'\(description.printable)' is not a name in a certificate: write it in ASCII (xn--…)")
    }
    // Accepts only numeric addresses, which have no server name (RFC 6066).
    if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), description) == 1 { return }
    unsafe SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    let isSet = unsafe SSL_set1_host(ssl, description) == 1 && copenssl_set_server_name(ssl, description) == 1
    guard isSet else { throw StreamLayerError("'\(description)' is not a name in a certificate") }
  }

  /// Whether the name is not empty and consists of visible ASCII: a NUL would end it early for OpenSSL.
  private var isPlain: Bool { !description.isEmpty && description.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
}

extension String {
  /// The visible ASCII of a text from outside, at most 100 characters.
  var printable: String {
    String(decoding: utf8.lazy.filter { $0 >= 0x20 && $0 < 0x7F }.prefix(100), as: UTF8.self)
  }
}
