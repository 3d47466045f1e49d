import BeansErrors
import Foundation
import TestSupport
import Testing

@testable import BeansConfiguration

@Suite struct SectionTests {
  private let manager = ConfigurationManager()

  private func add(_ values: [String: any Sendable], url: String = "file") throws {
    try manager.addSource(FixedSource(url, canOverrule: true, values))
  }

  private func variables(_ variables: [String: String]) throws {
    try manager.addSource(ProcessInfoConfigurationSource(variables: variables))
  }

  /// Reads a faulty section, and returns its faults.
  private func faults<T: Decodable>(
    _ type: T.Type, _ prefix: String = "mail", rejectsUnknownKeys: Bool = false
  ) throws -> [EnvironmentError] {
    let error = try #require(
      #expect(throws: EnvironmentError.self) {
        try manager.getConfiguration(type, prefix: prefix, rejectsUnknownKeys: rejectsUnknownKeys)
      })
    return error.underlying.count < 2 ? [error] : error.underlying.compactMap { $0 as? EnvironmentError }
  }

  // MARK: types

  private struct Mail: Decodable, Equatable {
    enum Mode: String, Decodable { case plain, tls }
    struct Retry: Decodable, Equatable {
      let count: Int
      let delay: Duration
    }
    let host: String
    let port: UInt16
    let mode: Mode
    let timeout: Duration?
    let maxSize: ByteCount
    let recipients: [String]
    let headers: [String: String]?
    let retry: Retry
    let proxy: Retry?
  }

  /// A type with a text form of its own, of which no value can be made up.
  private struct Address: Decodable {
    struct Refusal: Error {}
    init(from decoder: any Decoder) throws {
      guard try decoder.singleValueContainer().decode(String.self).contains("@") else { throw Refusal() }
    }
  }

  private struct Letter: Decodable {
    let from: Address
    let weight: Int
    let copies: Int?
    let stamp: String
  }

  /// A type whose keys are not the names of its properties.
  private struct Parcel: Decodable {
    enum CodingKeys: String, CodingKey { case from = "sender", weight = "grams" }
    let from: Address
    let weight: Int
  }

  @Test func aValueWithoutAStandInHidesNoOther() throws {
    try add(["mail.from": "nobody", "mail.weight": "heavy", "mail.copies": "two", "mail.wieght": 1])
    let faults = try faults(Letter.self, rejectsUnknownKeys: true)
    #expect(faults.count == 4, "\(faults)")
    for part in ["'mail.from'", "'mail.weight'", "'mail.copies'", "'mail.wieght'"] {
      #expect(faults.contains { $0.message.contains(part) }, "\(part)")
    }
    #expect(faults.contains { $0.message.hasSuffix("missing values of Letter are not checked yet") })
  }

  @Test func keysOfATypeThatIsNotDecodedToTheEndAreNotUnknown() throws {
    try add(["mail.sender": "nobody", "mail.grams": "heavy", "mail.size": 1])
    let faults = try faults(Parcel.self, rejectsUnknownKeys: true)
    #expect(faults.count == 1)
    #expect(faults.first?.message.hasSuffix("further values of Parcel are not checked yet") == true)
  }

  @Test func optionsThatNothingReadsAreUnknown() throws {
    try manager.addSource(CommandLineConfigurationSource(arguments: ["--host=h", "--prot=1"]))
    try variables(["PATH": "/bin"])
    struct Service: Decodable {
      let host: String
      let port: Int?
    }
    let faults = try faults(Service.self, "", rejectsUnknownKeys: true)
    #expect(faults.count == 1)
    #expect(
      faults.first?.message.contains("'prot' of command line has no place in Service; did you mean 'port'") == true)
  }

  private static let mail = Mail(
    host: "h", port: 25, mode: .tls, timeout: .seconds(3), maxSize: ByteCount(64 << 20), recipients: ["a", "b"],
    headers: ["x.y": "1"], retry: Mail.Retry(count: 3, delay: .milliseconds(250)), proxy: nil)

  @Test func aSectionIsReadFromAFile() throws {
    try add([
      "mail.host": "h", "mail.port": 25, "mail.mode": "tls", "mail.timeout": "3s", "mail.maxSize": "64 MiB",
      "mail.recipients": ["a", "b"], "mail.headers.x.y": 1, "mail.retry.count": 3, "mail.retry.delay": "250ms",
    ])
    #expect(try manager.getConfiguration(Mail.self, prefix: "mail") == Self.mail)
    #expect(try manager.getConfiguration(Mail?.self, prefix: "mail") == Self.mail)
    #expect(try manager.getConfiguration(Mail?.self, prefix: "post") == nil)
  }

  @Test(arguments: ["mail", "post:mail", "post.mail"])
  func aSectionIsReadFromVariables(prefix: String) throws {
    let name = prefix == "mail" ? "MAIL" : "POST_MAIL"
    try variables([
      "\(name)_HOST": "h", "\(name)_PORT": "25", "\(name)_MODE": "tls", "\(name)_TIMEOUT": "3s",
      "\(name)_MAX_SIZE": "64 MiB", "\(name)_RECIPIENTS_0": "a", "\(name)_RECIPIENTS_1": "b",
      "\(name)_HEADERS_X_Y": "1", "\(name)_RETRY_COUNT": "3", "\(name)_RETRY_DELAY": "250ms", "\(name)": "/var/mail",
    ])
    #expect(try manager.getConfiguration(Mail.self, prefix: prefix) == Self.mail)
  }

  @Test func everySourceContributesToASection() throws {
    try add([
      "mail.host": "${name}", "mail.port": 1, "mail.mode": "plain", "mail.maxSize": 64 << 20, "mail.recipients": "x",
      "mail.headers.x.y": "0", "mail.retry.count": 3, "mail.retry.delay": "250ms", "name": "h",
    ])
    try variables(["MAIL_PORT": "25", "MAIL_HEADERS_X_Y": "1", "MAIL_RECIPIENTS": "a, b"])
    try manager.addSource(
      CommandLineConfigurationSource(arguments: ["--mail.mode", "tls", "--mail-timeout", "3s"]))
    #expect(try manager.getConfiguration(Mail.self, prefix: "mail") == Self.mail)
  }

  @Test func allFaultsOfASectionAreFoundAtOnce() throws {
    try manager.addSource(
      FixedSource(
        "app.conf",
        [
          ConfigurationItem(key: "mail.hots", value: "h", line: 3),
          ConfigurationItem(key: "mail.port", value: "x", line: 4),
          ConfigurationItem(key: "mail.maxSize", value: "big", line: 5),
          ConfigurationItem(key: "mail.retry.delay", value: "30", line: 6),
        ]))
    try variables(["MAIL_TIMEOUT": "soon", "MAIL_RETRY_CONUT": "3"])
    let faults = try faults(Mail.self)
    let text = faults.map { "\($0)" }.joined(separator: "\n")
    for part in [
      "'mail.host'", "did you mean 'mail.hots' of app.conf:3?", "'mail.port' of app.conf:4", "'mail.mode'",
      "'MAIL_TIMEOUT' of environment variables", "'mail.maxSize' of app.conf:5", "'mail.recipients'",
      "'mail.retry.count'", "did you mean 'MAIL_RETRY_CONUT' of environment variables?",
      "'mail.retry.delay' of app.conf:6",
    ] { #expect(text.contains(part), "\(part) is not in \(text)") }
    #expect(faults.count == 8, "\(text)")
    #expect(faults.filter { $0.code == .missingConfiguration }.count == 4)
    #expect(faults.first { $0.message.contains("maxSize") }?.origin?.line == 5)
  }

  @Test func anUnknownKeyIsAFaultOnRequest() throws {
    struct Small: Decodable {
      let port: Int
      let name: String?
    }
    try manager.addSource(
      FixedSource(
        "app.conf", [ConfigurationItem(key: "mail.nmae", value: "n", line: 2), .init(key: "mail.port", value: 1)]))
    try variables(["MAIL_PROT": "2", "MAILBOX": "x"])
    #expect(try manager.getConfiguration(Small.self, prefix: "mail").port == 1)
    let faults = try faults(Small.self, rejectsUnknownKeys: true)
    #expect(faults.count == 2)
    let text = faults.map(\.message).joined(separator: "\n")
    for part in [
      "'mail.nmae' of app.conf:2", "did you mean 'mail.name'?", "'MAIL_PROT' of environment variables",
      "did you mean 'MAIL_PORT'?",
    ] { #expect(text.contains(part), "\(part) is not in \(text)") }
    #expect(faults.allSatisfy { $0.code == .invalidDeclaration })
  }

  @Test func aTypeChecksItself() throws {
    struct Pool: ValidatedConfiguration {
      struct Refusal: Error, CustomStringConvertible { let description: String }
      let least: Int
      let most: Int
      func validate() throws { if least > most { throw Refusal(description: "\(least) is more than \(most)") } }
    }
    struct Outer: Decodable {
      let pool: Pool
      let name: String
    }
    try add(["db.pool.least": 2, "db.pool.most": 3, "db.name": "n"])
    #expect(try manager.getConfiguration(Outer.self, prefix: "db").pool.most == 3)
    try add(["db.pool.most": 1], url: "other")
    let fault = try #require(try faults(Outer.self, "db").first)
    #expect(fault.code == .conversionFailed)
    #expect(fault.message.contains("'db.pool' is refused by Pool: 2 is more than 1"), "\(fault)")
    #expect(fault.underlying.first is Pool.Refusal)
    // The check runs only when all of its values are valid.
    try add(["db.pool.most": "x"], url: "third")
    #expect(try faults(Outer.self, "db").map(\.code) == [.conversionFailed])
  }

  @Test func typesMayDecodeInTheirOwnWay() throws {
    struct Custom: Decodable {
      let port: Int
      let either: String
      let url: URL
      let id: UUID
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        port = (try? container.decode(Int.self, forKey: .port)) ?? 8080
        either =
          if let number = try? container.decode(Int.self, forKey: .either) { "number \(number)" } else {
            try container.decode(String.self, forKey: .either)
          }
        url = try container.decode(URL.self, forKey: .url)
        id = try container.decodeIfPresent(UUID.self, forKey: .id) ?? UUID()
      }
      enum Key: CodingKey { case port, either, url, id }
    }
    try add(["a.either": "x", "a.url": "http://h:1/p", "a.id": "00000000-0000-0000-0000-000000000001"])
    let custom = try manager.getConfiguration(Custom.self, prefix: "a")
    #expect(custom.port == 8080)
    #expect(custom.either == "x")
    #expect(custom.url.port == 1)
    #expect(custom.id.uuidString.hasSuffix("1"))
    #expect(try manager.getValue(URL.self, key: "a.url").host() == "h")
    #expect(code { try manager.getValue(UUID.self, key: "a.either") } == .conversionFailed)
  }

  @Test func recursiveTypesAreDecodedOrRefused() throws {
    struct Tree: Decodable {
      let name: String
      let children: [Tree]?
    }
    final class Chain: Decodable { let next: Chain }
    try add(["t.name": "root", "t.children.0.name": "a", "t.children.0.children.0.name": "b", "t.children.1.name": "c"])
    let tree = try manager.getConfiguration(Tree.self, prefix: "t")
    #expect(tree.children?.map(\.name) == ["a", "c"])
    #expect(tree.children?.first?.children?.first?.name == "b")
    #expect(try !faults(Chain.self, "t").isEmpty)
  }

  @Test func aFaultReportsAnEnumThatEndsTheSearch() throws {
    struct Settings: Decodable {
      let mode: Mail.Mode
      let port: Int
    }
    try add(["s.mode": "ssl"])
    let found = try faults(Settings.self, "s")
    #expect(found.first?.message.contains("'s.mode' of file") == true)
    #expect(found.count == 2 || found.first?.message.contains("further values of Settings") == true, "\(found)")
  }

  @Test func secretsOfASectionAreNotShown() throws {
    struct Login: Decodable {
      let user: String
      let password: Int
    }
    try add(["db.user": "u", "db.password": "hunter2"])
    let fault = try #require(try faults(Login.self, "db").first)
    #expect(!fault.report.contains("hunter2"))
    #expect(fault.message.contains("'db.password' of file"))
  }

  // MARK: lists and dictionaries

  @Test func variablesFormLists() throws {
    try variables(["MY_LIST_0": "1", "MY_LIST_1": "2", "TEXT": "3, 4", "PART_0": "x", "PART_2": "z"])
    #expect(try manager.getValue([Int].self, key: "my.list") == [1, 2])
    #expect(try manager.getValue(Set<Int>.self, key: "my.list") == [1, 2])
    #expect(try manager.getValue([Int]?.self, key: "my.list") == [1, 2])
    #expect(try manager.getValue([Int].self, key: "text") == [3, 4])
    #expect(try manager.getValue([Int]?.self, key: "none") == nil)
    #expect(try manager.getValue([Int].self, key: "none", defaultValue: [5]) == [5])
    #expect(code { try manager.getValue([Int].self, key: "none") } == .missingConfiguration)
    let gap = #expect(throws: EnvironmentError.self) { try manager.getValue([String].self, key: "part") }
    #expect(gap?.message.contains("element 2, and none 1") == true)
    #expect(try manager.resolve("${my.list}", as: [Int].self) as? [Int] == [1, 2])
  }

  @Test func aLaterElementChangesAList() throws {
    try add(["hosts": "a,b"])
    try variables(["HOSTS_0": "c"])
    #expect(try manager.getValue([String].self, key: "hosts") == ["c", "b"])
    try add(["hosts": "d"], url: "last")
    #expect(try manager.getValue([String].self, key: "hosts") == ["d"])
  }

  @Test func keysBelowAPrefixFormDictionaries() throws {
    try add(["limits.read": 1, "limits.write": "2", "deep.a.x": 1, "deep.a.y": 2, "deep.b.x": 3, "lists.a": "1,2"])
    try variables(["LIMITS_WRITE": "3", "LIMITS_OTHER_ONE": "4"])
    #expect(try manager.getValue([String: Int].self, key: "limits") == ["read": 1, "write": 3, "other.one": 4])
    #expect(try manager.getConfiguration([String: Int].self, prefix: "limits").count == 3)
    #expect(
      try manager.getConfiguration([String: [String: Int]].self, prefix: "deep") == [
        "a": ["x": 1, "y": 2], "b": ["x": 3],
      ])
    #expect(try manager.getConfiguration([String: [Int]].self, prefix: "lists") == ["a": [1, 2]])
    #expect(try manager.getValue([String: Int]?.self, key: "none") == nil)
    #expect(try manager.getValue([String: Int].self, key: "none", defaultValue: [:]).isEmpty)
    #expect(code { try manager.getConfiguration([String: Int].self, prefix: "none") } == .missingConfiguration)
    #expect(code { try manager.getValue([String: Bool].self, key: "limits") } == .conversionFailed)
  }

  @Test func dictionariesAndListsMayContainTypes() throws {
    struct Server: Decodable, Equatable {
      let host: String
      let port: Int?
    }
    try add(["s.a.host": "h", "s.b.host": "i", "s.b.port": 1])
    try variables(["L_0_HOST": "x", "L_1_HOST": "y", "L_1_PORT": "2"])
    let (a, b) = (Server(host: "h", port: nil), Server(host: "i", port: 1))
    #expect(try manager.getConfiguration([String: Server].self, prefix: "s") == ["a": a, "b": b])
    #expect(
      try manager.getConfiguration([Server].self, prefix: "l") == [
        Server(host: "x", port: nil), Server(host: "y", port: 2),
      ])
  }

  @Test func probesAreNotReportedAsReads() throws {
    try add(["hosts": "a,b"])
    _ = try manager.getValue([String].self, key: "hosts")
    _ = try manager.getConfiguration(Mail?.self, prefix: "mail")
    let keys = manager.entries.filter { $0.source == nil }.map(\.key)
    #expect(!keys.contains { $0.hasPrefix("hosts") })
  }
}
