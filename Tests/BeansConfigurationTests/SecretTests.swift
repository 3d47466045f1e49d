import BeansErrors
import TestSupport
import Testing

@testable import BeansConfiguration

@Suite struct SecretTests {
  private let manager = ConfigurationManager()

  /// Calls `read` and returns all texts of the fault.
  private func fault(_ read: () throws -> Void) -> String {
    do {
      try read()
      return "no fault"
    } catch { return "\(error)\n\((error as? EnvironmentError)?.report ?? "")" }
  }

  @Test(arguments: [
    "password", "db.password", "dbPassword", "DB_PASSWORD", "mail.api-key", "apiKey", "jwt.secret", "access_token",
    "aws.credentials", "tls.privateKey", "PASSPHRASE",
  ])
  func aKeyWithTheNameOfASecretIsNotShown(key: String) throws {
    try manager.addSource(FixedSource("file", [key: "hunter2"]))
    #expect(try manager.getValue(String.self, key: key) == "hunter2")
    #expect(manager.report().contains("\(key) = ******\n"))
    #expect(!fault { _ = try manager.getValue(Int.self, key: key) }.contains("hunter2"))
    #expect(fault { _ = try manager.getValue(Int.self, key: key) }.contains("secret"))
  }

  @Test(arguments: ["passwordLength", "token.limit", "key", "monkey", "secretary", "host"])
  func aKeyOfAnotherNameIsShown(key: String) throws {
    try manager.addSource(FixedSource("file", [key: "hunter2"]))
    #expect(manager.report().contains("\(key) = 'hunter2'\n"))
  }

  @Test func aSourceMarksItsValues() throws {
    let item = ConfigurationItem(key: "pin", value: "hunter2", isSecret: true)
    try manager.addSource(FixedSource("file", [item]))
    try manager.addSource(Vault())
    #expect(!manager.report().contains("hunter2"))
    #expect(!manager.report().contains("hunter3"))
    #expect(!fault { _ = try manager.getValue(Int.self, key: "pin") }.contains("hunter2"))
    #expect(!fault { _ = try manager.getValue(Int.self, key: "host") }.contains("hunter3"))
  }

  @Test func aMarkedKeyIsNotShown() throws {
    manager.markSecret(key: "db")
    manager.markSecret(namespace: "post", key: "user")
    let child = ConfigurationManager(parent: manager)
    try child.addSource(
      FixedSource(
        "file",
        [
          ConfigurationItem(key: "db.user", value: "s1"),
          ConfigurationItem(namespace: "post", key: "user", value: "s2"),
          ConfigurationItem(key: "dbx", value: "p1"), ConfigurationItem(key: "user", value: "p2"),
        ]))
    try child.addSource(ProcessInfoConfigurationSource(variables: ["DB_URL": "s3", "DBX": "p3", "POST_USER": "s4"]))
    let report = child.report()
    for number in 1...4 { #expect(!report.contains("s\(number)"), "\(report)") }
    for number in 1...3 { #expect(report.contains("p\(number)"), "\(report)") }
    #expect(!fault { _ = try child.getValue(Int.self, key: "db.url") }.contains("s3"))
  }

  @Test func aTextThatContainsASecretIsNotShown() throws {
    try manager.addSource(
      FixedSource(
        "file",
        [
          "password": "hunter2", "url": "db://ada:${password}@host", "list": ["${url}"],
          "malformed.password": "hunter4${",
        ]))
    #expect(try manager.getValue(String.self, key: "url") == "db://ada:hunter2@host")
    for key in ["url", "list", "malformed.password"] {
      #expect(!fault { _ = try manager.getValue(Int.self, key: key) }.contains("hunter"), "\(key)")
      #expect(!fault { _ = try manager.getValue([Int].self, key: key) }.contains("hunter"), "\(key)")
    }
    #expect(!fault { _ = try manager.resolve("x${url}", as: Int.self) }.contains("hunter"))
    #expect(!fault { _ = try manager.resolve("${password}", as: Int.self) }.contains("hunter"))
  }

  @Test func theErrorOfAUsersConversionIsNotShown() throws {
    struct Refusal: Error { let text: String }
    manager.conversions.register(String.self, targetType: Duration.self) { throw Refusal(text: $0) }
    try manager.addSource(FixedSource("file", ["password": "hunter2"]))
    #expect(!fault { _ = try manager.getValue(Duration.self, key: "password") }.contains("hunter2"))
  }

  private final class Vault: ConfigurationSource {
    let url = "vault"
    let canOverrule = true
    let isSecret = true

    func load(_ manager: ConfigurationManager) throws {
      try manager.configurationAdded(ConfigurationItem(key: "host", value: "hunter3"), source: self)
    }
  }
}
