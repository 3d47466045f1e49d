/// Who needs whom among some recipes, by number: graphs are walked several times, and numbers need no hashing.
struct DependencyTable {
  let recipes: [Recipe]
  /// Where the dependencies of each recipe begin in `targets`; one more than there are recipes.
  private var starts: [Int] = []
  /// By number, in the order in which each recipe names them.
  private(set) var targets: [Int] = []

  /// Dependencies on other recipes are left out.
  init(_ recipes: [Recipe]) {
    self.recipes = recipes
    for number in recipes.indices { recipes[number].number = number }
    starts.reserveCapacity(recipes.count + 1)
    targets.reserveCapacity(2 * recipes.count)
    for recipe in recipes {
      starts.append(targets.count)
      recipe.forEachDependency { dependency in
        let number = dependency.number
        if number < recipes.count, recipes[number] === dependency { targets.append(number) }
      }
    }
    starts.append(targets.count)
  }

  /// Where they stand in `targets`.
  func dependencies(of number: Int) -> Range<Int> { starts[number]..<starts[number + 1] }
}
