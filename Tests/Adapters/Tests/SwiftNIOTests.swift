import Beans
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import SwiftNIOListings

@Suite("SwiftNIO") struct SwiftNIOTests {
  private func withServer(
    _ body: (Environment, ServerChannel, Journal) async throws -> Void
  ) async throws {
    let server = try Environment()
    try server.define(server.bean(Journal.self, factory: Journal.init))
    let connections = try declareConnections(in: server)
    let journal = try server.getBean(Journal.self)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let listener = try await listen(on: group, connections)
    try await body(server, try #require(listener as? ServerChannel), journal)
    try await stop(server, listener, group)
  }

  @Test("Each connection has beans of its own, which its end releases on its loop")
  func connections() async throws {
    try await withServer { _, listener, journal in
      let (first, second) = (listener.accept(), listener.accept())
      var replies = first.replies.makeAsyncIterator()
      first.receive("a")
      #expect(await replies.next() == "1 a")
      first.receive("b")
      #expect(await replies.next() == "2 b")
      second.receive("c")
      var others = second.replies.makeAsyncIterator()
      #expect(await others.next() == "1 c")
      var ends = journal.stream.makeAsyncIterator()
      try await first.close()
      #expect(await ends.next() == "2 on its loop")
      try await second.close()
      #expect(await ends.next() == "1 on its loop")
      #expect(journal.lines.withLock { $0 } == ["2 on its loop", "1 on its loop"])
    }
  }

  @Test("The end of the server releases the beans of open connections on their loop")
  func endOfServer() async throws {
    try await withServer { server, listener, journal in
      let connection = listener.accept()
      connection.receive("a")
      var replies = connection.replies.makeAsyncIterator()
      #expect(await replies.next() == "1 a")
      try await server.shutdown()
      #expect(journal.lines.withLock { $0 } == ["1 on its loop"])
      connection.receive("b")
      #expect(await replies.next() == nil)
    }
  }
}
