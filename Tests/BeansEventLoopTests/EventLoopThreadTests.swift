import BeansEventLoop
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(20)))
struct EventLoopThreadTests {
  private struct Failure: Error {}

  @Test func aThreadRunsAndClosesItsLoop() throws {
    let thread = try EventLoopThread(name: "a name of more than fifteen bytes")
    let isUp = Event()
    thread.loop.execute { isUp.signal() }
    isUp.wait()
    #expect(thread.loop.isRunning)
    #expect(!thread.loop.isCurrent)
    try thread.stopAndJoin()
    #expect(thread.loop.isClosed)
    try thread.join()
  }

  @Test func theLoopRunsWhenItsThreadHasBeenCreated() throws {
    for _ in 0..<200 {
      let thread = try EventLoopThread()
      #expect(thread.loop.isRunning)
      try thread.stopAndJoin()
    }
  }

  @Test func aNameWithANulIsRefused() {
    #expect(code { _ = try EventLoopThread(name: "loop\0 7") } == .invalidArgument)
  }

  @Test func aThreadReportsOpenHandles() throws {
    let listeners = Box<TCPListener?>(nil)
    let isUp = Event()
    let thread = try EventLoopThread { loop throws(EventLoopError) in
      let listener = try TCPListener(on: loop) { _ in }
      listeners.update { $0 = listener }
      isUp.signal()
    }
    isUp.wait()
    #expect(code { try thread.stopAndJoin() } == .openHandles)
    #expect(!thread.loop.isClosed)
    listeners.value?.close()
    try thread.loop.close()
  }

  @Test func aThreadReportsAFailedSetUp() throws {
    let thread = try EventLoopThread { loop throws(EventLoopError) in
      _ = try TCPListener(on: loop, port: 70_000) { _ in }
    }
    #expect(code { try thread.join() } == .invalidArgument)
    #expect(thread.loop.isClosed)
  }

  @Test func aThreadDoesNotWaitForItself() throws {
    let thread = try EventLoopThread()
    let result = Box<EventLoopError.Code?>(nil)
    thread.loop.execute {
      result.update { $0 = code { try thread.join() } }
      thread.stop()
    }
    try thread.join()
    #expect(result.value == .wouldDeadlock)
  }

  @Test func manyThreadsMayWaitForTheEnd() async throws {
    let thread = try EventLoopThread()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { try await thread.waitForEnd() } }
      thread.stop()
      try await group.waitForAll()
    }
  }

  @Test func theScopedFormThrowsWhatItsBodyThrows() async throws {
    let loops = Box<[EventLoop]>([])
    #expect(throws: Failure.self) {
      try EventLoop.withThread { loop in
        loops.update { $0.append(loop) }
        throw Failure()
      }
    }
    await #expect(throws: Failure.self) {
      try await EventLoop.withThread { loop in
        loops.update { $0.append(loop) }
        await Task.yield()
        throw Failure()
      }
    }
    #expect(loops.value.count == 2)
    #expect(loops.value.allSatisfy { $0.isClosed })
  }

  @Test func twoLoopsShareAPort() throws {
    let accepted = Box<[Int]>([0, 0])
    let listeners = Box<[TCPListener]>([])
    let served = Event()
    let serve: @Sendable (Int, Int) -> (@Sendable (EventLoop) throws(EventLoopError) -> Void) = { index, port in
      { loop throws(EventLoopError) in
        let listener = try TCPListener(on: loop, port: port, reusePort: true) { peer in
          accepted.update { $0[index] += 1 }
          peer.close()
          served.signal()
        }
        listeners.update { $0.append(listener) }
        served.signal()
      }
    }
    let first = try EventLoopThread(setUp: serve(0, 0))
    served.wait()
    let port = listeners.value[0].port
    let second = try EventLoopThread(setUp: serve(1, port))
    served.wait()
    let connections = 200
    try EventLoop.withThread { loop in
      loop.execute {
        for _ in 0..<connections {
          do {
            try TCPConnection.connect(on: loop, host: "127.0.0.1", port: port) { result in
              switch result {
              case .success(let client): client.resumeReading()
              case .failure(let error): Issue.record(error)
              }
            }
          } catch {
            Issue.record(error)
          }
        }
      }
      for _ in 0..<connections { served.wait() }
      // Every peer has been closed, so every client comes to its end by itself.
      while loop.openHandles["TCPConnection"] != nil { DispatchQueue.global().sync {} }
    }
    for listener in listeners.value { listener.loop.execute { listener.close() } }
    try first.stopAndJoin()
    try second.stopAndJoin()
    #expect(accepted.value[0] + accepted.value[1] == connections)
    #expect(accepted.value.allSatisfy { $0 > 0 }, "the system spreads connections over both loops")
  }
}
