import BeansEventLoop
import Testing

/// A loop with two ends of one connection on it, for tests that look at one of them.
///
/// `body` runs on the loop's thread once both ends are there. The loop stops when both ends have been closed.
struct Pair: Sendable {
  let loop: EventLoop
  let client: TCPConnection
  let server: TCPConnection

  /// Runs a loop around `body` and closes it; every handle must have been closed by then.
  static func run(_ body: @escaping @Sendable (Pair) -> Void) throws {
    let loop = try EventLoop()
    let ends = Box<(client: TCPConnection?, server: TCPConnection?)>((nil, nil))
    let started: @Sendable () -> Void = {
      guard let client = ends.value.client, let server = ends.value.server else { return }
      body(Pair(loop: loop, client: client, server: server))
    }
    let listener = try TCPListener(on: loop) { server in
      ends.update { $0.server = server }
      started()
    }
    try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
      switch result {
      case .success(let client): ends.update { $0.client = client }
      case .failure(let error):
        Issue.record(error)
        loop.stop()
      }
      started()
    }
    try loop.run()
    listener.close()
    ends.update { $0 = (nil, nil) }
    try loop.close()
    #expect(loop.handleTotals.opened == 3)
    #expect(loop.handleTotals.closed == 3)
  }

  /// To be called in the `onClose` of both ends.
  func ended() {
    if loop.openHandles["TCPConnection"] == nil { loop.stop() }
  }

  /// Records how each end was closed, and stops the loop after the second.
  func record(in reasons: Reasons) {
    client.onClose = { reason in
      reasons.client.update { $0.append(reason) }
      ended()
    }
    server.onClose = { reason in
      reasons.server.update { $0.append(reason) }
      ended()
    }
  }
}

/// The reasons with which the two ends of a `Pair` were closed; each should hold exactly one.
struct Reasons: Sendable {
  let client = Box<[TCPConnection.CloseReason]>([])
  let server = Box<[TCPConnection.CloseReason]>([])
}
