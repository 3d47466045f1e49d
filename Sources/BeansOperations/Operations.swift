public import Beans
@_spi(BeansPackage) import BeansErrors
import BeansGraph
import BeansRunning
public import BeansServer
import BeansLogging
import Dispatch

/// The operations endpoints of a service: health, live state, and declarations. For any HTTP server to mount.
///
/// ```swift
/// let operations = Operations(environment: application, lifecycle: lifecycle, sessions: [sessions], lag: lag)
/// try await application.ready(options: [.recordTimes])
/// try operations.start()
/// ```
///
/// `probe` serves `/livez` and `/readyz`, which belong on the service's own port, too: another port may work while that
/// one fails. `respond` serves every path, and belongs on a port or a socket that strangers do not reach. `Operations`
/// maintains no count for each request: responses are rendered from state that the container has anyway, each from one
/// snapshot. Callable from any thread; no response waits for a health check.
///
/// The cost of a response is almost independent of the numbers of live environments and sessions. If there are more
/// than a thousand of them, ages and idle times, the sessions in use, and the numbers of beans that live environments
/// have created come from a sample, which is taken on a thread of its own. A response uses the last complete sample,
/// and begins a new one if that is older than a second. All other counts are exact.
public final class Operations: Sendable {
  let environment: Environment
  let options: OperationsOptions
  private let lifecycle: ServerLifecycle?
  private let environments: EnvironmentSampler
  private let sessions: [SessionSampler]
  private let lag: LoopLag?
  private let durations: ScopeDurations?
  private let health: HealthSchedule
  private let state = Locked(State())
  /// The start time of the service, by two clocks: the wall clock may be set.
  let begun = (time: Timestamp.now, instant: ContinuousClock.now)

  private struct State {
    /// The last result of each probe.
    var answers: [HealthProbe: Bool] = [:]
    var graph: BeanGraph?
  }

