import Beans

/// Answers one request. Built for it, and used by its loop thread alone.
///
/// Throws `HTTPError` or `ShopError` for what the client is told, and anything else for `500`.
protocol RequestHandler: AnyObject {
  func handle(_ request: HTTPRequest) throws -> HTTPResponse
}

extension HTTPResponse {
  /// The answer to what a handler threw. The client is told no more of an unexpected error than that there was one.
  init(failure: any Error) {
    switch failure {
    case let error as HTTPError: self.init(error)
    case let error as ShopError: self.init(error.httpError)
    case let error as SQLiteError where error.isBusy:
      self.init(HTTPError(.serviceUnavailable, "The store is busy. Try again.", retryAfter: 1))
    case let error as EnvironmentError where error.code == .exhausted:
      self.init(HTTPError(.serviceUnavailable, "There are too many visitors. Try again later.", retryAfter: 60))
    default: self.init(HTTPError(.internalServerError, "Something went wrong here."))
    }
  }
}
