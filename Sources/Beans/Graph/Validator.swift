/// Orders beans so that dependencies come first, and judges what the order shows: cycles and captives.
struct Validator {
  /// The outermost of the graphs.
  let graph: EnvironmentGraph

  /// Sorts the drafts of the graph and of all below it, and answers what is wrong.
  func validate() -> [EnvironmentError] {
    let graphs = [graph] + graph.below
    // A draft belongs to one graph; what it needs may belong to any further out.
    let drafts = graphs.flatMap(\.drafts)
    for (position, draft) in drafts.enumerated() { draft.position = position }
    let (order, circles) = TopologicalSort.sort(drafts.count) { number, body in
      drafts[number].forEachDependency { body($0.position) }
    }
    let sorted = order.map { drafts[$0] }
    judgeLifetimes(of: sorted)
    var faults: [EnvironmentError] = []
    if sorted.contains(where: { !$0.faults.isEmpty }) { faults = judge(graphs, sorted) }
    faults += circles.map { circle(closing: drafts[$0[0]], $0.map { drafts[$0] }) }
    if graphs.count == 1 {
      graph.sorted = sorted
    } else {
      for draft in sorted { draft.graph.sorted.append(draft) }
    }
    return faults
  }

  private func circle(closing draft: RecipeDraft, _ path: [RecipeDraft]) -> EnvironmentError {
    let labels = path.map(\.label) + [draft.label]
    return draft.definition.fault(
      .cyclicDependency, "\(labels.joined(separator: " → ")); break the circle with a Provider", path: labels)
  }

  /// Decides what a scope that is not open means: a longer-lived holder makes it a fault, a prototype passes it on.
  ///
  /// `drafts` are sorted, so that a chain through prototypes is judged from its end.
  private func judgeLifetimes(of drafts: [RecipeDraft]) {
    for draft in drafts {
      var through: RecipeDraft?
      draft.forEachDependency { if through == nil, $0.inactive != nil { through = $0 } }
      guard let inactive = draft.inactive ?? through?.inactive?.within(draft.label) else { continue }
      switch draft.kind {
      case .prototype, .scoped, .product: draft.inactive = inactive
      case .slot:
        draft.inactive = nil
        draft.faults.append(fault(of: draft, inactive))
      }
    }
  }

  private func fault(of draft: RecipeDraft, _ inactive: EnvironmentError) -> EnvironmentError {
    let path = inactive.path.joined(separator: " → ")
    guard isCaptive(inactive, in: draft.graph) else {
      return draft.definition.fault(
        .scopeNotActive, "\(inactive.message), in children of '\(draft.graph.name)'", path: inactive.path)
    }
    return draft.definition.fault(
      .captiveDependency,
      "\(draft.label) (\(draft.graph.scopeName ?? "singleton")) outlives what it would hold"
        + "\(inactive.scope.map { " (\($0))" } ?? ""): \(path); use a Provider",
      path: inactive.path)
  }

  /// Whether the missing scope is one that opens inside the graph's environments. Siblings and outer scopes do not outlive
  /// each other: there the scope is just not open.
  private func isCaptive(_ inactive: EnvironmentError, in graph: EnvironmentGraph) -> Bool {
    guard graph.scopeName != nil, let scope = inactive.scope else { return true }
    return graph.below.contains { $0.scopeName == scope }
  }

  /// Which faults are faults of this startup.
  private func judge(_ graphs: [EnvironmentGraph], _ sorted: [RecipeDraft]) -> [EnvironmentError] {
    for draft in sorted.reversed() where draft.slot >= 0 || draft.isNeeded {
      draft.forEachDependency { $0.isNeeded = true }
    }
    var faults: [EnvironmentError] = []
    for draft in graphs.flatMap(\.drafts) where !draft.faults.isEmpty {
      if isForgiven(draft) {
        // A lookup may still ask for it here.
        draft.inactive = draft.faults.first
      } else {
        faults += draft.faults
      }
    }
    return faults
  }

  /// A prototype is built for the environment that asks: it may need what only children have, and nobody has to need it.
  private func isForgiven(_ draft: RecipeDraft) -> Bool {
    guard draft.definition.lifetime == .prototype, !draft.isNeeded else { return false }
    let home = draft.definition.directory()
    if draft.graph.directory !== home { return true }
    guard draft.graph === graph else { return false }
    let key = Plan.EntryKey(home, draft.definition.number)
    return graph.below.contains { below in
      below.draft(of: key).map { $0.faults.isEmpty && $0.inactive == nil } ?? false
    }
  }
}

/// Depth first in order of definition, without recursion.
enum TopologicalSort {
  /// - Parameters:
  ///   - count: of what is to be sorted, by number.
  ///   - forEachDependency: calls its second argument with what a number needs, in order.
  /// - Returns: numbers, dependencies first, and the circles: each from the number that closes it. At most a hundred,
  ///   because a dense graph closes one with every other dependency, and nobody reads a thousand.
  static func sort(
    _ count: Int, _ forEachDependency: (Int, (Int) -> Void) -> Void
  ) -> (sorted: [Int], circles: [[Int]]) {
    enum Mark { case new, open, done }
    var marks = Array(repeating: Mark.new, count: count)
    var (sorted, circles): ([Int], [[Int]]) = ([], [])
    sorted.reserveCapacity(count)
    var stack: [(number: Int, rest: Range<Int>)] = []
    // The dependencies of all that are open, one behind the other.
    var dependencies: [Int] = []
    func open(_ number: Int) {
      marks[number] = .open
      let start = dependencies.count
      forEachDependency(number) { dependencies.append($0) }
      stack.append((number, start..<dependencies.count))
    }
    for root in 0..<count where marks[root] == .new {
      open(root)
      while let last = stack.indices.last {
        guard let position = stack[last].rest.popFirst() else {
          let (number, rest) = stack.removeLast()
          marks[number] = .done
          sorted.append(number)
          dependencies.removeSubrange((stack.last?.rest.upperBound ?? 0)...)
          _ = rest
          continue
        }
        let next = dependencies[position]
        switch marks[next] {
        case .done: break
        case .open:
          if circles.count < 100 { circles.append(stack.map(\.number).drop { $0 != next }.map { $0 }) }
        case .new: open(next)
        }
      }
    }
    return (sorted, circles)
  }
}
