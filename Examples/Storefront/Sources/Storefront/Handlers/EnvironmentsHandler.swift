/// The handler of `GET /environments`: lists the live environments of this process, as text.
final class EnvironmentsHandler: RequestHandler {
  private let report: any LiveReport

  init(report: any LiveReport) { self.report = report }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse { .text(.ok, report.text()) }
}

/// A report on the live environments. Safe from any thread.
protocol LiveReport: AnyObject, Sendable {
  func text() -> String
}
