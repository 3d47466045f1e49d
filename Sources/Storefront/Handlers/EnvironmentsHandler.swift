/// `GET /environments`: what is alive in this process, as text.
final class EnvironmentsHandler: RequestHandler {
  private let report: any LiveReport

  init(report: any LiveReport) { self.report = report }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse { .text(.ok, report.text()) }
}

/// Tells what is alive. Safe from any thread.
protocol LiveReport: AnyObject, Sendable {
  func text() -> String
}
