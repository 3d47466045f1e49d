/// Creates loggers, and holds their levels and destinations.
///
/// Loggers form a tree by their dotted paths. A logger without a registration has the level and the destinations of its
/// nearest registered ancestor; the root has the path "". A later registration replaces an earlier one, and also
/// applies to existing loggers.
///
/// One manager is installed for the process: the static functions use it. The first one writes to standard error, from
/// `warn` up, through a `QueuedLog`. `LogManager()` installs the new manager; `LogManager(installing: false)` creates a
/// manager with loggers of its own.
///
/// A manager may be used from any thread. Registration and `getLogger` take a lock, so keep a logger in a static
/// constant.
public final class LogManager: @unchecked Sendable {  // the lock of `installation` guards every `var`
  /// The registration of one path.
  private struct Registration {
    let level: Level
    let logs: [Log]
    let inherit: Bool
  }

  private struct Installation {
    var manager: LogManager
    /// The loggers of the static functions, which follow the installed manager.
    var loggers: [String: Logger] = [:]
  }

  private static let installation: Monitor<Installation> = {
    LogExit.add { LogManager.getSingleton().flush() }
    return Monitor(Installation(manager: LogManager(root: .warn)))
  }()

  private var registrations: [String: Registration] = [:]
  /// The levels that `setLevel` has set, which override the registered ones.
  private var setLevels: [String: Level] = [:]
  private var namedLogs: [String: Log] = [:]
  /// The loggers of this manager, whether or not it is installed.
  private var loggers: [String: Logger] = [:]
  private var isShutDown = false

  /// Creates a manager without registrations: all its loggers are off.
  ///
  /// - Parameter installing: whether this becomes the manager of the process at once: the loggers of the static
  ///   functions follow it from then on. Flushes the previous manager, and waits for at most one second.
  public init(installing: Bool = true) {
    if installing { install() }
  }

  /// Creates the manager that is installed at first.
  private init(root level: Level) {
    let console = ConsoleLog(name: "standard error", synchronize: false, output: .standardError)
    let log = QueuedLog(name: console.name, delegate: console)
    registrations[""] = Registration(level: level, logs: [log], inherit: false)
  }

  // MARK: the manager of the process

  /// Makes this the manager of the process: the loggers of the static functions follow it from now on. Flushes the
  /// previous manager, and waits for at most one second.
  package func install() {
    let before = Self.installation.withLock { installation in
      let before = installation.manager
      installation.manager = self
      refresh(installation.loggers)
      return before
    }
    if before !== self { before.flush(within: Log.patience) }
  }

  /// Returns the installed manager.
  public static func getSingleton() -> LogManager { installation.withLock { $0.manager } }

  // MARK: registering

  /// Sets the level and the destinations of a path, and replaces an earlier registration.
  ///
  /// - Parameters:
  ///   - path: the dotted path, from the general to the specific; "" is the root.
  ///   - level: the lowest level that is written, for the path and the paths below it.
  ///   - logs: the destinations, besides the inherited ones.
  ///   - inherit: whether the loggers also write to the destinations of the nearest registered ancestor. A destination
  ///     in both receives an entry once.
  @discardableResult
  public func registerLogger(_ path: String, level: Level, logs: [Log] = [], inherit: Bool = true) -> Self {
    let replaced = Self.installation.withLock { installation in
      let replaced = registrations[path]?.logs ?? []
      registrations[path] = Registration(level: level, logs: logs, inherit: inherit)
      refreshAll(installation)
      return replaced
    }
    for log in replaced where !logs.contains(where: { $0 === log }) { log.flushReplaced() }
    return self
  }

  /// Overrides the registered level of a path; nil restores it.
  ///
  /// Intended for operators: the destinations do not change, and a later `registerLogger` for the path does not end the
  /// override.
  public func setLevel(_ level: Level?, forName path: String) {
    Self.installation.withLock { installation in
      setLevels[path] = level
      refreshAll(installation)
    }
  }

  /// Returns the level of each path with a level of its own, and of each existing logger: the root first, then in
  /// alphabetical order.
  package func levels() -> [LoggerLevel] {
    Self.installation.withLock { installation in
      var paths = Set(registrations.keys).union(setLevels.keys).union(loggers.keys).union([""])
      if installation.manager === self { paths.formUnion(installation.loggers.keys) }
      return paths.sorted().map { path in
        let route = route(of: path)
        return LoggerLevel(
          path: path, configured: setLevels[path] ?? registrations[path]?.level,
          effective: route.logs.isEmpty ? .off : route.level)
      }
    }
  }

  /// Registers a destination by its name, and replaces an earlier one.
  @discardableResult
  public func registerLog(_ log: Log) -> Self {
    // Released outside the lock, because a user's class may have a `deinit`.
    let replaced = Self.installation.withLock { _ in namedLogs.updateValue(log, forKey: log.name) }
    if replaced !== log { replaced?.flushReplaced() }
    return self
  }

  /// Returns the destination of that name: one registered with `registerLog`, or else any that a logger writes to.
  public func log(_ name: String) -> Log? {
    Self.installation.withLock { _ in namedLogs[name] ?? allLogs.first { $0.name == name } }
  }

