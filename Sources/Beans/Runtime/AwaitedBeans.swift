/// The asynchronous creations that a lookup, a startup or another creation requires, each with its own prerequisites.
///
/// One walk over operands finds them before any creation begins, so that no build fails for want of a bean. Lookups
/// made by factories are unknown here. A plain bean on the path is passed through; the creation or build that takes the
/// bean also builds it.
struct AwaitedBeans: Sendable {
  private struct Need {
    let environment: Environment
    let recipe: FrozenReference<Recipe>
    /// Whether the bean is a root, not only a dependency of another one.
    let isRoot: Bool
    /// The number of the first bean found that depends on this one; usually the only one.
    var firstTaker: Int?
    /// The numbers of the other beans that depend on this one.
    var otherTakers: [Int] = []
    /// The number of dependencies that do not exist yet.
    var missing = 0

    var isCreated: Bool { recipe.value.work.contains(.await) }
  }

  private struct NeedKey: Hashable {
    let environment: ObjectIdentifier
    let number: Int32

    init(_ environment: Environment, _ recipe: FrozenReference<Recipe>) {
      (self.environment, number) = (ObjectIdentifier(environment), recipe.value.number)
    }
  }

  private var needs: [Need] = []
  private var numberOfNeed = [NeedKey: Int]()
  /// The number of the bean whose dependencies are being noted; nil while roots are.
  private var taker: Int?

  /// Collects the roots and their dependencies.
  ///
  /// - Parameter noteRoots: notes the roots, as `Environment.noteAwaited` does.
  init(_ noteRoots: (inout AwaitedBeans) throws -> Void) rethrows {
    try noteRoots(&self)
    noteDependencies()
  }

  @inline(never)
  private mutating func noteDependencies() {
    var next = 0
    while next < needs.count {
      let bean = needs[next]
      taker = next
      bean.environment.noteAwaited(by: bean.recipe, in: &self)
      next += 1
    }
  }

  /// Notes a bean, for the bean whose dependencies are being noted.
  fileprivate mutating func note(_ environment: Environment, _ recipe: FrozenReference<Recipe>) {
    let key = NeedKey(environment, recipe)
    let number = numberOfNeed[key] ?? needs.count
    if number == needs.count {
      numberOfNeed[key] = number
      needs.append(Need(environment: environment, recipe: recipe, isRoot: taker == nil))
    }
    // One taker may need a bean several times, as an argument and by `dependsOn`.
    guard let taker, (needs[number].otherTakers.last ?? needs[number].firstTaker) != taker else { return }
    if needs[number].firstTaker == nil {
      needs[number].firstTaker = taker
    } else {
      needs[number].otherTakers.append(taker)
    }
    needs[taker].missing += 1
  }

  /// Notes that a bean has to wait for others, although it does not depend on them.
  fileprivate mutating func note(
    _ environment: Environment, _ recipe: FrozenReference<Recipe>, after others: [FrozenReference<Recipe>]
  ) {
    note(environment, recipe)
    taker = numberOfNeed[NeedKey(environment, recipe)]
    for other in others { note(environment, other) }
    taker = nil
  }

  var isEmpty: Bool { needs.isEmpty }

  /// The beans of which nothing is missing any more, by number.
  struct Free {
    /// The asynchronous beans, which can be created now.
    var created: [Int] = []
    /// The other beans, which can be built now; dependencies first.
    var built: [Int] = []
  }

  /// Returns the beans that can be created or built first.
  mutating func begin() -> Free {
    var free = Free()
    for number in needs.indices.filter({ needs[$0].missing == 0 }) {
      if needs[number].isCreated {
        free.created.append(number)
      } else {
        free.built.append(number)
        settle(number, &free)
      }
    }
    return free
  }

  /// Notes that an asynchronous bean exists. Returns the beans that can be created or built now.
  mutating func settle(_ number: Int) -> Free {
    var free = Free()
    settle(number, &free)
    return free
  }

  private mutating func settle(_ number: Int, _ free: inout Free) {
    var settled = [number]
    func exists(for taker: Int) {
      needs[taker].missing -= 1
      if needs[taker].missing > 0 { return }
      if needs[taker].isCreated { return free.created.append(taker) }
      free.built.append(taker)
      settled.append(taker)
    }
    while let next = settled.popLast() {
      if let taker = needs[next].firstTaker { exists(for: taker) }
      for taker in needs[next].otherTakers { exists(for: taker) }
    }
  }

  /// Returns the numbers of an environment's recipes that have to wait for a creation, after `begin`.
  func blocked(in environment: Environment) -> Set<Int32> {
    Set(
      needs.lazy.filter { $0.environment === environment && ($0.isCreated || $0.missing > 0) }
        .map(\.recipe.value.number))
  }

