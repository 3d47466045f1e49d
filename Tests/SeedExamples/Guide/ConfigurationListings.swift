// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans
import BeansJSON

struct MailSettings: ValidatedConfiguration, Sendable {
  struct Refusal: Error {}

  let host: String
  let port: UInt16
  let timeout: Duration?
  let maxSize: ByteCount
  let recipients: [String]
  let headers: [String: String]?

  func validate() throws { if recipients.isEmpty { throw Refusal() } }
}

final class Mailer: Sendable {
  let settings: MailSettings
  init(settings: MailSettings) { self.settings = settings }
}

func declareMail(in post: Environment, file: String, variables: [String: String], arguments: [String]) throws {
  try post.addConfigurationSource(JSONConfigurationSource(path: file))
  try post.addConfigurationSource(ProcessInfoConfigurationSource(variables: variables, prefix: "POST"))
  try post.addConfigurationSource(CommandLineConfigurationSource(arguments: arguments, flags: ["verbose"]))
  try post.define(MailSettings.self, configuration: "mail", rejectsUnknownKeys: true)
  try post.define(post.bean(Mailer.self, factory: Mailer.init))
}
// end

// listing
final class Throttle: Initializable {
  var rate = 0
}

func declareThrottle(in post: Environment) throws {
  try post.define(post.bean(Throttle.self).property(\.rate, resolve: "${post:rate=10}"))
}
// end

// listing
import BeansEventLoop
import BeansServer

struct Limits: Decodable, Sendable {
  let perMinute: Int
  let burst: Int
}

final class Limiter: Sendable {
  private let limits: ConfigurationValue<Limits>
  init(limits: ConfigurationValue<Limits>) { self.limits = limits }

  func allows(_ count: Int) -> Bool { count < limits.value.perMinute + limits.value.burst }
}

func declareLimits(in gateway: Environment, file: String, on loop: EventLoop) throws {
  try gateway.addConfigurationSource(WatchedConfigurationSource(path: file, on: loop, format: JSONText.items))
  try gateway.define(ConfigurationValue<Limits>.self, configuration: "limits")
  try gateway.define(gateway.bean(Limiter.self, factory: Limiter.init))
}

func watch(_ gateway: Environment, _ changed: @escaping @Sendable (Int) -> Void) -> ConfigurationListener {
  gateway.configurationManager.addListener(Int.self, key: "limits.burst", changed)
}
// end
