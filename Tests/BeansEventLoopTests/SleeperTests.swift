import BeansEventLoop
import Testing

@Suite(.timeLimit(.minutes(20)))
struct SleeperTests {
  @Test func aTaskSleepsForAtLeastTheDuration() async throws {
    try await EventLoop.withThread { loop in
      let start = ContinuousClock.now
      try await loop.sleep(for: .milliseconds(5))
      #expect(ContinuousClock.now - start >= .milliseconds(5))
      try await loop.sleep(for: .seconds(-1))
      #expect(loop.scheduledCount == 0)
    }
  }

  @Test func cancellationWakesAndTakesTheTimerBack() async throws {
    try await EventLoop.withThread { loop in
      let task = Task { try await loop.sleep(for: .seconds(3_600)) }
      while loop.scheduledCount == 0 { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(loop.scheduledCount == 0)
    }
  }

  @Test func aCancelledTaskDoesNotSleep() async throws {
    try await EventLoop.withThread { loop in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await loop.sleep(for: .seconds(3_600))
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func cancellationRacesWithTheTimer() async throws {
    try await EventLoop.withThread { loop in
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<2_000 {
          group.addTask { try? await loop.sleep(for: .microseconds(index % 50 * 20)) }
          if index % 100 == 99 { group.cancelAll() }
        }
      }
      #expect(loop.scheduledCount == 0)
    }
  }

  @Test func closingTheLoopWakesSleepers() async throws {
    let loop = try EventLoop()
    let task = Task { try await loop.sleep(for: .seconds(3_600)) }
    while loop.scheduledCount == 0 { await Task.yield() }
    try loop.close()
    do {
      try await task.value
      Issue.record("slept through the end of the loop")
    } catch let error as EventLoopError {
      #expect(error.code == .loopClosed)
    }
  }

  @Test func aTaskSleepsOnTheLoopsOwnThread() async throws {
    try await EventLoop.withThread { loop in
      let stayed = try await Task(executorPreference: loop) {
        for _ in 0..<10 { try await loop.sleep(for: .microseconds(100)) }
        return loop.isCurrent
      }.value
      #expect(stayed)
    }
  }
}
