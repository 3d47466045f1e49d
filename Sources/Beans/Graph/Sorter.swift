/// Orders recipes so that dependencies come first, and judges what the order shows: cycles and captives.
enum Sorter {
  /// Depth first in order of definition, without recursion.
  static func sort(_ recipes: [Recipe]) -> (sorted: [Recipe], faults: [EnvironmentError]) {
    enum Mark { case open, done }
    var marks: [ObjectIdentifier: Mark] = [:]
    let mine = Set(recipes.map { ObjectIdentifier($0) })
    var sorted: [Recipe] = []
    var faults: [EnvironmentError] = []
    for root in recipes where marks[ObjectIdentifier(root)] == nil {
      var stack: [(recipe: Recipe, rest: [Recipe])] = [(root, root.dependencies.reversed())]
      marks[ObjectIdentifier(root)] = .open
      while let top = stack.last {
        guard let next = top.rest.last else {
          marks[ObjectIdentifier(top.recipe)] = .done
          sorted.append(top.recipe)
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].rest.removeLast()
        // What was compiled before has been sorted before.
        guard mine.contains(ObjectIdentifier(next)) else { continue }
        switch marks[ObjectIdentifier(next)] {
        case .done: break
        // A dense graph closes a circle with every other edge; nobody reads a thousand of them.
        case .open: if faults.count < 100 { faults.append(cycle(closing: next, stack.map(\.recipe))) }
        case nil:
          marks[ObjectIdentifier(next)] = .open
          stack.append((next, next.dependencies.reversed()))
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
      let through = recipe.dependencies.lazy.compactMap(\.inactive).first
      guard let inactive = recipe.inactive ?? through?.within(recipe.label) else { continue }
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
