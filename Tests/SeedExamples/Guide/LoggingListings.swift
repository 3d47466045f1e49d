// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans
import BeansLogging

// end

struct LoggingGuide {
  struct Order {
    var number = 3
    var items = 101
  }
  struct Request: Sendable {
    var number = 17
  }
  final class Basket: Sendable {
    init() { LoggingGuide.logger.info("basket created") }
  }

  // A test gives it destinations.
  static let manager = LogManager(installing: false)
  static let logger = manager.getLogger(forName: "Shop")

  // continued
  func installLogs(in folder: String) throws -> LogManager {
    let lines = try FileLog(name: "lines", fileName: "\(folder)/shop.log")
    let objects = try RollingFileLog(
      name: "objects", directory: folder, baseName: "shop-objects", formatter: .json(), keepDays: 14)
    return LogManager(installing: false)
      .registerLogger(
        "", level: .warn,
        logs: [QueuedLog(name: "lines", delegate: lines), QueuedLog(name: "objects", delegate: objects)]
      )
      .registerLogger("Shop", level: .info)
  }
  // end

  // listing
  static let short =
    LogFormatter.timestamp("dd/M/yyyy, H:mm:s") + LogFormatter.metadata("request", prefix: " <", suffix: ">") + " "
    + LogFormatter { $0.level >= .error ? "!" : "" } + LogFormatter.message()
  // end

  // listing
  func place(_ order: Order, _ logger: Logger) {
    LogMetadata.with(["order": "\(order.number)"]) {
      logger.info("\(order.items) items")
      if order.items > 100 { logger.warn("large", metadata: ["limit": "100"]) }
    }
  }
  // end

  // listing
  func declareRequests(in shop: Environment) throws -> EnvironmentFactory<Request> {
    try shop.childFactory("request", seed: Request.self) { request in
      try request.define(
        request.bean(Basket.self, factory: Basket.init).onDestroy { _ in Self.logger.info("basket released") })
    }
    .logMetadata { request in ["request": "\(request.number)"] }
  }

  func serve(_ request: Request, _ requests: EnvironmentFactory<Request>) throws {
    try requests.withChild(request) { child in
      Self.logger.info("begun")
      _ = try child.getBean(Basket.self)
    }
  }
  // end

  // listing
  func hangUp(_ manager: LogManager) {
    do { try manager.reopen() } catch {
      manager.getLogger(forName: "Shop").error(error, message: "a log stays in its old file")
    }
  }
  // end
}
