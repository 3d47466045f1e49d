/// Where loggers come from, and which levels and destinations they have.
///
/// Loggers form a tree by their dotted paths. One that is not registered itself has the level and the destinations of its
/// nearest registered ancestor; the root has the path "". Registering again replaces, and reaches loggers handed out
/// before.
///
/// One manager is installed for the process: the static functions speak of that one. Until another is installed, it
/// writes to standard error, from `warn` up, through a `QueuedLog`. `LogManager()` installs itself; `LogManager(installing: false)` has loggers of
/// its own. From any thread; registering and `getLogger` take a lock, so keep a logger in a static constant.
public final class LogManager: @unchecked Sendable {  // every `var` is under the lock of `installation`
  /// What was registered for one path.
  private struct Registration {
    let level: Level
    let logs: [Log]
    let inherit: Bool
  }

  /// What a logger does.
  struct Route {
    let level: Level
    let logs: [Log]
  }

  private struct Installation {
    var manager: LogManager
    /// Loggers of the static functions: they follow whichever manager is installed.
    var loggers: [String: Logger] = [:]
  }

  /// The time that a change waits for replaced destinations to write their entries.
  static let patience = Duration.seconds(1)

  private static let installation = Monitor(Installation(manager: LogManager(root: .warn)))

  private var registrations: [String: Registration] = [:]
  /// What somebody has set beside what is registered.
  private var setLevels: [String: Level] = [:]
  private var namedLogs: [String: Log] = [:]
  /// Loggers of this manager, wherever it is installed.
  private var loggers: [String: Logger] = [:]
  private var isShutDown = false

  /// Creates a manager without a registration: all its loggers are off.
  ///
  /// - Parameter installing: whether it becomes the process's one at once. See `install()`.
  public init(installing: Bool = true) {
    if installing { install() }
  }

  /// The one that is installed at first.
  private init(root level: Level) {
    let console = ConsoleLog(name: "standard error", synchronize: false, output: .standardError)
    let log = QueuedLog(name: console.name, delegate: console)
    registrations[""] = Registration(level: level, logs: [log], inherit: false)
  }

  // MARK: the process's one

  /// Makes this the manager of the process: loggers that the static functions gave out follow it from now on. What the
  /// one before has kept back is written.
  public func install() {
    let before = Self.installation.withLock { installation in
      let before = installation.manager
      installation.manager = self
      refresh(installation.loggers)
      return before
    }
    if before !== self { before.flush(within: Self.patience) }
  }

  /// The manager that is installed.
  public static func getSingleton() -> LogManager { installation.withLock { $0.manager } }

  // MARK: registering

  /// Sets the level and the destinations of a path, in place of what it had.
  ///
  /// - Parameters:
  ///   - path: dotted, from the general to the specific; "" is the root of all.
  ///   - level: what is written at least, here and below.
  ///   - logs: where to, besides what is inherited.
  ///   - inherit: whether to write to the destinations of the nearest registered ancestor, too; to one that stands in
  ///     both only once.
  @discardableResult
  public func registerLogger(_ path: String, level: Level, logs: [Log] = [], inherit: Bool = true) -> Self {
    let replaced = Self.installation.withLock { installation in
      let replaced = registrations[path]?.logs ?? []
      registrations[path] = Registration(level: level, logs: logs, inherit: inherit)
      refreshAll(installation)
      return replaced
    }
    for log in replaced where !logs.contains(where: { $0 === log }) { log.flush(within: Self.patience) }
    return self
  }

  /// Sets the level of a path for the time being, whatever is registered for it; nil gives that back.
  ///
  /// For operators: destinations stay as they are, and a later `registerLogger` of the path does not change the level.
  public func setLevel(_ level: Level?, forName path: String) {
    Self.installation.withLock { installation in
      setLevels[path] = level
      refreshAll(installation)
    }
  }

