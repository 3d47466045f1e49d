import BeansTLS
import COpenSSL

/// A certificate and its key, in PEM form, made by the test that uses it.
struct Identity: Sendable {
  let certificate: [UInt8]
  let key: [UInt8]
}

/// An authority of a test, which signs certificates. Used by one thread at a time.
final class Authority {
  private static let day = 24 * 3_600

  let name: String
  private let key: OpaquePointer
  private let certificate: OpaquePointer

  init(_ name: String = "Authority of a test") {
    self.name = name
    key = Self.makeKey()
    certificate = Self.makeCertificate(
      for: name, key, from: -Self.day, until: Self.day,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
      ])
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate))
    X509_sign(certificate, key, EVP_sha256())
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  /// The authority's own certificate, to be trusted.
  var pem: [UInt8] { Self.text { PEM_write_bio_X509($0, certificate) } }

  /// Signs a certificate.
  ///
  /// - Parameters:
  ///   - names: the names, in the form of OpenSSL's configuration; empty for none.
  ///   - from: the begin of the validity, in seconds from now.
  ///   - until: the end of the validity, in seconds from now.
  func issue(_ names: String = "DNS:localhost,IP:127.0.0.1", from: Int = -day, until: Int = day) -> Identity {
    let own = Self.makeKey()
    let signed = Self.makeCertificate(
      for: "certificate", own, from: from, until: until,
      extensions: names.isEmpty ? [] : [(NID_subject_alt_name, names)])
    defer {
      X509_free(signed)
      EVP_PKEY_free(own)
    }
    X509_set_issuer_name(signed, X509_get_subject_name(certificate))
    X509_sign(signed, key, EVP_sha256())
    return Identity(
      certificate: Self.text { PEM_write_bio_X509($0, signed) },
      key: Self.text { PEM_write_bio_PrivateKey($0, own, nil, nil, 0, nil, nil) })
  }

  /// Returns the key of an identity, encrypted with a password.
  static func encrypted(_ identity: Identity) -> [UInt8] {
    let input = BIO_new(BIO_s_mem())
    BIO_write(input, identity.key, Int32(identity.key.count))
    let key = PEM_read_bio_PrivateKey(input, nil, nil, nil)
    defer {
      BIO_free(input)
      EVP_PKEY_free(key)
    }
    return text { PEM_write_bio_PrivateKey($0, key, EVP_aes_128_cbc(), Array("word".utf8), 4, nil, nil) }
  }

  private static func makeKey() -> OpaquePointer {
    let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    EVP_PKEY_keygen_init(context)
    EVP_PKEY_CTX_set_group_name(context, "P-256")
    var key: OpaquePointer?
    EVP_PKEY_generate(context, &key)
    return key!
  }

  /// Makes a certificate without issuer and signature.
  private static func makeCertificate(
    for name: String, _ key: OpaquePointer, from: Int, until: Int, extensions: [(Int32, String)]
  ) -> OpaquePointer {
    let certificate = X509_new()!
    X509_set_version(certificate, Int(X509_VERSION_3))
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64.random(in: 1...UInt64(Int64.max)))
    X509_gmtime_adj(X509_getm_notBefore(certificate), from)
    X509_gmtime_adj(X509_getm_notAfter(certificate), until)
    X509_set_pubkey(certificate, key)
    X509_NAME_add_entry_by_NID(
      X509_get_subject_name(certificate), NID_commonName, MBSTRING_UTF8, Array(name.utf8), Int32(name.utf8.count), -1, 0
    )
    for (kind, value) in extensions {
      let made = X509V3_EXT_conf_nid(nil, nil, kind, value)
      X509_add_ext(certificate, made, -1)
      X509_EXTENSION_free(made)
    }
    return certificate
  }

  private static func text(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
    let output = BIO_new(BIO_s_mem())
    defer { BIO_free(output) }
    precondition(write(output) == 1)
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
    BIO_read(output, &bytes, Int32(bytes.count))
    return bytes
  }
}
