import Beans
import BeansSessions

/// A handler of one request. Built for that request, and used by its loop thread alone.
///
/// Throws `HTTPError` or `ShopError` to select the response to the client. `HTTPResponse.init(failure:)` maps the other
/// errors, an unexpected one to `500`.
protocol RequestHandler: AnyObject {
  func handle(_ request: HTTPRequest) throws -> HTTPResponse
}

extension HTTPResponse {
  /// Creates the response to an error of a handler. For an unexpected error, the response contains no details.
  init(failure: any Error) {
    switch failure {
    case let error as HTTPError: self.init(error)
    case let error as ShopError: self.init(error.httpError)
    case is WriterQueue.Refused: self.init(Self.busy)
    case let error as SQLiteError where error.isBusy: self.init(Self.busy)
    case let error as SQLiteError where error.isDisplaced:
      self.init(HTTPError(.serviceUnavailable, "The store cannot be used. Try again later.", retryAfter: 60))
    case let error as SessionError where error.isTemporary:
      self.init(HTTPError(.serviceUnavailable, "Your session cannot be reached. Try again.", retryAfter: 1))
    case let error as SessionError:
      self.init(error.httpError)
    case let error as EnvironmentError where error.code == .exhausted:
      self.init(HTTPError(.serviceUnavailable, "There are too many visitors. Try again later.", retryAfter: 60))
    default: self.init(HTTPError(.internalServerError, "Something went wrong here."))
    }
  }

  private static var busy: HTTPError {
    HTTPError(.serviceUnavailable, "The store is busy. Try again.", retryAfter: 1)
  }
}

extension SessionError {
  /// The response to an error that a mere retry does not fix.
  fileprivate var httpError: HTTPError {
    switch self {
    case .ended, .conflict: HTTPError(.conflict, "Your session has been changed elsewhere. Try again.")
    case .tooLarge: HTTPError(.contentTooLarge, "There is too much in your session.")
    case .unavailable, .outcomeUnknown, .notEncodable: HTTPError(.internalServerError, "Something went wrong here.")
    }
  }
}
