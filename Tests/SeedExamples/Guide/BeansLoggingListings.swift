// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import BeansLogging

// end

struct LoggingCatalogue {
  // continued
  func configureLogging(to terminal: Log) -> LogManager {
    LogManager(installing: false)
      .registerLogger("", level: .warn, logs: [QueuedLog(name: "console", delegate: terminal)])
      .registerLogger("Shop", level: .info)
  }

  func report(_ count: Int, by manager: LogManager) {
    manager.getLogger(forName: "Shop.Orders").info("\(count) orders")
  }
  // end
}
