import Dispatch

/// A value that one thread uses at a time.
///
/// A semaphore protects it, not a `Mutex`: ThreadSanitizer does not see the order of a contended `Mutex`.
final class Guarded<Value>: @unchecked Sendable {  // `semaphore` protects `value`
  private let semaphore = DispatchSemaphore(value: 1)
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    semaphore.wait()
    defer { semaphore.signal() }
    return try body(&value)
  }
}
