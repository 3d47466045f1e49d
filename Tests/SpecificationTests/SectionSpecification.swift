import Beans
import Testing

@Suite("Sections of the configuration") struct SectionSpecification {
  private struct Mail: Decodable, Sendable, Equatable {
    let host: String
    let port: Int
    let timeout: Duration?
  }

  private final class Mailer: Sendable {
    let mail: Mail
    init(mail: Mail) { self.mail = mail }
  }

  private func environment(_ variables: [String: String]) throws -> Environment {
    let environment = try Environment(name: "shop")
    return try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: variables))
  }

  @Test("A section is read as a type")
  func reading() throws {
    let environment = try environment(["MAIL_HOST": "h", "MAIL_PORT": "25"])
    #expect(
      try environment.configurationManager.getConfiguration(Mail.self, prefix: "mail")
        == Mail(host: "h", port: 25, timeout: nil))
    let fault = try requireFault(.missingConfiguration) {
      try environment.configurationManager.getConfiguration(Mail.self, prefix: "mial")
    }
    #expect(fault.underlying.count == 2)
    try environment.shutdown()
  }

  @Test("A section is a bean, and other beans take it")
  func bean() throws {
    let environment = try environment(["MAIL_HOST": "h", "MAIL_PORT": "25", "MAIL_TIMEOUT": "3s", "POST_HOST": "p"])
    try environment.define(environment.bean(Mailer.self, factory: Mailer.init))
    try environment.define(environment.bean(Mail.self, configuration: "mail"))
    #expect(try environment.getBean(Mailer.self).mail == Mail(host: "h", port: 25, timeout: .seconds(3)))
    #expect(try environment.getBean(Mail.self).port == 25)
  }

  @Test("Every fault of a section is a fault of startup, before anything is built, with all others")
  func faults() throws {
    let environment = try environment(["MAIL_HOST": "h", "MAIL_PROT": "25", "MAIL_TIMEOUT": "soon"])
    let journal = Journal()
    try environment.define(
      environment.bean(Mailer.self, factory: { (mail: Mail) in journal.noting("built", Mailer(mail: mail)) })
        .requires(id: "nowhere"))
    let (declaration, line) = (
      environment.bean(Mail.self, configuration: "mail", id: "mail", rejectsUnknownKeys: true), #line
    )
    try environment.define(declaration)
    let faults = try startupFaults(of: environment)
    #expect(
      Set(faults.map(\.code)) == [.unknownBean, .missingConfiguration, .conversionFailed, .invalidDeclaration],
      "\(faults)")
    #expect(faults.count == 4)
    let ours = faults.filter { $0.code != .unknownBean }
    #expect(ours.allSatisfy { $0.isFrom(file: #fileID, line: line) && $0.passes("mail") })
    let text = ours.map(\.message).joined(separator: "\n")
    for part in [
      "'mail.port'", "its environment variable is MAIL_PORT", "did you mean 'MAIL_PROT' of environment variables?",
      "'MAIL_TIMEOUT' of environment variables", "'MAIL_PROT' of environment variables has no place in Mail",
    ] { #expect(text.contains(part), "\(part) is not in \(text)") }
    #expect(journal.entries.isEmpty)
  }

  @Test("A section may come from a source that is a bean")
  func sourceBean() throws {
    let environment = try Environment(name: "shop")
    try environment.define(environment.bean(Mail.self, configuration: "mail"))
    try environment.define(
      environment.bean(
        ProcessInfoConfigurationSource.self,
        factory: { ProcessInfoConfigurationSource(variables: ["MAIL_HOST": "h", "MAIL_PORT": "1"]) }))
    #expect(try environment.getBean(Mail.self).port == 1)
  }

  @Test("A child's section has the child's values before those of its parent")
  func hierarchy() throws {
    let parent = try environment(["MAIL_HOST": "h", "MAIL_PORT": "25"])
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.settings().setValue(key: "mail.port", value: 26))
    try child.define(child.bean(Mail.self, configuration: "mail"))
    #expect(try child.getBean(Mail.self) == Mail(host: "h", port: 26, timeout: nil))
    #expect(try parent.configurationManager.getConfiguration(Mail.self, prefix: "mail").port == 25)
    try parent.shutdown()
  }

  @Test("A section that checks itself is checked at startup")
  func validation() throws {
    struct Refusal: Error {}
    struct Pool: ValidatedConfiguration, Sendable {
      let size: Int
      func validate() throws { if size < 1 { throw Refusal() } }
    }
    let environment = try environment(["POOL_SIZE": "0"])
    try environment.define(environment.bean(Pool.self, configuration: "pool"))
    let fault = try requireFault(.conversionFailed) { try environment.startup() }
    #expect(fault.underlying.first is Refusal)
  }
}
