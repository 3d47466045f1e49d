/// Orders beans so that dependencies come first, and reports cycles and captive dependencies.
struct Validator {
  /// The graphs that are compiled together, the outermost first.
  let graphs: [EnvironmentGraph]
  /// The dependencies of all beans.
  let dependencies: [PlacedBean.Dependency]

  /// Sorts the beans of all graphs. Returns the faults found.
  func validate() -> [EnvironmentError] {
    // A bean belongs to one graph; its dependencies may belong to any graph further out.
    let beans = graphs.flatMap(\.placed)
    for (position, bean) in beans.enumerated() { bean.position = position }
    var (order, circles) = TopologicalSort.sort(beans.count) { number, body in
      beans[number].forEachDependency(in: dependencies) { body($0.position) }
    }
    if circles.isEmpty, dependencies.contains(where: \.parameter.isDeferred) { order = orderWithDeferred(beans) }
    let sorted = order.map { beans[$0] }
    let refused = judgeLifetimes(of: sorted)
    var faults: [EnvironmentError] = []
    if !circles.isEmpty || sorted.contains(where: { !$0.faults.isEmpty }) {
      faults = judge(sorted, circles.map { $0.map { beans[$0] } }, refused)
    }
    if graphs.count == 1 {
      graphs[0].sorted = sorted
    } else {
      for bean in sorted { bean.graph.sorted.append(bean) }
    }
    return faults
  }

  /// Returns the positions of beans in the order of creation: a bean that another one takes by a `Lazy` comes first
  /// as well, unless it leads back to its taker.
  private func orderWithDeferred(_ beans: [PlacedBean]) -> [Int] {
    let components = StrongComponents(beans.count) { number, body in
      beans[number].forEachDependency(in: dependencies, includesDeferred: true) { body($0.position) }
    }
    return TopologicalSort.sort(beans.count) { number, body in
      beans[number].forEachDependency(in: dependencies) { body($0.position) }
      beans[number].forEachDependency(in: dependencies, includesDeferred: true) {
        if !components.areTogether(number, $0.position) { body($0.position) }
      }
    }.sorted
  }

  /// Returns the fault of a cycle, drawn from the bean that closes it.
  private func fault(ofCircle path: [PlacedBean]) -> EnvironmentError {
    let beans = path + [path[0]]
    let steps = beans.map(\.definition.step)
    let advice = properties(of: beans).map { "a circle of properties (\($0)): " + Self.adviceForProperties }
    return path[0].definition.fault(
      .cyclicDependency,
      steps.map(\.label).joined(separator: " → ") + "; " + (advice ?? "break the circle with a Provider"), steps: steps)
  }

  private static let adviceForProperties =
    "a bean is complete before another one gets it; replace one of them by an @Injected property of type Provider, or "
    + "set it in a postConstruct()"

  /// Returns the properties of a document that form a cycle, each with its place; nil if another dependency takes part.
  private func properties(of circle: [PlacedBean]) -> String? {
    var found: [String] = []
    for (owner, bean) in zip(circle, circle.dropFirst()) {
      guard !owner.constructs(with: bean, dependencies),
        let property = owner.binding?.given.first(where: { $0.value.leads(to: bean.spec) }),
        let origin = property.value.origin
      else { return nil }
      found.append("\(property.name) at \(origin)")
    }
    return found.joined(separator: ", ")
  }

  /// Decides the effect of a scope that is not open: a fault of a longer-lived holder, or a refusal that a prototype
  /// passes on.
  ///
  /// The beans are sorted, so that a chain through prototypes is judged from its end. Returns the positions of
  /// the beans that name a scope which is not open themselves.
  private func judgeLifetimes(of beans: [PlacedBean]) -> Set<Int> {
    if beans.allSatisfy({ $0.refusal == nil }) { return [] }
    let own = Set(beans.filter { $0.refusal != nil }.map(\.position))
    for bean in beans {
      var through: PlacedBean?
      // In a cycle, a dependency may not have been judged yet. A bean with a slot has a fault of its own.
      bean.forEachDependency(in: dependencies, includesDeferred: true) {
        if through == nil, $0.kind != .slot, $0.refusal != nil, !$0.isAtFault { through = $0 }
      }
      guard let refusal = bean.refusal?.value ?? through?.refusal?.value.within(bean) else {
        continue
      }
      switch bean.kind {
      case .prototype, .scoped, .product: bean.refusal = ValueBox(refusal)
      case .slot:
        bean.refusal = nil
        bean.note(fault(of: bean, refusal))
      }
    }
    return own
  }

  private func fault(of bean: PlacedBean, _ refusal: EnvironmentError) -> EnvironmentError {
    let path = refusal.path.joined(separator: " → ")
    guard isCaptive(refusal, in: bean.graph) else {
      return bean.definition.fault(
        .scopeBeside,
        "\(refusal.message); children of '\(bean.graph.name)' do not open in one", steps: refusal.steps)
    }
    return bean.definition.fault(
      .captiveDependency,
      "\(bean.definition.label) (\(bean.graph.scopeName ?? "singleton")) would keep a bean with a shorter life"
        + "\(refusal.scope.map { " (\($0))" } ?? ""): \(path); take a Current or a Provider",
      steps: refusal.steps)
  }

