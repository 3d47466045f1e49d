@_spi(BeansPackage) import BeansSupport
import CBeansRuntime
import Synchronization

/// What a plain environment knows besides its plan: how far its startup has come.
final class Setup: Sendable {
  enum Phase {
    case declaring
    /// By that thread; others wait in the `BuildQueue`.
    case starting(thread: UInt, isCompiled: Bool)
    case started
    case failed(any Error)
  }

  private let phase = Locked<Phase>(.declaring)
  /// Whether the phase is another one by now: every declaration asks.
  private let isClosed = Atomic(false)
  let traceOrigin: Bool
  /// Of what a factory's `configure` declares into: never started.
  let isTemplate: Bool

  init(traceOrigin: Bool = false, isTemplate: Bool = false) {
    self.traceOrigin = traceOrigin
    self.isTemplate = isTemplate
  }

  var isDeclaring: Bool { !isClosed.load(ordering: .acquiring) }

  /// Whether the calling thread is starting the environment and may look up beans already.
  var isStartedHere: Bool {
    phase.withLock {
      if case .starting(let thread, isCompiled: true) = $0 { thread == UInt(beans_thread()) } else { false }
    }
  }

  /// What startup threw.
  var failure: (any Error)? {
    phase.withLock { if case .failed(let error) = $0 { error } else { nil } }
  }

  /// The thread that starts the environment.
  var starter: UInt? {
    phase.withLock { if case .starting(let thread, _) = $0 { thread } else { nil } }
  }

  /// Names the startup among all that threads wait for.
  var key: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

  enum Turn {
    /// This thread starts the environment.
    case mine
    case wait
    case done
    case failed(any Error)
  }

  func begin() -> Turn {
    phase.withLock { phase in
      switch phase {
      case .declaring:
        isClosed.store(true, ordering: .releasing)
        phase = .starting(thread: UInt(beans_thread()), isCompiled: false)
        return .mine
      case .starting(let thread, let isCompiled):
        if thread != UInt(beans_thread()) { return .wait }
        // Only the name of a user's scope is asked for meanwhile.
        return isCompiled ? .done : .failed(EnvironmentError(.frozen, "a lookup while the declarations are being read"))
      case .started: return .done
      case .failed(let error): return .failed(error)
      }
    }
  }

  func compiled() {
    phase.withLock { phase in
      if case .starting(let thread, _) = phase { phase = .starting(thread: thread, isCompiled: true) }
    }
  }

  func end(_ error: (any Error)?) {
    phase.withLock {
      isClosed.store(true, ordering: .releasing)
      $0 = error.map { .failed($0) } ?? .started
    }
  }
}
