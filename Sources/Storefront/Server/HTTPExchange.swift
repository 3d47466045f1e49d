import BeansEventLoop
import Synchronization

/// One request and the way back to its client.
///
/// Must be answered once; an exchange that is dropped unanswered answers `500`, so a handler that loses it cannot leave a
/// client waiting, and is reported. `Sendable`: the answer may come from any thread.
final class HTTPExchange: Sendable {
  /// What the client is told whose request a handler has let go of.
  static let unanswered = HTTPError(.internalServerError, "The request was not answered.")

  let request: HTTPRequest
  private let connection: HTTPConnection
  private let sequence: Int
  private let isAnswered = Atomic(false)

  init(_ request: HTTPRequest, on connection: HTTPConnection, sequence: Int) {
    self.request = request
    self.connection = connection
    self.sequence = sequence
  }

  deinit {
    if isAnswered.load(ordering: .acquiring) { return }
    let (connection, request, sequence) = (connection, request, sequence)
    if connection.loop.isCurrent {
      connection.deliverUnanswered(request, sequence)
    } else {
      connection.loop.execute { connection.deliverUnanswered(request, sequence) }
    }
  }

  /// The loop of the connection: where the handler is called, and where its request's environment is to be released.
  var loop: EventLoop { connection.loop }

  /// Answers. From any thread: on the loop's own at once, from another through the loop's queue. False, and without effect,
  /// where there is an answer already. The answer of a client that has gone is dropped.
  @discardableResult
  func respond(_ response: HTTPResponse) -> Bool {
    if isAnswered.exchange(true, ordering: .acquiringAndReleasing) { return false }
    Self.deliver(response, sequence, connection)
    return true
  }

  /// Calls `body` on the loop's thread when the connection ends before there is an answer, so that the work can be given up.
  /// On the loop's thread only. Not called where the connection has ended already: false is returned.
  @discardableResult
  func whenAbandoned(_ body: @escaping () -> Void) -> Bool {
    loop.preconditionIsCurrent()
    return connection.setAbandoned(sequence, body)
  }

  private static func deliver(_ response: HTTPResponse, _ sequence: Int, _ connection: HTTPConnection) {
    if connection.loop.isCurrent {
      connection.deliver(response, sequence)
    } else {
      connection.loop.execute { connection.deliver(response, sequence) }
    }
  }
}

/// Answers requests. Called on the loop's thread of the connection, one request after the other; must not block for long,
/// because every other connection of the loop waits.
typealias HTTPHandler = @Sendable (HTTPExchange) -> Void
