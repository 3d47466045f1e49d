import Beans
@_spi(BeansPackage) import BeansErrors
import Glibc

/// Counts the instances of one test that are alive.
final class Census: Sendable {
  private let counts = Locked((made: 0, gone: 0))

  func enter() { counts.withLock { $0.made += 1 } }
  func leave() { counts.withLock { $0.gone += 1 } }

  var made: Int { counts.withLock { $0.made } }
  var alive: Int { counts.withLock { $0.made - $0.gone } }
}

/// A bean that exists to be released again, after any fault of the others.
final class Witness: Sendable {
  private let census: Census

  init(_ census: Census) {
    self.census = census
    census.enter()
  }

  deinit { census.leave() }
}

/// Runs threads at the same time; returns the error of each when all have ended.
func together(_ bodies: [@Sendable () throws -> Void]) -> [(any Error)?] {
  final class Entry: Sendable {
    let body: @Sendable () throws -> Void
    let outcome = Locked<(any Error)?>(nil)
    init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
    func run() { do { try body() } catch { outcome.withLock { $0 = error } } }
  }
  let entries = bodies.map { Entry($0) }
  let threads = entries.map { entry in
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        // Balances `passRetained` below; the pointer is handed to this thread alone.
        if let argument { Unmanaged<Entry>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, Unmanaged.passRetained(entry).toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
  return entries.map { $0.outcome.withLock { $0 } }
}
