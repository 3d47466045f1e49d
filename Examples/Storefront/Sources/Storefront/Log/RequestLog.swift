/// The log entry of one request. Its time begins when the entry is created; the entry is written when the request ends.
/// Used by one thread at a time.
final class RequestLog {
  private let request: HTTPRequest
  private let log: AccessLog
  private let begun = MonotonicTime.now
  private var isWritten = false

  /// The status of the response; nil until there is a response.
  var status: HTTPStatus?

  init(request: HTTPRequest, log: AccessLog) {
    self.request = request
    self.log = log
  }

  /// Writes the entry, once.
  func finish() {
    if isWritten { return }
    isWritten = true
    log.record(request, status: status, took: MonotonicTime.now.since(begun))
  }
}