  /// Returns the environment and the recipe of a bean.
  func bean(_ number: Int) -> (environment: Environment, recipe: FrozenReference<Recipe>) {
    (needs[number].environment, needs[number].recipe)
  }

  /// Returns the beans on the path from a bean to a root, nearest first, without the bean itself.
  private func takers(of number: Int) -> some Sequence<Need> {
    sequence(first: number) { needs[$0].isRoot ? nil : needs[$0].firstTaker }.dropFirst().map { needs[$0] }
  }

  /// Returns the asynchronous beans on the path to a bean, outermost first.
  func steps(to number: Int) -> [EnvironmentError.Step] {
    takers(of: number).filter(\.isCreated).reversed().map(\.recipe.value.step)
  }

  /// Returns the error of a creation, with the beans that lead to its bean in the error's path.
  func failure(_ error: any Error, of number: Int) -> any Error {
    guard error is EnvironmentError, !needs[number].environment.core.lifecycle.isEnding else { return error }
    return takers(of: number).reduce(error) { $1.environment.failure($0, of: $1.recipe) }
  }
}

// No closure is called with each bean: the compiler would copy the whole walk for each closure.
extension Environment {
  /// Notes a bean that is not lazy, unless it exists or waits for no asynchronous creation.
  func noteAwaited(eager recipe: FrozenReference<Recipe>, in beans: inout AwaitedBeans) {
    noteAwaited(recipe, in: &beans)
    let slots = core.slots
    guard let before = core.compiledPlan.with({ $0.order.precedents[recipe.value.number] }),
      !slots[recipe.value.slot].content.isFilled
    else { return }
    let missing = before.map { self.recipe($0) }.filter { !slots[$0.value.slot].content.isFilled }
    if !missing.isEmpty { beans.note(self, recipe, after: missing) }
  }

  /// Notes each bean that a bean takes or requires, if that bean is missing and needs an asynchronous creation.
  func noteAwaited(by recipe: FrozenReference<Recipe>, in beans: inout AwaitedBeans) {
    recipe.value.operands.forEach { noteAwaited($0, in: &beans) }
    recipe.value.properties.forEach { noteAwaited($0, in: &beans) }
    recipe.value.requirements.forEach { noteAwaited($0, in: &beans) }
    recipe.value.needs.forEach { noteAwaited($0, in: &beans) }
  }

  /// Notes each bean that an operand leads to, if that bean is missing and needs an asynchronous creation.
  @inline(never)
  func noteAwaited(_ operand: Operand, in beans: inout AwaitedBeans) {
    switch operand.place {
    case .own(let slot), .counted(let slot): noteAwaited(recipe(slot), in: &beans)
    case .outer(let slot): noteAwaited(slot, in: &beans)
    case .computed(let number):
      noteAwaited(core.compiledPlan.with { $0.computations[Int(number)] }, in: &beans)
    }
  }

  /// Notes the bean of an environment that is no child of a factory, if that bean is missing and needs an asynchronous
  /// creation.
  @inline(never)
  private func noteAwaited(_ slot: Slot, in beans: inout AwaitedBeans) {
    if slot.content.isFilled { return }
    var next = Optional(self)
    while let environment = next {
      if let own = environment.ownSlot(slot) { return environment.noteAwaited(environment.recipe(own), in: &beans) }
      next = environment.parent
    }
  }

  /// Notes each bean that a computation leads to, if that bean is missing and needs an asynchronous creation.
  @inline(never)
  func noteAwaited(_ computation: Computation, in beans: inout AwaitedBeans) {
    switch computation {
    case .outer(let hops, let number), .scoped(let number, let hops):
      let home = ancestor(hops).object
      home.noteAwaited(home.recipe(number), in: &beans)
    case .slot(let slot): noteAwaited(slot, in: &beans)
    case .prototype(let number), .owned(let number, _): noteAwaited(recipe(number), in: &beans)
    case .composed(let operands, _, _):
      for operand in operands { noteAwaited(operand, in: &beans) }
    case .collected(let computations, _, _):
      for computation in computations { noteAwaited(computation, in: &beans) }
    case .deferred, .absent, .provider, .environment, .configuration, .injection, .products: break
    }
  }

  /// Notes a bean of this environment, unless the bean exists or needs no asynchronous creation.
  @inline(never)
  func noteAwaited(_ recipe: FrozenReference<Recipe>, in beans: inout AwaitedBeans) {
    guard recipe.value.awaits else { return }
    if recipe.value.kind == .slot, core.slots[recipe.value.slot].content.isFilled { return }
    beans.note(self, recipe)
  }
}
