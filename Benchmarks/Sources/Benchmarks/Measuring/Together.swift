import Glibc
import Synchronization

/// Several threads that do something at the same time.
enum Together {
  struct NoThread: Error {}

  /// Runs `body` with the numbers from 0 on threads of their own, which all begin once the last of them is there.
  /// Returns when all have ended, and throws an error that one of them threw.
  static func run(threads: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let work = SharedWork(threads: threads, body)
    var started: [pthread_t] = []
    for number in 0..<threads {
      var thread = pthread_t()
      let argument = Unmanaged.passRetained(ThreadWork(work, number))
      let status = pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().run()
          return nil
        }, argument.toOpaque())
      guard status == 0 else {
        argument.release()
        // Otherwise the threads that wait for this one would wait for ever.
        work.giveUp()
        for thread in started { pthread_join(thread, nil) }
        throw NoThread()
      }
      started.append(thread)
    }
    for thread in started { pthread_join(thread, nil) }
    try work.check()
  }
}

private final class SharedWork: Sendable {
  private let body: @Sendable (Int) throws -> Void
  private let missing: Atomic<Int>
  private let isGivenUp = Atomic(false)
  private let failure = Mutex<(any Error)?>(nil)

  init(threads: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    missing = Atomic(threads)
    self.body = body
  }

  func giveUp() { isGivenUp.store(true, ordering: .releasing) }

  func run(_ number: Int) {
    missing.subtract(1, ordering: .acquiringAndReleasing)
    while missing.load(ordering: .acquiring) > 0 {
      if isGivenUp.load(ordering: .acquiring) { return }
    }
    do { try body(number) } catch { failure.withLock { $0 = error } }
  }

  func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

private final class ThreadWork {
  private let work: SharedWork
  private let number: Int

  init(_ work: SharedWork, _ number: Int) {
    self.work = work
    self.number = number
  }

  func run() { work.run(number) }
}
