/// The first commands on a connection, and the checks of their replies: login, kind of the server, scripts, time.
struct RedisGreeting {
  /// The reason why a server cannot be used.
  struct Refusal: Error, Equatable {
    let reason: String
    /// Whether the server cannot be used later either, so that calls fail at once.
    var isLasting = false
  }

  private enum Step {
    case login
    case cluster
    case role
    case script(RedisScript)
    case time
  }

  /// The commands to send.
  private(set) var commands: [[String]] = []
  /// The steps without a reply so far, in order.
  private var steps: ArraySlice<Step> = []
  private let needsRole: Bool
  /// The digests of the scripts on the server.
  private(set) var digests: [RedisScript: [UInt8]] = [:]
  private(set) var clock = RedisClock(time: 0)

  var isComplete: Bool { steps.isEmpty }

  /// Creates the greeting of a connection.
  ///
  /// - Parameters:
  ///   - options: the login and the database.
  ///   - needsRole: whether a server that does not return its role is refused.
  init(_ options: RedisOptions, needsRole: Bool) {
    self.needsRole = needsRole
    if let password = options.password {
      add(.login, ["AUTH"] + (options.username.map { [$0] } ?? []) + [password])
    }
    if options.database != 0 { add(.login, ["SELECT", String(options.database)]) }
    add(.cluster, ["INFO", "cluster"])
    add(.role, ["ROLE"])
    for script in RedisScript.allCases { add(.script(script), ["SCRIPT", "LOAD", script.text]) }
    add(.time, ["TIME"])
  }

  private mutating func add(_ step: Step, _ words: [String]) {
    steps.append(step)
    commands.append(words)
  }

  /// Takes the next reply.
  mutating func take(_ reply: RESPValue) throws(Refusal) {
    guard let step = steps.popFirst() else { return }
    switch step {
    case .cluster where Self.isForbidden(reply): return
    case .role where Self.isForbidden(reply) && !needsRole: return
    case .login, .cluster, .role, .script, .time: break
    }
    if case .error(let text) = reply { throw Refusal(reason: text) }
    switch step {
    case .login: break
    case .cluster: try check(cluster: reply)
    case .role: try check(role: reply)
    case .script(let script):
      guard case .bytes(let digest) = reply else { throw Refusal(reason: "it does not load scripts") }
      digests[script] = digest
    case .time:
      guard let time = RedisClock(reply) else { throw Refusal(reason: "it does not return the time") }
      clock = time
    }
  }

  private func check(cluster reply: RESPValue) throws(Refusal) {
    guard reply.text?.contains("cluster_enabled:1") == true else { return }
    let reason = "it is a node of a cluster (cluster_enabled:1), where the two keys of a rotation may be apart"
    throw Refusal(reason: reason, isLasting: true)
  }

  private func check(role reply: RESPValue) throws(Refusal) {
    guard case .array(let parts) = reply, let role = parts.first?.text else {
      throw Refusal(reason: "it does not return its role")
    }
    if role != "master" { throw Refusal(reason: "it is not a primary (role \(role))") }
  }

  /// Whether the server does not let the user run the command, or does not have it.
  private static func isForbidden(_ reply: RESPValue) -> Bool {
    guard case .error(let text) = reply else { return false }
    return text.hasPrefix("NOPERM") || text.hasPrefix("ERR unknown command")
  }
}
