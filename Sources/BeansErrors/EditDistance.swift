/// A measure of near misses, for hints in messages.
package enum EditDistance {
  /// Whether two different words are at most two edits apart, and are long enough for that to be a near miss.
  package static func isSmall(_ left: String, _ right: String) -> Bool {
    let left = Array(left.utf8), right = Array(right.utf8)
    guard abs(left.count - right.count) <= 2, max(left.count, right.count) > 3 else { return false }
    var previous = Array(0...right.count)
    for (row, a) in left.enumerated() {
      var current = [row + 1]
      for (column, b) in right.enumerated() {
        current.append(min(previous[column] + (a == b ? 0 : 1), previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[right.count] <= 2
  }
}
