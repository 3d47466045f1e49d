import Beans
import BeansLogging

extension Operations {
  /// The time that each bean of the startup took, in the order in which they were built.
  var startup: JSON {
    let times = environment.startupTimes.enumerated().map { number, time in
      JSON.object([
        ("order", .integer(number + 1)), ("bean", .string(time.bean)), ("micros", JSON(microseconds: time.duration)),
        ("parent", JSON(time.parent)), ("resource", JSON(time.origin)),
      ])
    }
    return .object([
      ("environment", .string(environment.name)), ("micros", JSON(microseconds: environment.startupDuration)),
      ("beans", .array(times)),
    ])
  }

  /// The keys in sources, each with its source, its name there and the sources that it overrules, and the keys that were read without a
  /// value in any source. Excludes the values: they may be secrets.
  var configuration: JSON {
    let entries = environment.configurationManager.entries.map { entry in
      JSON.object([
        ("key", .string(entry.key)), ("scope", .string(entry.scope)), ("source", JSON(entry.source)),
        ("name", JSON(entry.name)), ("readAs", .array(entry.readAs.map { .string($0) })),
        ("dynamic", .bool(entry.isDynamic)), ("overruled", .bool(entry.overruledBy != nil)),
        ("overruledBy", JSON(entry.overruledBy)), ("overrules", .array(entry.overrules.map { .string($0) })),
        ("inherited", .bool(entry.distance > 0)),
      ])
    }
    return .object([("values", .array(entries))])
  }

  // MARK: loggers

  private static let levels: [Level] = [.off, .fatal, .error, .warn, .info, .debug, .all]
  private static let root = "ROOT"

  /// The supported levels, and the level of each logger.
  var loggers: JSON {
    let loggers = logs.levels().map { ($0.path.isEmpty ? Self.root : $0.path, LevelReport($0).json) }
    return .object([
      ("levels", .array(Self.levels.map { .string("\($0)") })), ("mayBeSet", .bool(options.maySetLevels)),
      ("loggers", .object(loggers)),
    ])
  }

  /// The level of each logger, a line each.
  var loggersText: String {
    logs.levels().map { LevelReport($0).line($0.path.isEmpty ? Self.root : $0.path) }.joined()
  }

  /// Returns the level of a logger, or of a path with loggers below it; nil if there is neither.
  private func level(of path: String) -> LevelReport? {
    let levels = logs.levels()
    if let level = levels.first(where: { $0.path == path }) { return LevelReport(level) }
    guard levels.contains(where: { $0.path.hasPrefix("\(path).") }) else { return nil }
    let above = levels.filter { $0.path.isEmpty || path.hasPrefix("\($0.path).") }
    return above.max { $0.path.count < $1.path.count }.map { LevelReport(configured: nil, effective: $0.effective) }
  }

  /// Returns the level of one logger, or sets it; `{}` restores the level that was registered for it.
  func respond(_ method: String, toLogger name: Substring, _ accept: String?, _ body: [UInt8]) -> OperationsResponse {
    let isRead = method == "GET" || method == "HEAD"
    guard isRead || method == "POST" else { return Self.refusal(allow: "GET, HEAD, POST") }
    guard isRead || options.maySetLevels else { return .refusal(403, "Levels may only be read here.") }
    let path = name == Self.root ? "" : String(name)
    // A caller that could set the level of any path could exhaust the memory.
    guard !name.isEmpty, let current = level(of: path) else { return .refusal(404, "There is no such logger.") }
    if isRead { return Self.isText(accept) ? .text(current.line(name)) : .json(200, current.json) }
    guard let text = String(validating: body, as: UTF8.self),
      let match = text.wholeMatch(of: /\s*\{\s*(?:"configuredLevel"\s*:\s*(?:"(?<level>[A-Za-z]+)"|null)\s*)?\}\s*/)
    else { return .refusal(400, "The body has to be {\"configuredLevel\": \"DEBUG\"}, or {}.") }
    let wanted = match.output.level?.uppercased()
    let level = wanted.flatMap { name in Self.levels.first { "\($0)" == name } }
    if wanted != nil, level == nil { return .refusal(400, "There is no such level.") }
    logs.setLevel(level, forName: path)
    logger.info("the level of '\(name)' is \(level.map { "\($0)" } ?? "as registered") from now on")
    return OperationsResponse(204, "application/json", [])
  }
}

/// The level of one logger, in both forms.
private struct LevelReport {
  let configured: Level?
  let effective: Level

  var json: JSON {
    .object([("configuredLevel", JSON(configured.map { "\($0)" })), ("effectiveLevel", .string("\(effective)"))])
  }

  func line(_ name: some StringProtocol) -> String {
    "\(name): \(effective)\(configured == nil ? " (inherited)" : "")\n"
  }
}

extension LevelReport {
  init(_ level: LoggerLevel) { self.init(configured: level.configured, effective: level.effective) }
}
