public import Beans
import BeansEventLoop
public import BeansRedis

extension RedisOptions {
  /// Creates options from the URL of a server, with TLS for `rediss://`. See `init(url:)`.
  ///
  /// With `redis://` and with a Unix socket, the connections use no TLS, and the options of TLS are only checked.
  ///
  /// - Parameters:
  ///   - url: the URL. Usually a secret of the configuration.
  ///   - tls: the certificates and the name.
  ///   - file: the source file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.invalidDeclaration` for a malformed URL, and as `useTLS` does.
  public init(
    url: String, tls: TLSOptions, file: StaticString = #fileID, line: UInt = #line
  ) throws(EnvironmentError) {
    try self.init(url: url, layer: tls.makeLayerFactory(file, line), file: file, line: line)
  }

  /// Makes all connections use TLS, also those to Sentinels.
  ///
  /// Reads the files of the options, which blocks for some milliseconds: call it when the service starts. A server's
  /// certificate that cannot be verified fails each call of the store with `SessionError.unavailable`, which names the
  /// server, the reason and the remedy.
  ///
  /// - Parameters:
  ///   - options: the certificates and the name.
  ///   - file: the source file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.invalidDeclaration` for a file that cannot be read, for contents that are no certificate or key, and
  ///   for a key that is not that of the certificate.
  public mutating func useTLS(
    _ options: TLSOptions = TLSOptions(), file: StaticString = #fileID, line: UInt = #line
  ) throws(EnvironmentError) {
    layer = try options.makeLayerFactory(file, line)
  }
}

extension TLSOptions {
  fileprivate func makeLayerFactory(
    _ file: StaticString, _ line: UInt
  ) throws(EnvironmentError) -> StreamLayerFactory {
    do throws(TLSOptionsFault) {
      let context = try TLSContext(self)
      return { host throws(StreamLayerError) in try context.makeLayer(host: host) }
    } catch {
      throw EnvironmentError(
        .invalidDeclaration, "TLS cannot be used: \(error.reason)", origin: .init(file: "\(file)", line: Int(line)))
    }
  }
}
