import Beans
import BeansLogging
import Logging
import Synchronization
import Testing

@testable import SwiftLogListings

// The installed `LogManager` and the factory of `LoggingSystem` belong to the process.
@Suite("swift-log", .serialized) struct SwiftLogTests {
  struct Declined: Error {}

  /// The lines that a backend or a destination has received.
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    /// Leaves out the container, which logs for other suites, too.
    func append(_ line: String) { if !line.hasPrefix("Beans.") { lines.withLock { $0.append(line) } } }

    var all: [String] { lines.withLock { $0 } }
  }

  struct Recorder: LogHandler {
    let label: String
    let lines: Lines
    var metadataProvider: Logging.Logger.MetadataProvider?
    var metadata: Logging.Logger.Metadata = [:]
    var logLevel = Logging.Logger.Level.info

    init(_ label: String, _ provider: Logging.Logger.MetadataProvider?, _ lines: Lines) {
      (self.label, metadataProvider, self.lines) = (label, provider, lines)
    }

    subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let all = (metadataProvider?.get() ?? [:]).merging(metadata) { $1 }.merging(event.metadata ?? [:]) { $1 }
      let text = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      let error = event.error.map { " \($0)" } ?? ""
      lines.append("\(label) \(event.level) {\(text)} \(event.message)\(error)")
    }
  }

  final class Destination: Log, @unchecked Sendable {  // `lines` has a lock
    let lines: Lines

    init(_ lines: Lines) {
      self.lines = lines
      super.init(name: "lines", formatter: .pattern)
    }

    override func log(_ entry: LogEntry) { lines.append(format(entry)) }
  }

  @Test("Entries reach the backend with their level, their error and the request's metadata")
  func sending() throws {
    let lines = Lines()
    send(to: { label, provider in Recorder(label, provider, lines) })
    let shop = try Environment()
    let requests = try declareRequests(in: shop)
    let logger = LogManager.getLogger(forName: "Shop")
    logger.debug("below the level of the manager")
    logger.info("outside")
    try requests.withChild(Request(id: "17")) { child in
      logger.warn("few", metadata: ["items": "3"])
      logger.error(Declined(), message: "no payment")
      logger.fatal(message: "the end")
      Logging.Logger(label: "Other").info("of another library")
      try child.getBean(Logging.Logger.self).info("paid")
    }
    try shop.shutdown()
    #expect(
      lines.all == [
        "Shop info {} outside",
        "Shop warning {items=3 request=17} few",
        "Shop error {request=17} no payment Declined()",
        "Shop critical {request=17} the end",
        "Other info {request=17} of another library",
        "Shop info {request=17} paid",
      ])
  }

  @Test("Events reach the destinations with their level, their error and all metadata")
  func receiving() throws {
    let lines = Lines()
    receive(in: [Destination(lines)])
    let shop = try Environment()
    let requests = try declareRequests(in: shop)
    var logger = Logging.Logger(label: "Other")
    #expect(logger.logLevel == .info)
    for level in Logging.Logger.Level.allCases { logger.log(level: level, "\(level)") }
    logger.logLevel = .critical
    logger.info("below the level of the logger")
    try requests.withChild(Request(id: "17")) { child in
      logger.log(level: .critical, "no payment", error: Declined(), metadata: ["items": .stringConvertible(3)])
      try child.getBean(Logging.Logger.self).info("paid")
    }
    try shop.shutdown()
    #expect(LogManager.flush(within: .seconds(600)))
    #expect(
      lines.all == [
        "Other INFO {} info", "Other INFO {} notice", "Other WARN {} warning", "Other ERROR {} error",
        "Other FATAL {} critical", "Other FATAL {request=17 items=3} no payment Declined()",
        "Shop INFO {request=17} paid",
      ])
  }

  @Test("With both directions, an entry comes round once")
  func bothDirections() {
    let lines = Lines()
    LogManager().registerLogger("", level: .info, logs: [Destination(lines), SwiftLogDestination(name: "swift-log")])
    LoggingSystem.bootstrap(
      { label, _ in BeansLogHandler(label: label) }, metadataProvider: .beans)
    LogManager.getLogger(forName: "Shop").info("ours")
    Logging.Logger(label: "Other").info("theirs")
    #expect(lines.all == ["Shop INFO {} ours", "Shop INFO {} ours", "Other INFO {} theirs", "Other INFO {} theirs"])
  }
}

extension LogFormatter {
  fileprivate static var pattern: LogFormatter {
    LogFormatter { entry in
      let metadata = entry.metadata.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      let error = entry.error.map { " \($0)" } ?? ""
      return "\(entry.logger) \(entry.level) {\(metadata)} \(entry.message)\(error)"
    }
  }
}
