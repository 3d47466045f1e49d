/// Orders beans so that dependencies come first, and judges what the order shows: cycles and captives.
struct Validator {
  /// The graphs that are compiled together, the outermost first.
  let graphs: [EnvironmentGraph]
  /// What the definitions are made of.
  let dependencies: [BeanDefinition.Dependency]

  /// Sorts the definitions of the graph and of all below it, and answers what is wrong.
  func validate() -> [EnvironmentError] {
    // A definition belongs to one graph; what it needs may belong to any further out.
    let definitions = graphs.count == 1 ? graphs[0].placed : graphs.flatMap { $0.placed }
    for (position, definition) in definitions.enumerated() { definition.position = position }
    let (order, circles) = TopologicalSort.sort(definitions.count) { number, body in
      definitions[number].forEachDependency(in: dependencies) { body($0.position) }
    }
    let sorted = order.map { definitions[$0] }
    let refused = judgeLifetimes(of: sorted)
    var faults: [EnvironmentError] = []
    if !circles.isEmpty || sorted.contains(where: { !$0.faults.isEmpty }) {
      faults = judge(graphs, sorted, circles.map { $0.map { definitions[$0] } }, refused)
    }
    if graphs.count == 1 {
      graphs[0].sorted = sorted
    } else {
      for definition in sorted { definition.graph.sorted.append(definition) }
    }
    return faults
  }

  /// The fault of a circle, of the bean that it is drawn from.
  private func circle(_ path: [BeanDefinition], from definition: BeanDefinition) -> EnvironmentError {
    let steps = (path.drop { $0 !== definition } + path.prefix { $0 !== definition } + [definition]).map(\.step)
    return definition.fault(
      .cyclicDependency,
      "\(steps.map(\.label).joined(separator: " → ")); break the circle with a Provider", steps: steps)
  }

  /// Decides what a scope that is not open means: a longer-lived holder makes it a fault, a prototype passes it on.
  ///
  /// `definitions` are sorted, so that a chain through prototypes is judged from its end. Returns the positions of those that
  /// name what is not open by themselves.
  private func judgeLifetimes(of definitions: [BeanDefinition]) -> Set<Int> {
    if definitions.allSatisfy({ $0.refusal == nil }) { return [] }
    let own = Set(definitions.filter { $0.refusal != nil }.map(\.position))
    for definition in definitions {
      var through: BeanDefinition?
      // In a circle, what a bean takes may not have been judged yet; a bean with a slot answers for itself.
      definition.forEachNamedDependency(in: dependencies) {
        if through == nil, $0.kind != .slot, $0.refusal != nil, !$0.isAtFault { through = $0 }
      }
      guard let refusal = definition.refusal?.value ?? through?.refusal?.value.within(definition) else {
        continue
      }
      switch definition.kind {
      case .prototype, .scoped, .product: definition.refusal = ValueBox(refusal)
      case .slot:
        definition.refusal = nil
        definition.note(fault(of: definition, refusal))
      }
    }
    return own
  }

  private func fault(of definition: BeanDefinition, _ refusal: EnvironmentError) -> EnvironmentError {
    let path = refusal.path.joined(separator: " → ")
    guard isCaptive(refusal, in: definition.graph) else {
      return definition.fault(
        .scopeBeside,
        "\(refusal.message); children of '\(definition.graph.name)' do not open in one", steps: refusal.steps)
    }
    return definition.fault(
      .captiveDependency,
      "\(definition.label) (\(definition.graph.scopeName ?? "singleton")) outlives what it would hold"
        + "\(refusal.scope.map { " (\($0))" } ?? ""): \(path); use a Provider",
      steps: refusal.steps)
  }

  /// Whether the missing scope is one that opens inside the graph's environments. Siblings and outer scopes do not outlive
  /// each other: there the scope is just not open.
  private func isCaptive(_ refusal: EnvironmentError, in graph: EnvironmentGraph) -> Bool {
    guard graph.scopeName != nil, let scope = refusal.scope else { return true }
    return graph.hasBelow(scope: scope)
  }

  /// Which faults are faults of this startup.
  ///
  /// - Parameters:
  ///   - graphs: whose definitions are judged.
  ///   - sorted: these, with dependencies first, but for those that close a circle.
  ///   - circles: each from the bean that closes it.
  ///   - refused: positions of those that name what is not open by themselves.
  private func judge(
    _ graphs: [EnvironmentGraph], _ sorted: [BeanDefinition], _ circles: [[BeanDefinition]], _ refused: Set<Int>
  ) -> [EnvironmentError] {
    markNeeded(sorted)
    var forgiven = sorted.filter { !$0.faults.isEmpty && isForgiven($0) }
    let (found, tolerated) = judge(circles)
    forgiven += tolerated
    let positions = Set(forgiven.map(\.position))
    for definition in forgiven { definition.refusal = definition.faults.first.map { ValueBox($0) } }
    passOn(positions, to: sorted.filter { $0.slot < 0 && $0.faults.isEmpty && !refused.contains($0.position) })
    return graphs.flatMap { $0.placed }.filter { !positions.contains($0.position) }.flatMap(\.faults) + found
  }

