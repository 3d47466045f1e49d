@_spi(BeansPackage) import BeansErrors

/// Replaces the standard library's `Mutex` in the listings of this module, because ThreadSanitizer does not see the
/// order of accesses under that one when threads contend for it.
struct Mutex<Value>: ~Copyable, Sendable {
  private let locked: Locked<Value>

  init(_ value: consuming sending Value) { locked = Locked(value) }

  borrowing func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try locked.withLock(body)
  }
}
