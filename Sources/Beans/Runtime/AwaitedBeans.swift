import BeansErrors

/// The asynchronous creations that a lookup, a startup or another creation requires, each with its own prerequisites.
///
/// One walk over operands finds them before any creation begins, so that no build fails for want of a bean. Lookups
/// made by factories are unknown here. A plain bean on the path is passed through; the creation or build that takes the
/// bean also builds it.
struct AwaitedBeans: Sendable {
  struct Need {
    let environment: Environment
    let recipe: FrozenReference<Recipe>
    /// Whether the bean is a root, not only a dependency of another one.
    fileprivate let isRoot: Bool
    /// The number of the first bean found that depends on this one; usually the only one, so that there is no array.
    fileprivate var firstTaker: Int?
    /// The numbers of the other beans that depend on this one, in the order in which they were found.
    fileprivate var otherTakers: [Int] = []
    /// The number of dependencies that do not exist yet, and one for the walk.
    fileprivate var missing = 1

    /// Whether the bean is created asynchronously.
    var isCreated: Bool { recipe.value.work.contains(.await) }
  }

  private struct NeedKey: Hashable {
    let environment: ObjectIdentifier
    let number: Int32
  }

  private var needs: [Need] = []
  private var numberOfNeed = [NeedKey: Int]()
  /// The beans of which nothing is missing any more, since `takeFree`.
  private var free: [Int] = []

  /// Collects the beans of a lookup, and what has to precede them.
  init<T>(of type: T.Type, _ id: String?, in environment: Environment) throws {
    guard environment.core.compiledPlan.with({ $0.awaits }) else { return }
    try environment.forEachBean(of: Parameter.of(type), id: id) { note($1, in: $0, for: nil) }
    noteDependencies()
  }

  /// Collects a bean, and what has to precede it.
  init(_ recipe: FrozenReference<Recipe>, in environment: Environment) {
    note(recipe, in: environment, for: nil)
    noteDependencies()
  }

  /// Collects beans that are not lazy, and what has to precede them.
  init(eager recipes: [FrozenReference<Recipe>], in environment: Environment) {
    for recipe in recipes {
      note(recipe, in: environment, for: nil)
      notePrecedents(of: recipe, in: environment)
    }
    noteDependencies()
  }

  private mutating func noteDependencies() {
    var next = 0
    while next < needs.count {
      let need = needs[next]
      need.recipe.forEachTaken(in: need.environment) { note($1, in: $0, for: next) }
      next += 1
    }
    var settled: [Int] = []
    for number in needs.indices { countDown(number, &settled) }
    settle(settled)
  }

  /// Notes a bean that another one takes, or a root, unless the bean exists or needs no asynchronous creation.
  private mutating func note(_ recipe: FrozenReference<Recipe>, in environment: Environment, for taker: Int?) {
    guard recipe.value.awaits else { return }
    if recipe.value.kind == .slot, environment.core.slots[recipe.value.slot].content.isFilled { return }
    add(recipe, in: environment, for: taker)
  }

  /// Returns the number of the bean.
  @discardableResult
  private mutating func add(_ recipe: FrozenReference<Recipe>, in environment: Environment, for taker: Int?) -> Int {
    let key = NeedKey(environment: ObjectIdentifier(environment), number: recipe.value.number)
    let number = numberOfNeed[key] ?? needs.count
    if number == needs.count {
      numberOfNeed[key] = number
      needs.append(Need(environment: environment, recipe: recipe, isRoot: taker == nil))
    }
    // One taker may need a bean several times, as an argument and by `dependsOn`.
    guard let taker, (needs[number].otherTakers.last ?? needs[number].firstTaker) != taker else { return number }
    if needs[number].firstTaker == nil {
      needs[number].firstTaker = taker
    } else {
      needs[number].otherTakers.append(taker)
    }
    needs[taker].missing += 1
    return number
  }

  /// Notes the missing beans for which a bean has to wait, although it does not depend on them.
  private mutating func notePrecedents(of recipe: FrozenReference<Recipe>, in environment: Environment) {
    let slots = environment.core.slots
    let earlier = environment.core.compiledPlan.with { $0.order.precedents[recipe.value.number] } ?? []
    let missing = earlier.filter { !slots[$0].content.isFilled }
    if missing.isEmpty || slots[recipe.value.slot].content.isFilled { return }
    let taker = add(recipe, in: environment, for: nil)
    for other in missing { add(environment.recipe(other), in: environment, for: taker) }
  }

  var isEmpty: Bool { needs.isEmpty }

  /// Returns the beans that have become free since the last call: asynchronous ones can be created now, others can be
  /// built. Dependencies come first.
  mutating func takeFree() -> [Int] {
    defer { free = [] }
    return free
  }

  /// Notes that beans exist.
  mutating func settle(_ settled: consuming [Int]) {
    while let next = settled.popLast() {
      if let taker = needs[next].firstTaker { countDown(taker, &settled) }
      for taker in needs[next].otherTakers { countDown(taker, &settled) }
    }
  }

  /// Notes that a bean misses one thing less. Other beans do not wait for the build of a bean that need not be awaited.
  private mutating func countDown(_ number: Int, _ settled: inout [Int]) {
    needs[number].missing -= 1
    if needs[number].missing > 0 { return }
    free.append(number)
    if !needs[number].isCreated { settled.append(number) }
  }

  /// Returns the numbers of an environment's recipes that have to wait for a creation.
  func blocked(in environment: Environment) -> Set<Int32> {
    Set(
      needs.lazy.filter { $0.environment === environment && ($0.isCreated || $0.missing > 0) }
        .map(\.recipe.value.number))
  }

  subscript(number: Int) -> Need { needs[number] }

  /// Returns the beans on the path from a bean to a root, nearest first, without the bean itself.
  private func takers(of number: Int) -> some Sequence<Need> {
    sequence(first: number) { if needs[$0].isRoot { nil } else { needs[$0].firstTaker } }.dropFirst().map { needs[$0] }
  }

  /// Returns the asynchronous beans on the path to a bean, outermost first.
  func steps(to number: Int) -> [EnvironmentError.Step] {
    takers(of: number).filter(\.isCreated).reversed().map(\.recipe.value.definition.step)
  }

  /// Returns the error of a creation, with the beans that lead to its bean in the error's path.
  func failure(_ error: any Error, of number: Int) -> any Error {
    guard error is EnvironmentError, !needs[number].environment.core.lifecycle.isEnding else { return error }
    return takers(of: number).reduce(error) { $1.environment.failure($0, of: $1.recipe) }
  }
}
