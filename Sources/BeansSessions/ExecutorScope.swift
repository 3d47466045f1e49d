public import Beans
@_spi(BeansPackage) import BeansErrors
import Synchronization

/// A scope whose beans are released on an executor, regardless of the thread that ends the scope.
///
/// ```swift
/// let factory = try shop.childFactory(
///   "session", seed: Void.self, scope: { ExecutorScope(name: "session", executor: executor) })
/// let sessions = Sessions(factory, idleLimit: .seconds(1_800))
/// ```
///
/// Without a scope object, the thread that ends a child releases its beans. The scope has neither a deadline nor an idle
/// time; `Sessions` has an idle limit. The executor has to run all jobs that it has accepted: a job that it
/// drops leaves beans unreleased, and a shutdown waiting. On the only thread of an executor, `await shutdown()`; a
/// synchronous `shutdown()` there waits for itself.
///
/// As a factory's scope object it is the life of one child. It may instead be registered with `registerScope`, or be
/// defined as a bean: it then keeps its beans itself. One object per child: do not share it.
public final class ExecutorScope: AbstractBeanScope, HostedScope, @unchecked Sendable {
  // The superclass is `@unchecked Sendable`; `state` guards the mutable state of this class, `releasing` is atomic.
  private let executor: any TaskExecutor
  private let state = Locked(State.new)
  /// The thread that releases beans on the executor now; 0 for none.
  private let releasing = Atomic<UInt>(0)

  private enum State {
    case new
    case opened(Environment)
    /// The scope has finished without a child, or its child has ended.
    case finished
  }

  /// Creates a scope.
  ///
  /// - Parameters:
  ///   - name: the name of the scope in declarations; for the scope object of a factory's children, the name of the
  ///     factory's scope.
  ///   - executor: the executor on which beans are released.
  public init(name: String, executor: any TaskExecutor) {
    self.executor = executor
    super.init(name: name)
  }

  /// Ends the child, or releases the beans that the scope itself keeps. Callable from any thread, idempotent; does not
  /// wait for the executor.
  public override func finish() {
    let environment = state.withLock { state -> Environment? in
      if case .opened(let environment) = state { return environment }
      state = .finished
      return nil
    }
    if let environment { environment.finish() } else { super.finish() }
  }

  // MARK: called by the container for the child

  /// Notes the child.
  package func opened(_ environment: Environment) {
    let isFinished = state.withLock { state -> Bool in
      // The end of a parent can end a child that is still being opened.
      guard case .new = state else { return true }
      state = .opened(environment)
      return false
    }
    if isFinished { environment.finish() }
  }

  /// Does nothing: a use has no effect on this scope.
  package func used() {}

  /// Whether the calling thread releases beans of this scope on the executor.
  package var canReleaseHere: Bool { releasing.load(ordering: .relaxed) == WaitForGraph.thread }

  /// Runs the work on the executor; at once on a thread that releases beans of this scope there.
  package func release(_ work: @escaping @Sendable () -> Void) -> Bool {
    if canReleaseHere {
      work()
      return true
    }
    Task(executorPreference: executor) { [self] in
      releasing.store(WaitForGraph.thread, ordering: .relaxed)
      work()
      releasing.store(0, ordering: .relaxed)
    }
    return true
  }

  /// Runs the work in a task on the executor.
  package func release(asynchronously work: @escaping @Sendable () async -> Void) {
    Task(executorPreference: executor, operation: work)
  }

  /// Notes the end of the child, after every release.
  package func closed() {
    state.withLock { $0 = .finished }
    finish()
  }
}
