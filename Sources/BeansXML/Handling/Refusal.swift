import Beans

/// The occurrences in one document of a construct that is not supported.
struct Refusal {
  struct Key: Hashable {
    let file: String
    let message: String
  }

  /// The position of the fault among all faults of the load. The fault's origin is that of the first occurrence.
  let position: Int
  private var more = 0
  private var next: EnvironmentError.Origin?

  init(position: Int) { self.position = position }

  /// Counts a further occurrence.
  mutating func note(_ origin: EnvironmentError.Origin) {
    more += 1
    next = next ?? origin
  }

  /// Returns the message of the fault with the count of further occurrences.
  func text(_ message: String) -> String {
    guard let next else { return message }
    let place = next.column.map { "\(next.line):\($0)" } ?? "\(next.line)"
    return message + (more == 1 ? " (again at \(place))" : " (and \(more) more, the next at \(place))")
  }
}