  // MARK: loggers

  /// Returns the logger for a path, the same object each time. The manager retains each logger, so keep the number of
  /// paths small.
  public func getLogger(forName path: String) -> Logger {
    Self.installation.withLock { _ in logger(path, in: &loggers) }
  }

  /// Returns the logger for the qualified name of a type.
  public func getLogger(forClass type: Any.Type) -> Logger { getLogger(forName: Self.path(of: type)) }

  /// Returns the logger for a path. The logger follows the installed manager, also when another one is installed later,
  /// and is never released.
  public static func getLogger(forName path: String) -> Logger {
    installation.withLock { $0.manager.logger(path, in: &$0.loggers) }
  }

  /// Returns the logger for the qualified name of a type. The logger follows the installed manager.
  public static func getLogger(forClass type: Any.Type) -> Logger { getLogger(forName: path(of: type)) }

  private func logger(_ path: String, in known: inout [String: Logger]) -> Logger {
    if let logger = known[path] { return logger }
    let logger = Logger(path: path)
    logger.follow(route(of: path))
    known[path] = logger
    return logger
  }

  /// Returns "Module.Type"; for a private or local type, without the part that differs from build to build.
  static func path(of type: Any.Type) -> String {
    var path = String(reflecting: type)
    while let start = path.firstRange(of: "(unknown context at $"),
      let end = path[start.upperBound...].firstIndex(of: ")")
    {
      var next = path.index(after: end)
      if next < path.endIndex, path[next] == "." { next = path.index(after: next) }
      path.removeSubrange(start.lowerBound..<next)
    }
    return path
  }

  // MARK: flush and shutdown

  /// Returns when every entry logged before has been written. Waits for the destinations without a limit.
  package func flush() {
    let logs = Self.installation.withLock { _ in allLogs }
    for log in logs { log.flush() }
  }

  /// Flushes on a thread of its own, and waits for at most `limit`, so that a blocked destination, such as a pipe whose
  /// reader has stopped reading, does not block the caller.
  ///
  /// - Parameter limit: the longest time to wait. A flush that takes longer continues in the background.
  /// - Returns: whether everything logged before has been written in time.
  @discardableResult
  public func flush(within limit: Duration) -> Bool { LogThread.run(within: limit) { self.flush() } }

  /// The number of entries that the destinations have dropped so far.
  public var dropped: Int {
    let logs = Self.installation.withLock { _ in allLogs }
    return logs.reduce(0) { $0 + $1.dropped }
  }

  /// Opens the files of all destinations again, for a program that has moved them and now sends SIGHUP. Destinations that
  /// cannot open their file go on with the one that was open.
  ///
  /// - Throws: the first error, once all destinations have been asked.
  public func reopen() throws {
    let logs = Self.installation.withLock { _ in allLogs }
    let failures = logs.compactMap { log -> (any Error)? in
      do { try log.reopen() } catch { return error }
      return nil
    }
    if let first = failures.first { throw first }
  }

  /// Turns all loggers of the manager off permanently, and returns when every entry has been written.
  public func shutdown() {
    Self.installation.withLock { installation in
      isShutDown = true
      refreshAll(installation)
    }
    flush()
  }

  /// Flushes the installed manager and the tracer. Waits for the destinations without a limit.
  package static func flush() {
    getSingleton().flush()
    Tracer.shared.flush()
  }

  /// Flushes the installed manager and the tracer, and waits for at most `limit` for both together. Call it at the
  /// end of a service.
  ///
  /// - Parameter limit: the longest time to wait. A flush that takes longer continues in the background.
  /// - Returns: whether everything logged before has been written in time.
  @discardableResult
  public static func flush(within limit: Duration) -> Bool { LogThread.run(within: limit) { Self.flush() } }

  // MARK: routes, under the lock

  private func route(of path: String) -> Logger.Route {
    if isShutDown { return Logger.Route(level: .off, logs: []) }
    var level: Level?
    var logs: [Log] = []
    for ancestor in LogPath.chain(path) {
      if level == nil { level = setLevels[ancestor] }
      guard let registration = registrations[ancestor] else { continue }
      if level == nil { level = registration.level }
      for log in registration.logs where !logs.contains(where: { $0 === log }) { logs.append(log) }
      if !registration.inherit { break }
    }
    return Logger.Route(level: level ?? .off, logs: logs)
  }

  private func refreshAll(_ installation: Installation) {
    refresh(loggers)
    if installation.manager === self { refresh(installation.loggers) }
  }

  private func refresh(_ loggers: [String: Logger]) {
    for logger in loggers.values { logger.follow(route(of: logger.path)) }
  }

  /// All destinations of the manager, each once.
  private var allLogs: [Log] {
    var seen: Set<ObjectIdentifier> = []
    let logs = registrations.values.flatMap(\.logs) + namedLogs.values
    return logs.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}

/// The level of one logger.
package struct LoggerLevel: Sendable, Hashable {
  /// The logger's path; "" for the root.
  package let path: String
  /// The level that is set or registered for the path itself, if any.
  package let configured: Level?
  /// The level that applies; `off` for a logger without a destination.
  package let effective: Level
}
