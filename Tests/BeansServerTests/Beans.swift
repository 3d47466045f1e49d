import Beans
import BeansEventLoop
import BeansServer

/// The error that a release throws.
struct Boom: Error, Equatable {
  var name = "boom"
}

// Beans that say nothing by themselves; declarations give them their callbacks.
final class Cart {}
final class Log {}
final class Transaction {}

/// A bean whose release suspends, and notes the threads before and after.
final class Upload: AsyncDisposableBean {
  private let loop: EventLoop
  private let journal: Journal

  init(loop: EventLoop, journal: Journal) {
    self.loop = loop
    self.journal = journal
  }

  func preDestroy() async throws {
    journal.note("upload begins\(loop.place)")
    try await loop.sleep(for: .milliseconds(1))
    journal.note("upload ends\(loop.place)")
  }
}

extension EventLoop {
  /// " on the loop" or " elsewhere".
  var place: String { isCurrent ? " on the loop" : " elsewhere" }
}

extension Environment {
  /// The error of a shutdown that must fail.
  func failedShutdown() -> EnvironmentError? {
    do {
      try shutdown()
      return nil
    } catch {
      return error as? EnvironmentError
    }
  }
}
