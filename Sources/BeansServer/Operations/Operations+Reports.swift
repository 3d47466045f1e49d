import Beans
import BeansLogging

extension Operations {
  /// What the startup spent its time on, in the order in which beans were built.
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

  /// Keys and where their values come from. The values stay here: they may be secrets.
  var configuration: JSON {
    let entries = environment.configurationManager.entries.map { entry in
      JSON.object([
        ("key", .string(entry.key)), ("scope", .string(entry.scope)), ("source", .string(entry.source)),
        ("dynamic", .bool(entry.isDynamic)), ("overruled", .bool(entry.isOverruled)),
        ("inherited", .bool(entry.distance > 0)),
      ])
    }
    return .object([("values", .array(entries))])
  }

  // MARK: loggers

  private static let levels: [Level] = [.off, .fatal, .error, .warn, .info, .debug, .all]
  private static let root = "ROOT"

  /// Which levels there are, and which one each logger has.
  var loggers: JSON {
    let loggers = logs.levels().map { level in
      (
        level.path.isEmpty ? Self.root : level.path,
        JSON.object([
          ("configuredLevel", JSON(level.configured.map { "\($0)" })),
          ("effectiveLevel", .string("\(level.effective)")),
        ])
      )
    }
    return .object([
      ("levels", .array(Self.levels.map { .string("\($0)") })), ("mayBeSet", .bool(options.maySetLevels)),
      ("loggers", .object(loggers)),
    ])
  }

  /// Sets the level of a logger, or gives back what was registered for it.
  func respond(_ method: String, toLogger name: Substring, _ body: [UInt8]) -> OperationsResponse {
    guard method == "POST" else { return Self.refusal(allow: "POST") }
    guard options.maySetLevels else { return .refusal(403, "Levels may only be read here.") }
    let path = name == Self.root ? "" : String(name)
    // Else whoever may write could fill the memory.
    guard !name.isEmpty, logs.levels().contains(where: { $0.path == path || $0.path.hasPrefix("\(path).") }) else {
      return .refusal(404, "There is no such logger.")
    }
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
