import Synchronization

/// The values that the supporting types of listings record, from any thread.
///
/// A file of listings that records by this type needs no import that its article would have to print.
final class Recorded<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  /// The values so far, in the order of their arrival.
  var all: [Value] { values.withLock { $0 } }

  /// Adds a value, and returns the number of values.
  @discardableResult func append(_ value: Value) -> Int {
    values.withLock { values in
      values.append(value)
      return values.count
    }
  }
}
