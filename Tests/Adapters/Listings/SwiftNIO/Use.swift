import Beans
import NIOCore
import NIOPosix
import Synchronization

/// The state of one connection, which only its loop uses.
final class Dialogue {
  private let journal: Journal
  private let loop: any EventLoop
  private var count = 0
  init(_ journal: Journal, _ connection: Connection) {
    (self.journal, loop) = (journal, connection.channel.eventLoop)
  }

  func reply(to text: String) -> String {
    count += 1
    return "\(count) \(text)"
  }

  func end() { journal.note("\(count) on \(loop.inEventLoop ? "its loop" : "another thread")") }
}

final class Journal: Sendable {
  let lines = Mutex<[String]>([])
  /// The same lines, for a test that waits for them.
  let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func note(_ line: String) {
    lines.withLock { $0.append(line) }
    continuation.yield(line)
  }
}

// listing
func declareConnections(in server: Environment) throws -> EnvironmentFactory<Connection> {
  try server.childFactory("connection", seed: Connection.self) { connection in
    try connection.define(
      connection.bean(Dialogue.self, factory: Dialogue.init).onDestroy { dialogue in dialogue.end() })
  } scope: {
    connectionScope()
  }
}

func listen(
  on group: MultiThreadedEventLoopGroup, _ connections: EnvironmentFactory<Connection>
) async throws -> any Channel {
  try await ServerBootstrap(group: group)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(ConnectionHandler(connections))
      }
    }
    .bind(host: "127.0.0.1", port: 0).get()
}

func stop(_ server: Environment, _ listener: any Channel, _ group: MultiThreadedEventLoopGroup) async throws {
  try await listener.close()
  try await server.shutdown()
  try await group.shutdownGracefully()
}
// end
