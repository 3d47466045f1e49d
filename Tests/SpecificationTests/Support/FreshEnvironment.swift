import Beans

/// An environment of its own for each test of a suite, shut down when the test has ended.
///
///     @FreshEnvironment("shop") private var shop
///
/// A closure that the environment keeps, such as a factory, must not capture the suite, which keeps the environment:
/// copy what it uses into a local constant first.
@propertyWrapper
final class FreshEnvironment: Sendable {
  let wrappedValue: Environment

  init(_ name: String = "environment", traceOrigin: Bool = false) {
    do {
      wrappedValue = try Environment(name: name, traceOrigin: traceOrigin)
    } catch { preconditionFailure("an environment without a parent cannot fail: \(error)") }
  }

  deinit { try? wrappedValue.shutdown() }
}
