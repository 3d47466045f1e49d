extension Sequence {
  /// Returns the elements in the order of their numbers.
  ///
  /// Sorts the numbers, with code that all types of elements share. `sorted(by:)` is compiled anew for each closure.
  func inOrder(of number: (Element) -> Int) -> [Element] {
    let elements = Array(self)
    return order(of: elements.map(number)).map { elements[$0] }
  }
}

/// Returns the positions of numbers, in the order of the numbers.
@inline(never)
private func order(of numbers: [Int]) -> [Int] { numbers.indices.sorted { numbers[$0] < numbers[$1] } }