  /// Whether the missing scope opens inside the graph's environments. Sibling and outer scopes do not outlive each
  /// other: there the scope is just not open.
  private func isCaptive(_ refusal: EnvironmentError, in graph: EnvironmentGraph) -> Bool {
    guard graph.scopeName != nil, let scope = refusal.scope else { return true }
    return graph.hasBelow(scope: scope)
  }

  /// Returns the faults that make this startup fail.
  ///
  /// - Parameters:
  ///   - sorted: the beans, dependencies first, except those that close a cycle.
  ///   - circles: the cycles, each from the bean that closes it.
  ///   - refused: the positions of beans that name a scope which is not open themselves.
  private func judge(
    _ sorted: [PlacedBean], _ circles: [[PlacedBean]], _ refused: Set<Int>
  ) -> [EnvironmentError] {
    markNeeded(sorted)
    let forgiven = sorted.filter { !$0.faults.isEmpty && isForgiven($0) }
    let positions = Set(forgiven.map(\.position))
    for bean in forgiven { bean.refusal = bean.faults.first.map { ValueBox($0) } }
    passOn(positions, to: sorted.filter { $0.slot < 0 && $0.faults.isEmpty && !refused.contains($0.position) })
    return graphs.flatMap { $0.placed }.filter { !positions.contains($0.position) }.flatMap(\.faults)
      + faults(of: circles)
  }

  /// Returns the fault of each cycle: once, although every graph further in may contain a cycle of prototypes.
  private func faults(of circles: [[PlacedBean]]) -> [EnvironmentError] {
    var known: Set<Set<ObjectIdentifier>> = []
    return circles.compactMap { path in
      if known.insert(Set(path.map { ObjectIdentifier($0.definition) })).inserted { fault(ofCircle: path) } else { nil }
    }
  }

  /// Marks the beans on which a bean with a slot depends.
  private func markNeeded(_ beans: [PlacedBean]) {
    var rest = beans.filter { $0.slot >= 0 }
    while let next = rest.popLast() {
      next.forEachDependency(in: dependencies, includesDeferred: true) {
        if !$0.isNeeded, $0.slot < 0 { rest.append($0) }
        $0.isNeeded = true
      }
    }
  }

  /// Refuses prototypes that depend on a refused bean, for the reason of that bean.
  private func passOn(_ refused: Set<Int>, to prototypes: [PlacedBean]) {
    if refused.isEmpty { return }
    var refused = refused
    for bean in prototypes {
      var through: PlacedBean?
      bean.forEachDependency(in: dependencies) {
        if through == nil, refused.contains($0.position) { through = $0 }
      }
      guard let cause = through?.refusal?.value else { continue }
      bean.refusal = ValueBox(cause.within(bean))
      refused.insert(bean.position)
    }
  }

  /// Whether the bean's faults surface only in lookups. A prototype is built for the environment that looks it up, and
  /// may depend on beans that only children have, so its faults are tolerated while no bean needs it.
  private func isForgiven(_ bean: PlacedBean) -> Bool {
    guard bean.definition.lifetime == .prototype, !bean.isNeeded else { return false }
    // A declaration further in may hide the dependencies of a bean from further out.
    if bean.graph.directory !== bean.directory { return true }
    guard bean.graph === graphs[0] else { return false }
    return graphs.dropFirst().contains { below in
      below.placed(bean.definition.number, from: bean.directory).map { $0.faults.isEmpty && $0.refusal == nil } ?? false
    }
  }
}

/// Topological sorting: depth first in order of definition, without recursion.
enum TopologicalSort {
  /// Sorts numbers so that dependencies come first.
  ///
  /// - Parameters:
  ///   - count: the number of elements, which are numbered from 0.
  ///   - forEachDependency: calls its second argument with each dependency of a number, in order.
  /// - Returns: the numbers, dependencies first, and the cycles, each from the number that closes it. Since a dense
  ///   graph closes a cycle with every other dependency, beyond a hundred cycles only those are returned into which no
  ///   other cycle leads.
  static func sort(
    _ count: Int, _ forEachDependency: (Int, (Int) -> Void) -> Void
  ) -> (sorted: [Int], circles: [[Int]]) {
    // nil for a number that has not been visited; false while it is on the stack.
    var isDone = Array(repeating: Bool?.none, count: count)
    var (sorted, circles): ([Int], [[Int]]) = ([], [])
    sorted.reserveCapacity(count)
    // The dependencies of all numbers in one array, and the index at which those of each number begin.
    var (dependencies, starts): ([Int], [Int]) = ([], [])
    starts.reserveCapacity(count + 1)
    for number in 0..<count {
      starts.append(dependencies.count)
      forEachDependency(number) { dependencies.append($0) }
    }
    starts.append(dependencies.count)
    // Whether a cycle that has been found contains the number or leads to it.
    var isKnown = Array(repeating: false, count: count)
    // The numbers being visited, each with the index of its next dependency.
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
          // From the top down to the number that closes the cycle, or to one on a known cycle.
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
