import Beans

/// The settings of the service, from the configuration of its environment. Environment variables are the source.
struct Configuration: Equatable, Sendable {
  /// `HOST`: the address to listen on, IPv4 or IPv6.
  var host = "127.0.0.1"
  /// `PORT`: the port to listen on; with 0 the kernel chooses one.
  var port: UInt16 = 8080
  /// `DATABASE`: the path of the SQLite file.
  var database: String
  /// `SESSION_IDLE`: the time without a request after which a session ends.
  var sessionIdle = Duration.seconds(30 * 60)
  /// `SESSIONS`: the maximum number of sessions. Beyond it, a new session evicts the least recently used one; if all
  /// are in use, the request gets `503`.
  var sessions = 100_000
  /// `STORE_WAIT`: the time for which a request waits while another process has locked the store; then it gets `503`.
  var storeWait = Duration.seconds(2)
  /// `REDIS`: the address of the server that keeps sessions for all nodes; nil if sessions are local to this process.
  var redis: ServerAddress?
  /// `SECURE_COOKIES`: whether browsers reach the service by TLS, through a proxy: cookies are then restricted to this
  /// host and to TLS.
  var secureCookies = false
  /// `ADMIN_PORT`: the port that serves the operations page and its data on localhost only; with 0 the kernel chooses
  /// one; nil serves them nowhere.
  var adminPort: UInt16?
  /// `ACCESS_LOG`: whether the log has a line for each response.
  var accessLog = false
  /// `LOOPS`: the number of loop threads.
  var loops: Int
  /// `BY_HAND`: whether `GET /by-hand/api/products` is served, for benchmarks.
  var byHand = false

  /// Reads the settings. A variable that is set but empty is treated as unset.
  ///
  /// - Parameters:
  ///   - manager: the configuration of the environment that runs with these settings, so that its reports name them.
  ///   - processors: the number of loops, unless `LOOPS` is set.
  ///   - temporaryFolder: the folder of the database, unless `DATABASE` is set.
  /// - Throws: all faults at once.
  init(
    _ manager: ConfigurationManager, processors: Int, temporaryFolder: String
  ) throws(ConfigurationFaults) {
    var faults: [String] = []
    func read<T>(_ name: String, _ kind: String, _ fallback: T, _ parse: (String) -> T?) -> T {
      let text: String?
      do { text = try manager.getValue(String?.self, key: name) } catch {
        faults.append("\(name) is refused: \(error)")
        return fallback
      }
      guard let text, !text.isEmpty else { return fallback }
      if let value = parse(text) { return value }
      faults.append("\(name)=\(text.debugDescription) is refused: it must be \(kind)")
      return fallback
    }
    host = read("HOST", "an IPv4 or IPv6 address", "127.0.0.1") { HostAddress.isValid($0) ? $0 : nil }
    port = read("PORT", "a port number from 0 to 65535", 8080) { $0.first?.isNumber == true ? UInt16($0) : nil }
    database = read("DATABASE", "a path to a file", "\(temporaryFolder)/storefront.sqlite") { path in
      path.hasSuffix("/") || path.utf8.contains(0) ? nil : path
    }
    sessionIdle = read("SESSION_IDLE", "a duration such as 90, 250ms, 30s, 5m or 2h, more than 0", .seconds(30 * 60)) {
      DurationText.parse($0).flatMap { $0 > .zero ? $0 : nil }
    }
    sessions = read("SESSIONS", "a number from 1 to 10000000", 100_000) { text in
      Int(text).flatMap { (1...10_000_000).contains($0) ? $0 : nil }
    }
    storeWait = read("STORE_WAIT", "a duration such as 90, 250ms, 30s, 5m or 2h", .seconds(2), DurationText.parse)
    redis = read("REDIS", "an IPv4 or IPv6 address and a port, such as 127.0.0.1:6379 or [::1]:6379", nil) {
      ServerAddress($0).map(Optional.some)
    }
    secureCookies = read("SECURE_COOKIES", "yes or no", false) { ["yes": true, "no": false][$0] }
    adminPort = read("ADMIN_PORT", "a port number from 0 to 65535", nil) {
      $0.first?.isNumber == true ? UInt16($0).map(Optional.some) : nil
    }
    loops = read("LOOPS", "a number from 1 to 256", max(1, min(processors, 256))) { text in
      Int(text).flatMap { (1...256).contains($0) ? $0 : nil }
    }
    accessLog = read("ACCESS_LOG", "yes or no", false) { ["yes": true, "no": false][$0] }
    byHand = read("BY_HAND", "yes or no", false) { ["yes": true, "no": false][$0] }
    if !faults.isEmpty { throw ConfigurationFaults(lines: faults) }
  }
}

extension Configuration {
  /// The variables that the service reads: the settings, and `BEANS_PROFILES`, which the container reads. Its value is
  /// the list of active profiles, separated by commas; `test` selects a database that exists for one run.
  static let variables = [
    "HOST", "PORT", "DATABASE", "BEANS_PROFILES", "SESSION_IDLE", "SESSIONS", "STORE_WAIT", "REDIS", "SECURE_COOKIES",
    "ADMIN_PORT", "ACCESS_LOG", "LOOPS", "BY_HAND",
  ]

  /// Returns the source of the settings in an environment: the variables that the service reads and that are not empty.
  static func source(_ variables: [String: String]) -> ProcessInfoConfigurationSource {
    ProcessInfoConfigurationSource(
      variables: variables.filter { name, value in Self.variables.contains(name) && !value.isEmpty })
  }
}

/// The faults of the environment variables, one in each line.
struct ConfigurationFaults: Error, Equatable, Sendable, CustomStringConvertible {
  /// The exit code of the process: `EX_CONFIG` of sysexits.h.
  static let exitCode: Int32 = 78

  let lines: [String]

  var description: String { lines.map { "storefront: \($0)" }.joined(separator: "\n") }
}
