// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
import Synchronization

/// The shutdown of one service.
final class GracefulShutdownManager: Sendable {
  private struct State {
    var isShuttingDown = false
    var last = 0
    var handlers = [Int: @Sendable () -> Void]()
  }

  @TaskLocal static var current: GracefulShutdownManager?
  private let state = Mutex(State())

  func shutDown() {
    let handlers = state.withLock { state in
      defer { (state.isShuttingDown, state.handlers) = (true, [:]) }
      return state.handlers
    }
    for handler in handlers.values { handler() }
  }

  func add(_ handler: @escaping @Sendable () -> Void) -> Int {
    let (number, isLate) = state.withLock { state in
      state.last += 1
      if !state.isShuttingDown { state.handlers[state.last] = handler }
      return (state.last, state.isShuttingDown)
    }
    if isLate { handler() }
    return number
  }

  func remove(_ number: Int) { state.withLock { $0.handlers[number] = nil } }
}

public func withGracefulShutdownHandler<T>(
  isolation: isolated (any Actor)? = #isolation, operation: () async throws -> T,
  onGracefulShutdown handler: @Sendable @escaping () -> Void
) async rethrows -> T {
  guard let manager = GracefulShutdownManager.current else { return try await operation() }
  let number = manager.add(handler)
  defer { manager.remove(number) }
  return try await operation()
}

public func gracefulShutdown() async throws {
  let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  await withGracefulShutdownHandler {
    for await _ in stream {}
  } onGracefulShutdown: {
    continuation.finish()
  }
  try Task.checkCancellation()
}
