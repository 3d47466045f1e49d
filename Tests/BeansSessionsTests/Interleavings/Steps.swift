@_spi(BeansPackage) import BeansErrors

/// Suspends tasks until the test resumes them.
final class Steps: Sendable {
  enum Kind: Sendable, Equatable {
    /// A call of the store has been sent.
    case sent(String)
    /// The store has done it.
    case done(String)
    /// In the middle of a request.
    case request
  }

  private struct Waiting {
    let kind: Kind
    let continuation: CheckedContinuation<Bool, Never>
  }

  private let waiting = Locked<[Waiting]>([])
  private let calls = Locked(0)

  /// The kinds of the waiting tasks, in the order in which they came.
  var kinds: [Kind] { waiting.withLock { $0.map(\.kind) } }

  /// True if a store is at work, of its own accord.
  var isCalling: Bool { calls.withLock { $0 > 0 } }

  func beginCall() { calls.withLock { $0 += 1 } }

  func endCall() { calls.withLock { $0 -= 1 } }

  /// Returns true when the test resumes the task; false if the step is to fail.
  func wait(_ kind: Kind) async -> Bool {
    await withCheckedContinuation { continuation in
      waiting.withLock { $0.append(Waiting(kind: kind, continuation: continuation)) }
    }
  }

  /// Lets the one at that place go on.
  func proceed(_ index: Int, succeeding: Bool = true) {
    waiting.withLock { $0.remove(at: index) }.continuation.resume(returning: succeeding)
  }
}
