/// One part of the libraries that reads users' input.
protocol FuzzTarget {
  /// An input made of these random numbers and nothing else.
  func makeInput(_ random: inout RandomNumbers) -> [UInt8]

  /// Uses the input, and returns the outcome as a word.
  ///
  /// - Throws: `Broken` if the outcome breaks a promise. Faults of the input are outcomes.
  func run(_ input: [UInt8]) throws -> String

  /// Outcomes that too few inputs would show the inputs to be no good: those, and the least share of them.
  var expected: [(outcome: String, share: Double)] { get }
}

/// A promise that was not kept.
struct Broken: Error, CustomStringConvertible { let description: String }
