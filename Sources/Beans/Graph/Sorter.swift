/// Orders recipes so that dependencies come first, and judges what the order shows: cycles and captives.
enum Sorter {
  /// Depth first in order of definition, without recursion.
  static func sort(_ recipes: [Recipe]) -> (sorted: [Recipe], faults: [EnvironmentError]) {
    enum Mark { case new, open, done }
    let table = DependencyTable(recipes)
    var marks = Array(repeating: Mark.new, count: recipes.count)
    var sorted: [Recipe] = []
    sorted.reserveCapacity(recipes.count)
    var faults: [EnvironmentError] = []
    var stack: [(number: Int, rest: Range<Int>)] = []
    for root in recipes.indices where marks[root] == .new {
      marks[root] = .open
      stack.append((root, table.dependencies(of: root)))
      while let last = stack.indices.last {
        guard let position = stack[last].rest.popFirst() else {
          marks[stack[last].number] = .done
          sorted.append(recipes[stack[last].number])
          stack.removeLast()
          continue
        }
        let next = table.targets[position]
        switch marks[next] {
        case .done: break
        // A dense graph closes a circle with every other edge; nobody reads a thousand of them.
        case .open:
          if faults.count < 100 { faults.append(cycle(closing: recipes[next], stack.map { recipes[$0.number] })) }
        case .new:
          marks[next] = .open
          stack.append((next, table.dependencies(of: next)))
        }
      }
    }
    return (sorted, faults)
  }

  private static func cycle(closing recipe: Recipe, _ path: [Recipe]) -> EnvironmentError {
    let labels = path.drop { $0 !== recipe }.map(\.label) + [recipe.label]
    return recipe.definition.fault(
      .cyclicDependency,
      "\(labels.joined(separator: " → ")); break the circle with a Provider", path: labels)
  }

  /// Decides what a scope that is not open means: a longer-lived holder makes it a fault, a prototype passes it on.
  ///
  /// `recipes` are sorted, so that a chain through prototypes is judged from its end.
  static func judgeLifetimes(of recipes: [Recipe]) {
    for recipe in recipes {
      var through: Recipe?
      recipe.forEachDependency { if through == nil, $0.isInactive { through = $0 } }
      guard recipe.isInactive || through != nil,
        let inactive = recipe.inactive ?? through?.inactive?.within(recipe.label)
      else { continue }
      switch recipe.kind {
      case .prototype, .custom:
        recipe.inactive = inactive
      case .slot:
        recipe.inactive = nil
        recipe.faults.append(fault(of: recipe, inactive))
      }
    }
  }

  private static func fault(of recipe: Recipe, _ inactive: EnvironmentError) -> EnvironmentError {
    let path = inactive.path.joined(separator: " → ")
    guard isCaptive(inactive, in: recipe.plan) else {
      return recipe.definition.fault(
        .scopeNotActive, "\(inactive.message), in children of '\(recipe.plan.name)'", path: inactive.path)
    }
    return recipe.definition.fault(
      .captiveDependency,
      "\(recipe.label) (\(recipe.plan.scopeName ?? "singleton")) outlives what it would hold"
        + "\(inactive.scope.map { " (\($0))" } ?? ""): \(path); use a Provider",
      path: inactive.path)
  }

  /// Whether the missing scope is one that opens inside the plan's environments. Siblings and outer scopes do not
  /// outlive each other: there the scope is just not open.
  private static func isCaptive(_ inactive: EnvironmentError, in plan: Plan) -> Bool {
    guard plan.scopeName != nil, let scope = inactive.scope else { return true }
    return plan.descendants.contains { $0.scopeName == scope }
  }
}