  /// The circles that are faults of this startup. One through a bean that is forgiven becomes a fault of that bean.
  private func judge(_ circles: [[BeanDefinition]]) -> (faults: [EnvironmentError], forgiven: [BeanDefinition]) {
    var (faults, tolerated): ([EnvironmentError], [BeanDefinition]) = ([], [])
    for path in circles {
      guard let forgiven = path.first(where: isSeenFromFurtherIn) else {
        faults += path.first.map { [circle(path, from: $0)] } ?? []
        continue
      }
      tolerated.append(forgiven)
      forgiven.note(circle(path, from: forgiven))
    }
    return (tolerated.isEmpty ? faults : circlesOfOthers(), tolerated)
  }

  /// The circles that lead through no bean that is forgiven.
  private func circlesOfOthers() -> [EnvironmentError] {
    let definitions = graphs.flatMap { $0.placed }
    let (_, circles) = TopologicalSort.sort(definitions.count) { number, body in
      if isSeenFromFurtherIn(definitions[number]) { return }
      definitions[number].forEachDependency(in: dependencies) { if !isSeenFromFurtherIn($0) { body($0.position) } }
    }
    return circles.map { path in circle(path.map { definitions[$0] }, from: definitions[path[0]]) }
  }

  /// Marks what has to be built for a bean that has a slot.
  private func markNeeded(_ definitions: [BeanDefinition]) {
    var rest = definitions.filter { $0.slot >= 0 }
    while let next = rest.popLast() {
      next.forEachNamedDependency(in: dependencies) {
        if !$0.isNeeded, $0.slot < 0 { rest.append($0) }
        $0.isNeeded = true
      }
    }
  }

  /// Makes prototypes that take a bean which lookups refuse be refused for the reason of that bean.
  private func passOn(_ refused: Set<Int>, to prototypes: [BeanDefinition]) {
    if refused.isEmpty { return }
    var refused = refused
    for definition in prototypes {
      var through: BeanDefinition?
      definition.forEachDependency(in: dependencies) {
        if through == nil, refused.contains($0.position) { through = $0 }
      }
      guard let cause = through?.refusal?.value else { continue }
      // A circle names every bean on it: a longer path would hide where it closes.
      definition.refusal = ValueBox(cause.code == .cyclicDependency ? cause : cause.within(definition))
      refused.insert(definition.position)
    }
  }

  /// Whether lookups alone tell of what is wrong with a bean: a prototype is built for the environment that asks, may need
  /// what only children have, and no bean has to need it.
  private func isForgiven(_ definition: BeanDefinition) -> Bool {
    if isSeenFromFurtherIn(definition) { return true }
    guard definition.lifetime == .prototype, !definition.isNeeded, definition.graph === graphs[0],
      definition.graph.directory === definition.directory
    else { return false }
    return graphs.dropFirst().contains { below in
      below.placed(definition.entry, in: definition.directory).map { $0.faults.isEmpty && $0.refusal == nil } ?? false
    }
  }

  /// Whether a bean is a prototype as seen from an environment further in, which may hide what it needs, and no bean there
  /// needs it.
  private func isSeenFromFurtherIn(_ definition: BeanDefinition) -> Bool {
    definition.lifetime == .prototype && !definition.isNeeded && definition.graph.directory !== definition.directory
  }
}

/// Depth first in order of definition, without recursion.
enum TopologicalSort {
  /// - Parameters:
  ///   - count: of what is to be sorted, by number.
  ///   - forEachDependency: calls its second argument with what a number needs, in order.
  /// - Returns: numbers, dependencies first, and the circles: each from the number that closes it. A dense graph closes one
  ///   with every other dependency, and nobody reads a thousand: beyond a hundred, only those that no other one leads into.
  static func sort(
    _ count: Int, _ forEachDependency: (Int, (Int) -> Void) -> Void
  ) -> (sorted: [Int], circles: [[Int]]) {
    // nil for what has not been looked at.
    var isDone = Array(repeating: Bool?.none, count: count)
    var (sorted, circles): ([Int], [[Int]]) = ([], [])
    sorted.reserveCapacity(count)
    // The dependencies of all, one behind the other, and where those of each begin.
    var (dependencies, starts): ([Int], [Int]) = ([], [])
    starts.reserveCapacity(count + 1)
    for number in 0..<count {
      starts.append(dependencies.count)
      forEachDependency(number) { dependencies.append($0) }
    }
    starts.append(dependencies.count)
    // What a circle that has been found leads into, by number.
    var isKnown = Array(repeating: false, count: count)
    // What is open, and which of its dependencies is next.
    var stack: [(number: Int, next: Int)] = []
    for root in 0..<count where isDone[root] == nil {
      isDone[root] = false
      stack.append((root, starts[root]))
      while let (number, position) = stack.last {
        guard position < starts[number + 1] else {
          stack.removeLast()
          isDone[number] = true
          sorted.append(number)
          continue
        }
        stack[stack.count - 1].next += 1
        let next = dependencies[position]
        switch isDone[next] {
        case true?: break
        case false?:
          let isFull = circles.count >= 100
          // From the top down to what closes the circle, or to what another one leads into.
          var bottom = stack.count - 1
          while stack[bottom].number != next, !isFull || !isKnown[stack[bottom].number] { bottom -= 1 }
          let path = stack[bottom...].map(\.number)
          if path[0] == next, !isFull || !isKnown[next] { circles.append(path) }
          for number in path + [next] { isKnown[number] = true }
        case nil:
          isDone[next] = false
          stack.append((next, starts[next]))
        }
      }
    }
    return (sorted, circles)
  }
}