  /// What is written at least, by path: of all that have a level of their own, and of all loggers that were handed out;
  /// the root first, then in alphabetical order.
  public func levels() -> [LoggerLevel] {
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

  /// Makes a destination known by its name, in place of an earlier one.
  @discardableResult
  public func registerLog(_ log: Log) -> Self {
    // Dropped outside the lock, because a user's class may have a `deinit`.
    let replaced = Self.installation.withLock { _ in namedLogs.updateValue(log, forKey: log.name) }
    if replaced !== log { replaced?.flush(within: Self.patience) }
    return self
  }

  /// The destination of that name: one that `registerLog` was given, or any that a logger writes to.
  public func log(_ name: String) -> Log? {
    Self.installation.withLock { _ in namedLogs[name] ?? allLogs.first { $0.name == name } }
  }

  // MARK: loggers

  /// The logger for a path; the same one each time. Kept for good, so paths should be few.
  public func getLogger(forName path: String) -> Logger {
    Self.installation.withLock { _ in logger(path, in: &loggers) }
  }

  /// The logger for the qualified name of a type.
  public func getLogger(forClass type: Any.Type) -> Logger { getLogger(forName: Self.path(of: type)) }

  /// The logger for a path, of the manager that is installed; it follows when another one is. Kept for good.
  public static func getLogger(forName path: String) -> Logger {
    installation.withLock { $0.manager.logger(path, in: &$0.loggers) }
  }

  /// The logger for the qualified name of a type, of the manager that is installed.
  public static func getLogger(forClass type: Any.Type) -> Logger { getLogger(forName: path(of: type)) }

  private func logger(_ path: String, in known: inout [String: Logger]) -> Logger {
    if let logger = known[path] { return logger }
    let logger = Logger(path: path)
    logger.follow(route(of: path))
    known[path] = logger
    return logger
  }

  /// "Module.Type"; of a private or local type without the part that differs from build to build.
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

  // MARK: the end

  /// Returns when every entry logged before has been written. Waits for the destinations.
  public func flush() {
    let logs = Self.installation.withLock { _ in allLogs }
    for log in logs { log.flush() }
  }

  /// Flushes on a thread of its own, and waits for it no longer than `limit`: a destination that blocks, such as a pipe whose
  /// reader has stopped reading, cannot hold the caller up.
  ///
  /// - Parameter limit: how long to wait. A flush that takes longer goes on by itself.
  /// - Returns: whether everything logged before has been written in time.
  @discardableResult
  public func flush(within limit: Duration) -> Bool { LogThread.run(within: limit) { self.flush() } }

  /// The number of entries that the destinations have dropped so far.
  public var dropped: Int {
    let logs = Self.installation.withLock { _ in allLogs }
    return logs.reduce(0) { $0 + $1.dropped }
  }

  /// Turns all loggers off, for good, and returns when everything has been written.
  public func shutdown() {
    Self.installation.withLock { installation in
      isShutDown = true
      refreshAll(installation)
    }
    flush()
  }

  /// `flush()` of the manager that is installed, and of `Tracer.shared`: for the end of the process, so that nothing is
  /// lost.
  public static func flush() {
    getSingleton().flush()
    Tracer.shared.flush()
  }

  /// `flush(within:)` of the manager that is installed, and of `Tracer.shared`, together within the limit: for the end of a
  /// service.
  ///
  /// - Parameter limit: how long to wait. A flush that takes longer goes on by itself.
  /// - Returns: whether everything logged before has been written in time.
  @discardableResult
  public static func flush(within limit: Duration) -> Bool { LogThread.run(within: limit) { Self.flush() } }

  /// `shutdown()` of the manager that is installed; flushes `Tracer.shared`, too.
  public static func shutdown() {
    getSingleton().shutdown()
    Tracer.shared.flush()
  }

  // MARK: routes; all of it under the lock

  private func route(of path: String) -> Route {
    if isShutDown { return Route(level: .off, logs: []) }
    var level: Level?
    var logs: [Log] = []
    for ancestor in LogPath.chain(path) {
      if level == nil { level = setLevels[ancestor] }
      guard let registration = registrations[ancestor] else { continue }
      if level == nil { level = registration.level }
      for log in registration.logs where !logs.contains(where: { $0 === log }) { logs.append(log) }
      if !registration.inherit { break }
    }
    return Route(level: level ?? .off, logs: logs)
  }

  private func refreshAll(_ installation: Installation) {
    refresh(loggers)
    if installation.manager === self { refresh(installation.loggers) }
  }

  private func refresh(_ loggers: [String: Logger]) {
    for logger in loggers.values { logger.follow(route(of: logger.path)) }
  }

  /// Each once.
  private var allLogs: [Log] {
    var seen: Set<ObjectIdentifier> = []
    let logs = registrations.values.flatMap(\.logs) + namedLogs.values
    return logs.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}

/// What a logger writes at least.
public struct LoggerLevel: Sendable, Hashable {
  /// The logger's path; "" for the root.
  public let path: String
  /// What has been set or registered for the path itself.
  public let configured: Level?
  /// What holds for it; `off` also where it has no destination.
  public let effective: Level
}
