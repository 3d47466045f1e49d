@_spi(BeansPackage) import BeansErrors
import Dispatch

/// An event that happens once, with a value.
final class Latch<Value: Sendable>: Sendable {
  private enum State {
    case closed([@Sendable (Value) -> Void])
    case open(Value)

    var value: Value? { if case .open(let value) = self { value } else { nil } }
  }

  private let state = Locked(State.closed([]))

  /// Opens the latch; the first value counts.
  func open(_ value: Value) {
    let waiting = state.withLock { state -> [@Sendable (Value) -> Void] in
      guard case .closed(let waiting) = state else { return [] }
      state = .open(value)
      return waiting
    }
    for body in waiting { body(value) }
  }

  /// Calls `body` when the latch is open.
  private func whenOpen(_ body: @escaping @Sendable (Value) -> Void) {
    let value = state.withLock { state -> Value? in
      switch state {
      case .open(let value): return value
      case .closed(let waiting):
        state = .closed(waiting + [body])
        return nil
      }
    }
    if let value { body(value) }
  }

  /// Blocks the calling thread until the latch is open.
  func wait() -> Value {
    let signal = DispatchSemaphore(value: 0)
    while true {
      if let value = state.withLock({ $0.value }) { return value }
      whenOpen { _ in signal.signal() }
      signal.wait()
    }
  }

  /// Suspends the task until the latch is open.
  func opened() async -> Value {
    await withCheckedContinuation { continuation in whenOpen { continuation.resume(returning: $0) } }
  }
}

extension Latch<Void> {
  func open() { open(()) }
}
