import Beans
import BeansTesting
import Foundation

@testable import Appointments

/// The service at midnight of the first day of 2027, with a file of its own.
struct TestService {
  static let start = Date(timeIntervalSince1970: 1_798_761_600)

  let environment: Environment
  let clock: ManualClock
  let file: URL

  /// Runs `body` with the service, which is ready, and ends it.
  ///
  /// - Parameters:
  ///   - file: the file of the appointments; nil for a new one that is removed afterwards.
  ///   - declare: the declarations.
  ///   - overriding: overrides besides the one of the clock.
  ///   - body: the test.
  static func run(
    file: URL? = nil, _ declare: (Environment) throws -> Void = declareAppointments,
    overriding: (inout TestOverrides) -> Void = { _ in }, _ body: (TestService) async throws -> Void
  ) async throws {
    guard let file else {
      return try await withTemporaryFile { file in
        try await run(file: file, declare, overriding: overriding, body)
      }
    }
    let clock = ManualClock()
    try await withTestEnvironment(
      { service in
        let variables = [
          "BOOKING_FILE": file.path, "BOOKING_NOTICE": "1h", "SERVER_HOST": "127.0.0.1", "SERVER_PORT": "0",
        ]
        try service.addConfigurationSource(ProcessInfoConfigurationSource(variables: variables))
        try service.useClock(clock)
        try declare(service)
      },
      overriding: { overrides in
        overrides.override(WallClock.self) { WallClock { start + clock.now.offset / .seconds(1) } }
        overriding(&overrides)
      }
    ) { environment in
      try await body(TestService(environment: environment, clock: clock, file: file))
    }
  }

  static func withTemporaryFile(_ body: (URL) async throws -> Void) async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("appointments-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try await body(file)
  }

  /// Returns the response to a request.
  func send(_ method: String, _ path: String, _ body: String = "", session: String? = nil) async throws -> Response {
    try await environment.getBean(FrontDesk.self).handle(
      Request(method: method, path: path, session: session, body: body))
  }

  /// Returns the id of a new session with a name.
  func introduce(_ name: String) async throws -> String {
    try #require(try await send("PUT", "/name", name).session)
  }

  /// Books times of the first day of the year for a client.
  func book(_ times: String..., as session: String) async throws -> Response {
    let lines = times.map { "2027-01-01T\($0):00Z" }
    return try await send("POST", "/appointments", lines.joined(separator: "\n"), session: session)
  }

  /// The booked appointments, as `10:00 Ada`.
  var booked: [String] {
    get async throws {
      try await send("GET", "/appointments").body.split(separator: "\n").map { line in
        String(line).replacing("2027-01-01T", with: "").replacing(":00Z", with: "")
      }
    }
  }
}
