@_spi(BeansPackage) import BeansErrors
import BeansEventLoop

@testable import BeansTLS

/// The behaviour of a server of a test.
enum ServerBehaviour: Sendable {
  /// Returns the bytes that it gets, in TLS; the PEM is that of the authority of clients, if they need a certificate.
  case echo(Identity, clients: [UInt8]? = nil)
  /// Sends these bytes, without TLS, when the first bytes have arrived.
  case plain([UInt8])
  /// Sends these bytes again and again, without TLS.
  case flood([UInt8])
  /// Closes the connection when the first bytes have arrived.
  case close
  /// Reads, and sends nothing.
  case stall

  func serve(_ connection: TCPConnection) {
    switch self {
    case .echo(let identity, let clients):
      let server = ServerSide(identity, clients: clients)
      connection.onRead = { bytes in
        let plaintext = server.receive(Array(bytes))
        connection.write(server.bytes() + server.encrypt(plaintext))
        if server.hasEnded { connection.write(server.end()) }
      }
    case .plain(let bytes): connection.onRead = { _ in connection.write(bytes) }
    case .flood(let bytes): send(bytes, again: connection)
    case .close: connection.onRead = { _ in connection.close() }
    case .stall: connection.onRead = { _ in }
    }
    connection.resumeReading()
  }

  private func send(_ bytes: [UInt8], again connection: TCPConnection) {
    connection.write(bytes) { error in if error == nil { send(bytes, again: connection) } }
  }
}

/// One connection with TLS to a server of the test, on a loop of its own in the thread of the test.
final class SocketVisit: Sendable {
  struct State {
    var result: Result<TCPConnection, EventLoopError>?
    var reason: TCPConnection.CloseReason?
    var accepted = 0
    var closed = 0
  }

  private final class Record: Sendable {
    private let state = Locked(State())

    func read<Value: Sendable>(_ value: (State) -> Value) -> Value { state.withLock { value($0) } }
    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    /// Stops the loop when the client and the accepted connection have been closed.
    func finish(_ loop: EventLoop) {
      let isOver = read { $0.reason != nil && $0.accepted > 0 && $0.accepted == $0.closed }
      if isOver { loop.stop() }
    }
  }

  private let record = Record()

  /// The error of the attempt to connect.
  var failure: EventLoopError? { if case .failure(let error) = record.read({ $0.result }) { error } else { nil } }
  /// The error for which an established connection was closed.
  var closeFailure: EventLoopError? { if case .failed(let error) = record.read({ $0.reason }) { error } else { nil } }
  /// Whether the client was closed in order.
  var endedInOrder: Bool { record.read { $0.reason == .local || $0.reason == .endOfFile } }

  /// Connects, and returns when both sides have been closed.
  ///
  /// - Parameters:
  ///   - host: the name or address of this machine.
  ///   - use: uses the established connection, on the loop's thread, and closes it sooner or later.
  init(
    _ behaviour: ServerBehaviour, host: String = "127.0.0.1", _ options: TLSOptions,
    use: @escaping @Sendable (TCPConnection) -> Void
  ) throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { [record] connection in
      record.change { $0.accepted += 1 }
      connection.onClose = { _ in
        record.change { $0.closed += 1 }
        record.finish(loop)
      }
      behaviour.serve(connection)
    }
    let context = try TLSContext(options)
    var connect = ConnectOptions()
    connect.layer = { host throws(StreamLayerError) in try context.makeLayer(host: host) }
    let address = SocketAddress(host: host, port: listener.port)
    let client = try TCPConnection.connect(on: loop, to: address, options: connect) { [record] result in
      record.change { $0.result = result }
      if case .success(let connection) = result { use(connection) }
    }
    client.onClose = { [record] reason in
      record.change { $0.reason = reason }
      record.finish(loop)
    }
    try loop.run()
    listener.close()
    try loop.close()
  }
}
