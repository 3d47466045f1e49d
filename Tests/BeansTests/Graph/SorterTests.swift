import Testing

@testable import Beans

@Suite struct SorterTests {
  /// Recipes whose dependencies are given by number.
  private func recipes(_ dependencies: [[Int]]) -> (plan: Plan, recipes: [Recipe]) {
    let plan = Plan(name: "test", scopeName: nil, parent: nil)
    let recipes = dependencies.indices.map { number in
      let declaration = BeanDeclaration(type: Int.self, id: "\(number)", file: "test", line: 1)
      let definition = Definition(
        declaration, type: Int.self, constructor: nil, scopeName: "singleton", templates: [])
      return plan.recipe(for: definition, kind: .slot(number))
    }
    for (recipe, needed) in zip(recipes, dependencies) {
      recipe.arguments = needed.map { Edge(Dependency.of(Int.self), .bean(recipes[$0], hops: 0)) }
    }
    return (plan, recipes)
  }

  private func order(_ sorted: [Recipe]) -> [Int] { sorted.map(\.slot) }

  private func dismantle(_ recipes: [Recipe]) { recipes.forEach { $0.dismantle() } }

  @Test func independentBeansStayInOrder() {
    let (plan, recipes) = recipes([[], [], []])
    #expect(order(Sorter.sort(recipes).sorted) == [0, 1, 2])
    _ = plan
  }

  @Test func dependenciesComeFirst() {
    let (plan, recipes) = recipes([[2, 1], [3], [3], []])
    let (sorted, faults) = Sorter.sort(recipes)
    #expect(order(sorted) == [3, 2, 1, 0])
    #expect(faults.isEmpty)
    _ = plan
  }

  @Test func aBeanNeededTwiceStandsOnce() {
    let (plan, recipes) = recipes([[1, 1, 2], [2], []])
    #expect(order(Sorter.sort(recipes).sorted) == [2, 1, 0])
    _ = plan
  }

  @Test func dependenciesOutsideAreLeftOut() {
    let (plan, recipes) = recipes([[1], []])
    #expect(order(Sorter.sort([recipes[0]]).sorted) == [0])
    _ = plan
  }

  @Test func aCircleIsDrawnFromWhereItCloses() {
    let (plan, recipes) = recipes([[1], [2], [3], [1]])
    let faults = Sorter.sort(recipes).faults
    #expect(faults.map(\.code) == [.cyclicDependency])
    #expect(faults.first?.path == ["Int '1'", "Int '2'", "Int '3'", "Int '1'"])
    #expect(faults.first?.message.contains("Int '1' → Int '2' → Int '3' → Int '1'") == true)
    dismantle(recipes)
    _ = plan
  }

  @Test func aBeanThatNeedsItself() {
    let (plan, recipes) = recipes([[0]])
    #expect(Sorter.sort(recipes).faults.first?.path == ["Int '0'", "Int '0'"])
    dismantle(recipes)
    _ = plan
  }

  @Test func separateCirclesAreReportedEach() {
    let (plan, recipes) = recipes([[1], [0], [3], [2]])
    #expect(Sorter.sort(recipes).faults.count == 2)
    dismantle(recipes)
    _ = plan
  }

  @Test func aLongChainIsNoRecursion() {
    let count = 50_000
    let (plan, recipes) = recipes((0..<count).map { $0 + 1 < count ? [$0 + 1] : [] })
    #expect(order(Sorter.sort(recipes).sorted) == Array((0..<count).reversed()))
    dismantle(recipes)
    _ = plan
  }
}
