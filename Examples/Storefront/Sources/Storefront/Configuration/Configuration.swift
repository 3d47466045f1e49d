import Beans
import BeansJSON

/// The settings of the service: the outermost section of the configuration of its environment.
struct Configuration: ValidatedConfiguration, Equatable, Sendable {
  /// The address to listen on.
  let host: HostAddress
  /// The port to listen on; with 0 the kernel chooses one.
  let port: UInt16
  /// The path of the SQLite file.
  let database: String
  /// The time without a request after which a session ends.
  let sessionIdle: Duration
  /// The maximum number of sessions. Beyond it, a new session evicts the least recently used one; if all are in use, the
  /// request gets `503`.
  let sessions: Int
  /// The time for which a request waits while another process has locked the store; then it gets `503`.
  let storeWait: Duration
  /// The address of the server that keeps sessions for all nodes; nil if sessions are local to this process.
  let redis: ServerAddress?
  /// Whether browsers reach the service by TLS, through a proxy: cookies are then restricted to this host and to TLS.
  let secureCookies: Bool
  /// The port that serves the operations page and its data on localhost only; with 0 the kernel chooses one; nil serves
  /// them nowhere.
  let adminPort: UInt16?
  /// Whether the log has a line for each response.
  let accessLog: Bool
  /// The age from which orders are removed.
  let ordersKept: Duration
  /// The number of loop threads.
  let loops: Int
  /// Whether `GET /by-hand/api/products` is served, for benchmarks.
  let byHand: Bool
  /// The path of a JSON file with settings.
  let config: String?
  /// The settings of the container.
  let beans: ContainerSettings?

  /// The settings that the container reads.
  struct ContainerSettings: Decodable, Equatable, Sendable {
    /// The active profiles; `test` selects a database that exists for one run.
    let profiles: [String]?
  }

  /// - Throws: one error for all values that are out of range.
  func validate() throws {
    let rules: [(isKept: Bool, text: String)] = [
      (
        !database.isEmpty && !database.hasSuffix("/") && !database.utf8.contains(0), "database must be a path to a file"
      ),
      (sessionIdle > .zero, "sessionIdle must be more than 0"),
      (storeWait >= .zero, "storeWait must not be negative"),
      (ordersKept >= .seconds(86_400), "ordersKept must be at least 1d"),
      ((1...10_000_000).contains(sessions), "sessions must be a number from 1 to 10000000"),
      ((1...256).contains(loops), "loops must be a number from 1 to 256"),
    ]
    let broken = rules.filter { !$0.isKept }.map(\.text)
    if !broken.isEmpty { throw Refusal(description: broken.joined(separator: "; ")) }
  }

  private struct Refusal: Error, CustomStringConvertible { let description: String }
}

extension Configuration {
  /// Adds the sources of the settings to an environment, and reads the settings there. Each overrides the ones before it:
  /// the defaults, the JSON file that `--config` or `CONFIG` names, the environment variables, the command line.
  ///
  /// - Parameters:
  ///   - application: the environment that runs with these settings, so that its reports name them.
  ///   - variables: the environment variables.
  ///   - arguments: the options of the command line.
  ///   - processors: the number of loops, unless a source has one.
  ///   - temporaryFolder: the folder of the database, unless a source has a path; may hold placeholders.
  /// - Throws: `EnvironmentError` with all faults at once.
  static func read(
    in application: Environment, variables: ProcessInfoConfigurationSource,
    arguments: CommandLineConfigurationSource = CommandLineConfigurationSource(arguments: []), processors: Int,
    temporaryFolder: String
  ) throws -> Configuration {
    try application.define(
      application.settings()
        .setValue(key: "host", value: "127.0.0.1").setValue(key: "port", value: 8080)
        .setValue(key: "database", value: "\(temporaryFolder)/storefront.sqlite")
        .setValue(key: "sessionIdle", value: "30m").setValue(key: "sessions", value: 100_000)
        .setValue(key: "ordersKept", value: "3650d")
        .setValue(key: "storeWait", value: "2s").setValue(key: "secureCookies", value: false)
        .setValue(key: "accessLog", value: false).setValue(key: "byHand", value: false)
        .setValue(key: "loops", value: max(1, min(processors, 256))))
    // The path of the file comes from the sources that override the file.
    let options = ConfigurationManager()
    try options.addSource(variables)
    try options.addSource(arguments)
    if let path = try options.getValue(String?.self, key: "config") {
      try application.addConfigurationSource(JSONConfigurationSource(path: path))
    }
    try application.addConfigurationSource(variables)
    try application.addConfigurationSource(arguments)
    return try application.configurationManager.getConfiguration(Configuration.self, rejectsUnknownKeys: true)
  }

  /// The options that take no value.
  static let flags: Set = ["secureCookies", "accessLog", "byHand"]
}
