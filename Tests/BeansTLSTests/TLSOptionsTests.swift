import TestSupport
import Testing

@testable import BeansTLS

/// The faults of options, which are found when they are used, before any connection.
@Suite struct TLSOptionsTests {
  private func fault(_ change: (inout TLSOptions) -> Void) throws -> String {
    var options = TLSOptions()
    change(&options)
    return try #require(throws: TLSOptionsFault.self) { _ = try TLSContext(options) }.reason
  }

  @Test func aMissingFileIsNamed() throws {
    let text = try fault { $0.roots = .file("/nowhere/ca.pem") }
    #expect(text == "/nowhere/ca.pem cannot be read: No such file or directory")
  }

  @Test func bytesThatAreNotPEMAreAFault() throws {
    let text = try fault { $0.roots = .bytes([1, 2, 3]) }
    #expect(text.hasPrefix("PEM of 3 bytes contains no certificate in PEM form"), "\(text)")
  }

  @Test func aDamagedCertificateAfterAnotherIsAFault() throws {
    let pem = Authority().pem
    let text = try fault { $0.roots = .bytes(pem + pem.dropLast(60) + Array("\n-----END CERTIFICATE-----\n".utf8)) }
    #expect(text.contains("a damaged one"), "\(text)")
  }

  @Test func aKeyWithoutItsCertificateIsAFault() throws {
    let own = Authority().issue()
    #expect(try fault { $0.key = .bytes(own.key) }.contains("TLSOptions.key is set without its certificate"))
    let other = try fault { $0.certificate = .bytes(own.certificate) }
    #expect(other.contains("TLSOptions.certificate is set without its key"))
  }

  @Test func theKeyOfAnotherCertificateIsAFault() throws {
    let authority = Authority()
    let (own, other) = (authority.issue(), authority.issue())
    let text = try fault {
      $0.certificate = .bytes(own.certificate)
      $0.key = .bytes(other.key)
    }
    #expect(text.contains("is not that of the certificate"), "\(text)")
  }

  /// It is not asked for at the terminal either.
  @Test func aKeyWithAPasswordIsAFault() throws {
    let own = Authority().issue()
    let text = try fault {
      $0.certificate = .bytes(own.certificate)
      $0.key = .bytes(Authority.encrypted(own))
    }
    #expect(text.contains("has a password"), "\(text)")
  }

  @Test func certificateAndKeyMayBeInOneFile() throws {
    let own = Authority().issue()
    let folder = try TemporaryDirectory()
    let path = try folder.write("client.pem", own.key + own.certificate)
    var options = TLSOptions()
    options.certificate = .file(path)
    options.key = .file(path)
    _ = try TLSContext(options)
  }

  @Test func aDescriptionHasNoSecret() {
    #expect("\(TLSOptions.PEM.bytes(Array("secret".utf8)))" == "PEM of 6 bytes")
    #expect("\(TLSOptions.PEM.file("/etc/key.pem"))" == "/etc/key.pem")
  }
}
