import BeansEventLoop
import Dispatch
import Testing

/// An actor whose jobs run on a loop.
private actor Counter {
  let loop: EventLoop
  private(set) var value = 0

  init(on loop: EventLoop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func increment() -> Bool {
    value += 1
    return loop.isCurrent
  }

  func incrementSynchronously() { value += 1 }
}

@Suite(.timeLimit(.minutes(20)))
struct ExecutorTests {
  @Test func anActorRunsOnTheLoop() async throws {
    try await EventLoop.withThread { loop in
      let counter = Counter(on: loop)
      let onLoop = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<1_000 { group.addTask { await counter.increment() } }
        return await group.reduce(true) { $0 && $1 }
      }
      #expect(onLoop)
      #expect(await counter.value == 1_000)
    }
  }

  @Test func callbacksOfTheLoopAreIsolatedToItsActors() async throws {
    try await EventLoop.withThread { loop in
      let counter = Counter(on: loop)
      await withUnsafeContinuation { continuation in
        loop.execute {
          counter.assumeIsolated { $0.incrementSynchronously() }
          continuation.resume()
        }
      }
      #expect(await counter.value == 1)
    }
  }

  @Test func tasksMayPreferTheLoop() async throws {
    @concurrent func nonisolatedWork(_ loop: EventLoop) async -> Bool {
      await Task.yield()
      return loop.isCurrent
    }
    try await EventLoop.withThread { loop in
      let results = await withTaskExecutorPreference(loop) {
        await withTaskGroup(of: Bool.self) { group in
          for _ in 0..<100 { group.addTask { await nonisolatedWork(loop) } }
          return await group.reduce(into: []) { $0.append($1) }
        }
      }
      #expect(results == [Bool](repeating: true, count: 100))
      #expect(await Task(executorPreference: loop) { loop.isCurrent }.value)
    }
  }

  @Test func jobsWaitForALoopThatIsNotRunning() async throws {
    let loop = try EventLoop()
    let counter = Counter(on: loop)
    let task = Task { await counter.increment() }
    // The job runs, before close() or after it.
    try loop.close()
    #expect(await task.value)
  }

  @Test func jobsAfterCloseStillRunOneAtATime() async throws {
    let loop = try EventLoop()
    let counter = Counter(on: loop)
    try loop.close()
    let isolated = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<1_000 { group.addTask { await counter.increment() } }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(isolated)
    #expect(await counter.value == 1_000)
    #expect(await Task(executorPreference: loop) { loop.isCurrent }.value)
    await #expect(throws: EventLoopError.self) { try await loop.sleep(for: .zero) }
  }

  @Test func jobsRaceWithTheEndOfTheLoop() async throws {
    for _ in 0..<50 {
      let thread = try EventLoopThread()
      let counter = Counter(on: thread.loop)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 { group.addTask { for _ in 0..<20 { _ = await counter.increment() } } }
        thread.stop()
      }
      try await thread.waitForEnd()
      #expect(await counter.value == 400)
    }
  }
}