  /// Creates the endpoints, which respond at once, as of a service that is not ready. Runs no health check before
  /// `start()`.
  ///
  /// The up-time of the service begins here: create the endpoints early.
  ///
  /// - Parameters:
  ///   - environment: the application environment. It is not started by this.
  ///   - lifecycle: the lifecycle of the service: `/readyz` fails once the end begins. Ends the health checks.
  ///   - sessions: the sources of sessions to report, such as `Sessions` of `BeansSessions`.
  ///   - lag: the delay of loops, if they are watched.
  ///   - durations: an observer of the environment, for the durations and outcomes of its children in `/metrics`.
  ///   - options: the thresholds of health, and the permissions of callers.
  ///   - clock: the clock of the health checks' schedule.
  public init(
    environment: Environment, lifecycle: ServerLifecycle? = nil, sessions: [any ScopeReporting] = [],
    lag: LoopLag? = nil, durations: ScopeDurations? = nil, options: OperationsOptions = OperationsOptions(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.environment = environment
    self.lifecycle = lifecycle
    let queue = DispatchQueue(label: "Beans.Operations", qos: .utility)
    environments = EnvironmentSampler(environment, on: queue)
    self.sessions = sessions.map { SessionSampler($0, on: queue) }
    self.lag = lag
    self.durations = durations
    self.options = options
    let logs = options.logs
    health = HealthSchedule(environment, options, clock) { Self.logger(of: logs) }
    lifecycle?.whenFinishing { [health] in health.stop() }
  }

  deinit { health.stop() }

  private static func logger(of logs: LogManager?) -> Logger {
    logs?.getLogger(forName: "Beans.Operations") ?? LogManager.getLogger(forName: "Beans.Operations")
  }

  var logger: Logger { Self.logger(of: options.logs) }

  var logs: LogManager { options.logs ?? .getSingleton() }

  /// Starts the health checks that the environment declares. The environment must have started.
  ///
  /// The checks run until the lifecycle shuts the environment down, `stop()` is called, or the last reference is
  /// released.
  ///
  /// - Throws: the error of building a check.
  public func start(file: StaticString = #fileID, line: UInt = #line) throws {
    health.start(try environment.getBeansByType((any HealthCheck).self, file: file, line: line))
  }

  /// Stops the health checks. Their last outcomes remain.
  public func stop() { health.stop() }

  // MARK: probes

  /// Returns the response to `/livez` and `/readyz`, for the port that strangers reach: a word without a reason.
  ///
  /// - Returns: nil for every other path.
  public func probe(method: String, path: String) -> OperationsResponse? {
    guard let probe = [HealthProbe.alive, .ready].first(where: { "/\($0.path)" == path }) else { return nil }
    guard method == "GET" || method == "HEAD" else { return Self.refusal(allow: "GET, HEAD") }
    let reasons = reasons(against: probe, health.reports, environment.runReports)
    tell(probe, reasons)
    return .json(reasons.isEmpty ? 200 : 503, .object([("status", .string(reasons.isEmpty ? "UP" : "DOWN"))]))
  }

  /// Returns the reasons for the failure of a probe; empty if it succeeds.
  func reasons(
    against probe: HealthProbe, _ checks: [HealthSchedule.Report], _ runs: [BeanRunReport]
  ) -> [String] {
    var reasons: [String] = []
    if probe == .ready {
      if let lifecycle, lifecycle.phase != .running {
        reasons.append("the service is ending")
      } else if !environment.isReady {
        reasons.append("environment '\(environment.name)' has not started, or its end has begun")
      }
      for run in runs {
        switch run.status {
        case .starting: reasons.append("\(run.label) runs, and is not ready yet")
        case .failed: reasons.append("\(run.label) failed while it ran: \(run.reason ?? "it has not begun")")
        case .up, .restarting, .ended: break
        }
      }
    }
    for report in checks where report.check.isCritical && report.check.probe == probe {
      switch report.state.status {
      case .up: break
      // Before the first outcome, a service is alive, but not ready.
      case .unknown: if probe == .ready { reasons.append("health check '\(report.check.name)' has no result yet") }
      case .down:
        reasons.append("health check '\(report.check.name)': \(report.state.reason ?? "down")")
      }
    }
    return reasons
  }

  /// Logs a change of a probe's result.
  private func tell(_ probe: HealthProbe, _ reasons: [String]) {
    let before = state.withLock { $0.answers.updateValue(reasons.isEmpty, forKey: probe) }
    if before == reasons.isEmpty { return }
    if reasons.isEmpty {
      logger.info("/\(probe.path) returns 200")
    } else {
      logger.warn("/\(probe.path) returns 503: \(reasons.joined(separator: "; "))")
    }
  }

  // MARK: everything

  /// The paths that `respond` serves by GET.
  static let paths = [
    "/", "/health", "/environments", "/sessions", "/beans", "/startup", "/loggers", "/configuration", "/metrics",
  ]

  /// Returns the response to any path of the endpoints, for a port that strangers do not reach.
  ///
  /// A server that a browser may reach has to refuse requests from pages of other sites.
  ///
  /// - Parameters:
  ///   - method: the method in capitals. HEAD is treated as GET; the server omits the body.
  ///   - path: the decoded path, without the query.
  ///   - accept: the value of the `Accept` field: `/metrics`, `/environments`, `/loggers` and the page have two forms.
  ///   - body: the body of a POST to `/loggers/{path}`.
  /// - Returns: nil for any other path.
  public func respond(
    method: String, path: String, accept: String? = nil, body: [UInt8] = []
  ) -> OperationsResponse? {
    if let answer = probe(method: method, path: path) { return answer }
    if path.hasPrefix("/loggers/") { return respond(method, toLogger: path.dropFirst("/loggers/".count), accept, body) }
    guard Self.paths.contains(path) else { return nil }
    guard method == "GET" || method == "HEAD" else { return Self.refusal(allow: "GET, HEAD") }
    switch path {
    case "/health":
      let snapshot = snapshot
      return .json(snapshot.isUp ? 200 : 503, health(snapshot))
    case "/environments":
      return Self.isText(accept)
        ? liveText : .json(200, snapshot.environments)
    case "/sessions": return .json(200, .object([("sessions", snapshot.sessionCounts)]))
    case "/beans": return beans.map { .json(200, $0) } ?? .refusal(503, "The environment has not started.")
    case "/startup": return .json(200, startup)
    case "/loggers": return Self.isText(accept) ? .text(loggersText) : .json(200, loggers)
    case "/configuration": return .json(200, configuration)
    case "/metrics":
      let format = MetricFormat(accept: accept)
      return OperationsResponse(200, format.contentType, Array(snapshot.metrics.text(as: format).utf8))
    default: return page(accept)
    }
  }

  /// Returns whether a caller accepts text where JSON is the usual form.
  static func isText(_ accept: String?) -> Bool { accept?.contains("text/plain") == true }

  static func refusal(allow methods: String) -> OperationsResponse {
    .refusal(405, "The method is not allowed here.", headers: [("Allow", methods)])
  }

  var snapshot: ServiceSnapshot {
    let (checks, runs) = (health.reports, environment.runReports)
    let (scopes, ages) = environments.report()
    return ServiceSnapshot(
      scopes: scopes, ages: ages, sessions: sessions.map(\.statistics),
      loops: lag?.histograms ?? [], durations: durations?.families ?? [], checks: checks, runs: runs,
      failedReleases: environment.failedReleases, failedCalls: environment.failedCalls,
      startup: environment.startupDuration, isAlive: reasons(against: .alive, checks, runs).isEmpty,
      isReady: reasons(against: .ready, checks, runs).isEmpty, process: ProcessFigures(startTime: begun.time))
  }

  /// The declarations, compiled once, because they no longer change. Nil before the environment has started.
  var graph: BeanGraph? {
    if let known = state.withLock({ $0.graph }) { return known }
    guard environment.isReady, let graph = try? environment.readGraph() else { return nil }
    state.withLock { $0.graph = graph }
    return graph
  }

  private var liveText: OperationsResponse {
    .text(
      environment.liveReport(
        environments.report().scopes, sessions.map(\.report), lag: lag, maximumChildren: options.maximumChildren))
  }
}
