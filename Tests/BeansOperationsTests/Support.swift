@_spi(BeansPackage) import BeansErrors
import BeansLogging
import BeansOperations
import BeansTesting
import Foundation
import TestSupport

extension OperationsResponse {
  var text: String { String(decoding: body, as: UTF8.self) }

  /// Returns the body, parsed as JSON.
  func json() throws -> [String: Any] {
    guard let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
      throw Stuck(description: "no object: \(text)")
    }
    return object
  }
}

extension Operations {
  /// Returns the response to a GET.
  func get(_ path: String, accept: String? = nil) throws -> OperationsResponse {
    guard let answer = respond(method: "GET", path: path, accept: accept) else {
      throw Stuck(description: "no answer to \(path)")
    }
    return answer
  }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
  /// Times as reports write them, with milliseconds.
  static var iso8601WithFractions: Self { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}

/// A bean of a session.
final class Cart {}

/// A bean of a request.
final class Log {}

/// A check that returns scripted results.
final class ScriptedCheck: HealthCheck {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  let probe: HealthProbe
  let isCritical: Bool
  private let state = Locked((failure: String?.none, calls: 0))

  init(_ name: String, _ probe: HealthProbe = .ready, isCritical: Bool = true, failure: String? = nil) {
    self.name = name
    self.probe = probe
    self.isCritical = isCritical
    self.failure = failure
  }

  /// The message of the error that it throws; nil if the check passes.
  var failure: String? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  var calls: Int { state.withLock { $0.calls } }

  func check() throws {
    let failure = state.withLock { state in
      state.calls += 1
      return state.failure
    }
    if let failure { throw Failure(description: failure) }
  }
}

extension ManualClock {
  /// Waits until a sleeper is due in exactly this time from now.
  func waitForSleeper(of duration: Duration) throws {
    try waitUntil("a sleep of \(duration)") { deadlines.contains(now.advanced(by: duration)) }
  }
}

/// A log that keeps its messages.
final class KeptLog: BeansLogging.Log, @unchecked Sendable {  // the journal is locked
  let journal = Journal()

  override func log(_ entry: LogEntry) { journal.note("\(entry.level) \(entry.message)") }

  /// A manager of its own that writes to this.
  func manager(_ level: Level = .info) -> LogManager {
    LogManager(installing: false).registerLogger("", level: level, logs: [self])
  }
}
