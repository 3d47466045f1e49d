/// The certificates and the name with which a connection uses TLS.
///
/// The server's certificate and its name are always verified. TLS 1.2 and TLS 1.3 are used; the other settings, such as the
/// ciphers, are those of OpenSSL and of the system.
///
/// ```swift
/// var tls = TLSOptions()
/// tls.roots = .file("/etc/sessions/ca.pem")
/// ```
public struct TLSOptions: Sendable {
  /// Certificates or a key in PEM form.
  public struct PEM: Sendable, CustomStringConvertible {
    enum Source: Sendable {
      case file(String)
      case bytes([UInt8])
    }

    let source: Source

    /// Returns the contents of a file, which is read when the options are used, not before.
    public static func file(_ path: String) -> PEM { PEM(source: .file(path)) }

    /// Returns contents in memory, such as from a secret of the configuration.
    public static func bytes(_ bytes: [UInt8]) -> PEM { PEM(source: .bytes(bytes)) }

    /// The path of the file, or the number of bytes; never the contents.
    public var description: String {
      switch source {
      case .file(let path): path
      case .bytes(let bytes): "PEM of \(bytes.count) bytes"
      }
    }
  }

  /// The certificates of the authorities to trust; nil for those of the system.
  ///
  /// On Debian, the package `ca-certificates` installs those of the system.
  public var roots: PEM?
  /// The certificate to send to a server that requires one, followed by those of intermediate authorities.
  public var certificate: PEM?
  /// The private key of `certificate`, without a password. May be in the same file.
  public var key: PEM?
  /// The name to ask the server for (SNI), which its certificate has to contain; nil for the host of the connection.
  public var serverName: String?

  /// Creates options that trust the authorities of the system.
  public init() {}
}
