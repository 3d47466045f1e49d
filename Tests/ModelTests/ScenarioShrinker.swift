/// Shrinks a failing scenario as long as it still fails.
struct ScenarioShrinker {
  let fails: (Scenario) -> Bool

  func shrink(_ scenario: Scenario) -> Scenario {
    var smallest = scenario
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      // Large pieces come first: halves of the declarations, then quarters, and so on.
      var size = max(1, smallest.declarationCount / 2)
      while size >= 1 {
        var start = 0
        while start < smallest.declarationCount {
          let numbers = smallest.levels.flatMap(\.declarations).map(\.number)
          let dropped = Set(numbers[start..<min(start + size, numbers.count)])
          var candidate = smallest
          for level in candidate.levels.indices {
            candidate.levels[level].declarations.removeAll { dropped.contains($0.number) }
          }
          if fails(candidate) { (smallest, isSmaller) = (candidate, true) } else { start += size }
        }
        size /= 2
      }
      for candidate in steps(from: smallest) where fails(candidate) {
        (smallest, isSmaller) = (candidate, true)
        break
      }
    }
    return smallest
  }

  /// Returns the scenarios that are smaller by one thing.
  private func steps(from scenario: Scenario) -> [Scenario] {
    var steps: [Scenario] = []
    func add(_ change: (inout Scenario) -> Void) {
      var candidate = scenario
      change(&candidate)
      if candidate != scenario { steps.append(candidate) }
    }
    for index in scenario.operations.indices.reversed() { add { $0.removeOperation(index) } }
    for level in scenario.levels.indices.dropFirst().reversed() { add { $0.removeLevel(level) } }
    for level in scenario.levels.indices { add { $0.levels[level].registersScope = false } }
    for declaration in scenario.levels.flatMap(\.declarations) {
      func simplify(_ body: @escaping (inout Declaration) -> Void) { add { $0.change(declaration.number, body) } }
      for index in (declaration.parameters ?? []).indices { simplify { $0.parameters!.remove(at: index) } }
      simplify { $0.requirements = [] }
      simplify { $0.template = nil }
      simplify { $0.scope = nil }
      simplify { $0.failures = 0 }
      simplify { $0.hasCallbacks = false }
      simplify { $0.simplifyRole() }
      simplify { $0.isPrimary = false }
      simplify { $0.isLazy = false }
      simplify { $0.isAbstract = false }
      if declaration.kind != nil { simplify { $0.id = nil } }
    }
    for (index, operation) in scenario.operations.enumerated() {
      guard case .lookup(let environment, var lookup) = operation else { continue }
      (lookup.callsProviders, lookup.current) = (false, nil)
      add { $0.operations[index] = .lookup(environment, lookup) }
      lookup.givesBack = false
      add { $0.operations[index] = .lookup(environment, lookup) }
    }
    return steps
  }
}

extension Declaration {
  fileprivate mutating func simplifyRole() {
    switch role {
    case .forwarding, .factoryBean(returnsTaken: false): role = .bean
    case .factoryBean: role = .factoryBean(returnsTaken: false)
    case .decorator(returnsInner: true): role = .decorator(returnsInner: false)
    case .decorator, .bean, .instance: break
    }
  }
}

extension Scenario {
  /// Removes an operation; with one that opens an environment, all operations on that environment.
  mutating func removeOperation(_ index: Int) {
    let opened = operations[..<index].filter(\.opens).count + 1
    if operations[index].opens { removeEnvironment(opened) } else { operations.remove(at: index) }
  }

  private mutating func removeEnvironment(_ number: Int) {
    var removed: Set<Int> = [number]
    var next = 0
    var names: [Int: Int] = [0: 0]
    var kept: [Operation] = []
    for operation in operations {
      if case .open(let level, let parent, let starts) = operation {
        next += 1
        if removed.contains(next) || removed.contains(parent) {
          removed.insert(next)
          continue
        }
        names[next] = names.count
        kept.append(.open(level: level, parent: names[parent]!, starts: starts))
      } else if let environment = names[operation.environment], !removed.contains(operation.environment) {
        kept.append(operation.renumbered(environment) { names[$0] })
      }
    }
    operations = kept
  }

  /// Removes a level that contains no other one, with all environments of it.
  mutating func removeLevel(_ level: Int) {
    guard !levels.contains(where: { $0.parent == level }) else { return }
    while let index = operations.firstIndex(where: { if case .open(level, _, _) = $0 { true } else { false } }) {
      removeOperation(index)
    }
    levels.remove(at: level)
    for index in levels.indices {
      if let parent = levels[index].parent, parent > level { levels[index].parent = parent - 1 }
    }
    for (index, operation) in operations.enumerated() {
      if case .open(let other, let parent, let starts) = operation, other > level {
        operations[index] = .open(level: other - 1, parent: parent, starts: starts)
      }
    }
  }
}

extension Operation {
  var opens: Bool { if case .open = self { true } else { false } }

  /// The environment of the operation.
  var environment: Int {
    switch self {
    case .start(let environment), .lookup(let environment, _), .finish(let environment), .shutdown(let environment),
      .finishScope(let environment):
      environment
    case .open(_, let parent, _): parent
    }
  }

  fileprivate func renumbered(_ environment: Int, _ name: (Int) -> Int?) -> Operation {
    switch self {
    case .start: return .start(environment)
    case .finish: return .finish(environment)
    case .shutdown: return .shutdown(environment)
    case .finishScope: return .finishScope(environment)
    case .open: return self
    case .lookup(_, var lookup):
      lookup.current = lookup.current.flatMap(name)
      return .lookup(environment, lookup)
    }
  }
}
