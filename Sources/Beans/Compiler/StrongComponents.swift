/// The strongly connected components of a graph: two numbers are in one component if each leads to the other.
struct StrongComponents {
  /// The component of each number.
  private(set) var component: [Int]

  /// - Parameters:
  ///   - count: the number of elements, which are numbered from 0.
  ///   - forEachDependency: calls its second argument with each dependency of a number.
  init(_ count: Int, _ forEachDependency: (Int, (Int) -> Void) -> Void) {
    let order = TopologicalSort.sort(count, forEachDependency).sorted
    var dependents = Array(repeating: [Int](), count: count)
    for number in 0..<count { forEachDependency(number) { dependents[$0].append(number) } }
    component = Array(repeating: -1, count: count)
    // In the order in which their visits end, from the last one, against the direction of dependencies.
    for (root, first) in order.reversed().enumerated() where component[first] < 0 {
      var rest = [first]
      component[first] = root
      while let next = rest.popLast() {
        for dependent in dependents[next] where component[dependent] < 0 {
          component[dependent] = root
          rest.append(dependent)
        }
      }
    }
  }

  /// Whether two numbers lead to each other.
  func areTogether(_ one: Int, _ other: Int) -> Bool { component[one] == component[other] }
}
