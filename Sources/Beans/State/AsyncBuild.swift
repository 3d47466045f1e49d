@_spi(BeansPackage) import BeansSupport

/// The creation of one bean that has to be awaited, and those who wait for it.
final class AsyncBuild: Sendable {
  /// The one that the running task belongs to.
  @TaskLocal static var current: AsyncBuild?

  /// Whose bean it is. Weak: a task that the creation leaves behind still knows this object.
  weak let environment: Environment?
  private let bean: BeanDirectory.Entry
  private let state = Locked(State())

  private struct State {
    var outcome: Result<Void, any Error>?
    var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    var nextWaiter = 0
    var task: Task<Void, Never>?
    /// Nobody waits any longer, or the environment ends.
    var isCancelled = false
  }

  /// Which creations wait for which, so that a circle is seen before it closes.
  private static let waiting = Locked<[ObjectIdentifier: [AsyncBuild]]>([:])

  init(_ environment: Environment, _ bean: BeanDirectory.Entry) {
    self.environment = environment
    self.bean = bean
  }

  /// Begins; `end` is called before anybody is told.
  func start(_ create: @escaping @Sendable () async throws -> Void, end: @escaping @Sendable () -> Void) {
    let task = Task {
      let outcome: Result<Void, any Error>
      do { outcome = .success(try await Self.$current.withValue(self) { try await create() }) } catch {
        outcome = .failure(error)
      }
      end()
      let waiters = state.withLock { state in
        state.outcome = outcome
        state.task = nil
        defer { state.waiters = [:] }
        return state.waiters
      }
      for waiter in waiters.values { waiter.resume(with: outcome) }
    }
    let isCancelled = state.withLock { state in
      if state.outcome == nil { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      return state.task
    }?.cancel()
  }

  /// Whether what it threw may be due to its having been cancelled for want of interest.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Returns when the bean is there. The last one who is cancelled here cancels the creation.
  ///
  /// - Throws: what the creation threw; `CancellationError`; `.cyclicDependency` where the creation waits for the one that the
  ///   calling task belongs to.
  func wait() async throws {
    let own = Self.current
    if let own { try Self.note(own, waitsFor: self) }
    defer { if let own { Self.forget(own, waitsFor: self) } }
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          if let outcome = state.outcome { return outcome }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[number] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let (waiter, isLast) = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: number)
        return (waiter, waiter != nil && state.waiters.isEmpty)
      }
      if isLast { cancel() }
      waiter?.resume(throwing: CancellationError())
    }
  }

  // MARK: circles

  private static func note(_ taker: AsyncBuild, waitsFor needed: AsyncBuild) throws {
    let path = waiting.withLock { waiting in
      let path = Self.path(from: needed, to: taker, waiting)
      if path == nil { waiting[ObjectIdentifier(taker), default: []].append(needed) }
      return path
    }
    guard let path else { return }
    let steps = ([taker] + path).map(\.bean.step)
    let text = steps.map(\.label).joined(separator: " → ")
    throw needed.bean.fault(
      .circleOfLookups, "\(text); break the circle with a Provider that is called later", steps: steps)
  }

  private static func forget(_ taker: AsyncBuild, waitsFor needed: AsyncBuild) {
    waiting.withLock { waiting in
      var rest = waiting.removeValue(forKey: ObjectIdentifier(taker)) ?? []
      if let index = rest.firstIndex(where: { $0 === needed }) { rest.remove(at: index) }
      if !rest.isEmpty { waiting[ObjectIdentifier(taker)] = rest }
    }
  }

  /// What lies on the way from one creation to another that it waits for, both included.
  private static func path(
    from first: AsyncBuild, to last: AsyncBuild, _ waiting: [ObjectIdentifier: [AsyncBuild]]
  ) -> [AsyncBuild]? {
    if first === last { return [last] }
    for next in waiting[ObjectIdentifier(first)] ?? [] {
      if let rest = path(from: next, to: last, waiting) { return [first] + rest }
    }
    return nil
  }

  /// Whether the running task creates a bean of the environment or of one below it, so that waiting for the environment
  /// would never end.
  static func isInside(_ environment: Environment) -> Bool {
    guard let own = current?.environment else { return false }
    return own === environment || own.isDescendant(of: environment)
  }
}

/// The beans of one environment that are being created, and those that are there and have yet to be put into their slots.
struct AsyncBuilds {
  var running: [Int32: AsyncBuild] = [:]
  var made: [Int32: ObjectReference] = [:]
}
