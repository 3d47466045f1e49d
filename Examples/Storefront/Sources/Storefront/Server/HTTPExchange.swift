public import BeansEventLoop
import Synchronization

/// One request and the means to respond to it.
///
/// A handler must respond once. An exchange that is dropped without a response sends `500`, so a handler that loses it
/// cannot leave a client waiting, and the request is reported. `Sendable`: the response may come from any thread.
public final class HTTPExchange: Sendable {
  /// The error that a client gets if the handler drops its request.
  static let unanswered = HTTPError(.internalServerError, "The request got no response.")

  /// The request, complete with its body.
  public let request: HTTPRequest
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

  /// The loop of the connection. The handler runs there, and the request's environment is to be released there.
  public var loop: EventLoop { connection.loop }

  /// Sends the response. Safe from any thread: on the loop's thread at once, from another thread through the loop's
  /// queue. A response to a client that has disconnected is dropped.
  ///
  /// - Returns: false, without effect, if there is a response already.
  @discardableResult
  public func respond(_ response: HTTPResponse) -> Bool {
    if isAnswered.exchange(true, ordering: .acquiringAndReleasing) { return false }
    Self.deliver(response, sequence, connection)
    return true
  }

  /// Registers a closure that is called on the loop's thread if the connection ends before there is a response, so that
  /// the work can be cancelled. To be called on the loop's thread only.
  ///
  /// - Returns: false if the connection has ended already; `body` is not called then.
  @discardableResult
  func whenAbandoned(_ body: @escaping () -> Void) -> Bool {
    loop.checkIsolated()
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

/// A closure that responds to requests. It is called on the loop's thread of the connection, for one request after the
/// other. It must not block for long, because every other connection of the loop waits.
public typealias HTTPHandler = @Sendable (HTTPExchange) -> Void
