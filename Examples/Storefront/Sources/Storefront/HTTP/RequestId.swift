import Synchronization

/// The id of a request in the log: a prefix of the process, and the number of the request in it.
struct RequestId: Sendable, CustomStringConvertible {
  /// Differs from process to process, so that the lines of several nodes can be read together.
  private static let prefix = String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
  private static let last = Atomic<UInt64>(0)

  private let number: UInt64

  /// Creates the next id. Its text is made on demand.
  init() { number = Self.last.add(1, ordering: .relaxed).newValue }

  var description: String { "\(Self.prefix)-\(number)" }
}
