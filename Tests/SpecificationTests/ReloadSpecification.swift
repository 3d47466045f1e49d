import Beans
import BeansInject
import Testing

@Suite("Values that are read at use") struct ReloadSpecification {
  private struct Mail: Decodable, Sendable, Equatable {
    let host: String
    let port: Int
  }

  private final class Sender: Sendable {
    let mail: ConfigurationValue<Mail>
    let timeout: ConfigurationValue<Duration>
    init(mail: ConfigurationValue<Mail>, timeout: ConfigurationValue<Duration>) {
      (self.mail, self.timeout) = (mail, timeout)
    }
  }

  private final class Limiter: Initializable, BeanDescriptorInitializer {
    private(set) var rate: ConfigurationValue<Int>?

    static func initializeBeanDescriptor(_ descriptor: BeanDescriptor) throws {
      try descriptor["rate"].inject(InjectConfigurationValue(key: "rate", defaultValue: 10))
    }
  }

  /// A source whose values are replaced.
  private final class File: ConfigurationSource {
    let url = "file"
    let canOverrule = true
    private let values: [String: String]
    init(_ values: [String: String]) { self.values = values }

    func load(_ manager: ConfigurationManager) throws {
      for (key, value) in values { try manager.configurationAdded(.init(key: key, value: value), source: self) }
    }

    func replace(_ values: [String: String], in environment: Environment) throws {
      try environment.configurationManager.configurationReplaced(
        with: values.map { .init(key: $0.key, value: $0.value) }, source: self)
    }
  }

  private let file = File(["mail.host": "a", "mail.port": "25", "mail.timeout": "3s"])

  private func shop() throws -> Environment {
    let environment = try Environment(name: "shop")
    try environment.addConfigurationSource(file)
    try environment.define(environment.bean(Sender.self, factory: Sender.init).argument(1, resolve: "${mail.timeout}"))
    try environment.define(environment.bean(ConfigurationValue<Mail>.self, configuration: "mail"))
    return environment
  }

  @Test("A bean that keeps a section or a value gets those of the latest reload")
  func reload() throws {
    let environment = try shop()
    let sender = try environment.getBean(Sender.self)
    #expect(sender.mail.value == Mail(host: "a", port: 25))
    #expect(sender.timeout.value == .seconds(3))
    try file.replace(["mail.host": "b", "mail.port": "26", "mail.timeout": "4s"], in: environment)
    #expect(sender.mail.value == Mail(host: "b", port: 26))
    #expect(sender.timeout.value == .seconds(4))
    #expect(try environment.getBean(ConfigurationValue<Mail>.self) === sender.mail)
  }

  @Test("An injected property may be a value that is read at use")
  func injection() throws {
    let environment = try shop()
    try environment.define(environment.bean(Limiter.self))
    let rate = try #require(try environment.getBean(Limiter.self).rate)
    #expect(rate.value == 10)
    try file.replace(["rate": "20"], in: environment)
    #expect(rate.value == 20)
  }

  @Test("A reload that makes a section invalid leaves the last valid one")
  func invalid() throws {
    let environment = try shop()
    let sender = try environment.getBean(Sender.self)
    try file.replace(["mail.host": "b", "mail.port": "many"], in: environment)
    #expect(sender.mail.value == Mail(host: "a", port: 25))
    #expect(sender.timeout.value == .seconds(3))
  }

  @Test("Startup checks a section that is read at use")
  func startup() throws {
    let environment = try Environment(name: "shop")
    try environment.addConfigurationSource(File(["mail.host": "a", "mail.prot": "25"]))
    try environment.define(
      environment.bean(ConfigurationValue<Mail>.self, configuration: "mail", rejectsUnknownKeys: true))
    let faults = try startupFaults(of: environment)
    #expect(Set(faults.map(\.code)) == [.missingConfiguration, .invalidDeclaration])
  }

  @Test("Concurrent readers get valid values during reloads")
  func threads() async throws {
    let environment = try shop()
    let sender = try environment.getBean(Sender.self)
    let file = file
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var last = 0
          for _ in 0..<400 {
            let mail = sender.mail.value
            #expect(mail.host == "a" || mail.host == "\(mail.port)")
            #expect(mail.port >= last || last == 25)
            last = mail.port
          }
        }
      }
      group.addTask {
        for number in 100..<400 {
          try file.replace(
            ["mail.host": "\(number)", "mail.port": "\(number)", "mail.timeout": "\(number)s"], in: environment)
        }
      }
      try await group.waitForAll()
    }
    #expect(sender.mail.value.port == 399)
    #expect(sender.timeout.value == .seconds(399))
  }
}
