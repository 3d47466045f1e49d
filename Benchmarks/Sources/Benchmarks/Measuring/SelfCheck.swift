/// A failed proof before the measurement that both sides do the same work.
struct SelfCheckFailed: Error, CustomStringConvertible {
  let description: String
}

enum SelfCheck {
  static func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
    if !isTrue { throw SelfCheckFailed(description: "self-check: \(what())") }
  }

  /// No processor does anything in less: an operation below has been optimised away.
  static let leastNanoseconds = 0.2
}
