import TestSupport

/// A gate that blocks one thread, in a factory or a release, until the test opens it, and that reports the arrival.
///
/// `AsyncGate` is the same for tasks.
final class ThreadGate: Sendable {
  private let arrived: Gate
  private let opened: Gate

  init(_ name: String = "call") { (arrived, opened) = (Gate("\(name) entered"), Gate("\(name) may return")) }

  /// Reports the arrival, then blocks until the gate is open.
  func pass() throws {
    arrived.open()
    try opened.wait()
  }

  /// Passes the gate, then makes the value: `factory: { try gate.passing(Store()) }`.
  func passing<Value>(_ make: @autoclosure () throws -> Value) throws -> Value {
    try pass()
    return try make()
  }

  /// Waits until a thread has arrived.
  func arrival() throws { try arrived.wait() }

  func open() { opened.open() }
}
