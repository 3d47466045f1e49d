import COpenSSL
import Glibc

/// A certificate of X.509. Its texts are for people: the certificate may come from an attacker.
@safe final class Certificate {
  private static let longestNameList = 5

  /// OpenSSL's certificate, of which this object has one reference.
  let native: OpaquePointer

  /// Takes over a reference.
  init(owning native: OpaquePointer) { unsafe self.native = unsafe native }

  /// Adds a reference.
  init(retaining native: OpaquePointer) {
    unsafe X509_up_ref(native)
    unsafe self.native = unsafe native
  }

  deinit { unsafe X509_free(native) }

  /// The names and addresses that the certificate is for: at most five, and then an ellipsis.
  var names: [String] {
    guard let list = unsafe X509_get_ext_d2i(native, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(list)
    defer { unsafe GENERAL_NAMES_free(names) }
    var texts: [String] = []
    for index in unsafe 0..<max(OPENSSL_sk_num(names), 0) {
      guard let name = unsafe OPENSSL_sk_value(names, index), let text = unsafe Self.text(name) else { continue }
      guard texts.count < Self.longestNameList else { return texts + ["…"] }
      texts.append(text)
    }
    return texts
  }

  /// The name of the authority that has signed the certificate; `"?"` where it has none.
  var issuer: String {
    var text = [CChar](repeating: 0, count: 101)
    let name = unsafe X509_get_issuer_name(native)
    let count = unsafe X509_NAME_get_text_by_NID(name, NID_commonName, &text, Int32(text.count))
    guard count > 0 else { return "?" }
    return String(decoding: text.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self).printable
  }

  /// The time since the end of the validity, in its largest unit, such as `"10 days"`.
  var timeSinceEnd: String {
    var (days, seconds): (Int32, Int32) = (0, 0)
    // Without a second time, OpenSSL takes the current one.
    guard unsafe ASN1_TIME_diff(&days, &seconds, X509_get0_notAfter(native), nil) == 1 else { return "some time" }
    if days > 0 { return days == 1 ? "1 day" : "\(days) days" }
    if seconds >= 3_600 { return "\(seconds / 3_600) h" }
    return seconds >= 60 ? "\(seconds / 60) min" : "\(seconds) s"
  }

  private static func text(_ name: UnsafeMutableRawPointer) -> String? {
    var kind: Int32 = 0
    let value = unsafe GENERAL_NAME_get0_value(name.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
    guard let value = unsafe value, kind == GEN_DNS || kind == GEN_IPADD else { return nil }
    // Both kinds are strings of ASN.1.
    let string = unsafe value.assumingMemoryBound(to: ASN1_STRING.self)
    let bytes = unsafe UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string)))
    if kind == GEN_DNS { return unsafe String(decoding: bytes, as: UTF8.self).printable }
    return unsafe address(bytes)
  }

  /// Returns the text of an address of 4 or 16 bytes.
  private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard let start = unsafe inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) else { return nil }
    return unsafe String(cString: start)
  }
}

/// A private key.
@safe final class PrivateKey {
  /// OpenSSL's key, of which this object has the only reference but those that OpenSSL counts.
  let native: OpaquePointer

  /// Takes over a reference.
  init(owning native: OpaquePointer) { unsafe self.native = unsafe native }

  deinit { unsafe EVP_PKEY_free(native) }
}
