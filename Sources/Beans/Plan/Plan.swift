import BeansConfiguration
import Synchronization

/// All recipes of one environment, or of all children of one factory: compiled by startup, shared and immutable.
@usableFromInline
final class Plan: Sendable {
  /// The scope that the environments open; nil for an environment that is no child of a factory, which holds
  /// singletons.
  let scopeName: String?
  /// The declaration of the factory that opens the environments; nil where `scopeName` is nil.
  let opening: SourceLocation?
  let parent: Plan?
  /// The nearest environment that is no child of a factory: the one that startup has compiled the plan for. Outlives
  /// every environment of the plan.
  let home: Unretained<Environment>
  let directory: BeanDirectory
  let configuration: ConfigurationManager
  /// The recipes; a recipe with a slot has the slot's number.
  let recipes: FrozenArray<Recipe>
  let computations: FrozenArray<Computation>
  /// For each recipe, a type that its objects have turned out to have, and that needs neither completion nor release;
  /// nil where there is none so far. Usually the objects of a recipe have one type.
  let plainTypes: FrozenArray<Atomic<ObjectIdentifier?>>
  let index: LookupIndex
  let layout: SlotLayout
  /// The number of opened and of finished environments of the plan.
  let counts = ScopeCounts()
  /// Whether slot 0 is filled when an environment opens.
  let hasSeed: Bool
  /// The treatment of the seed at the end of an environment.
  let seedRelease: SeedRelease
  /// The metadata that the environments contribute to log entries.
  let childMetadata: ChildMetadata
  /// Whether the environments, or environments further out, contribute metadata to log entries.
  let hasLogMetadata: Bool
  /// The observers of the environments, those from further out first.
  let observers: [any EnvironmentObserver]
  /// Whether the environments log each bean.
  let isTraced: Bool
  /// Whether some visible beans are created asynchronously.
  let awaits: Bool
  /// Whether no release needs more than a call, as long as all beans are of the classes that startup knows.
  let releasesAtOnce: Bool
  /// Whether the release of a child is nothing but the release of its objects: no bean that the plan knows needs more,
  /// and no bean of an unforeseen class so far. A build stores false before the slot contains such a bean.
  let isSilent: Atomic<Bool>
  let order: Order
  let services: Services
  let report: Report
  private let numbers: Numbers
  /// The directories of the factories below, at any depth.
  let below: ArraySlice<BeanDirectory>
  /// The parameters of beans here and further out. The index contains lookups by the same types.
  let parameters: [Parameter]
  // Recipes contain slices of these arrays.
  private let operands: FrozenArray<Operand>
  private let steps: FrozenArray<Step>

  /// The order of startup.
  struct Order: Sendable {
    /// The recipes of beans declared here, dependencies first.
    let sorted: [Int32]
    /// The numbers of the beans that `ready()` creates before a bean which does not depend on them, by the bean's
    /// number.
    let precedents: [Int32: [Int32]]
  }

  /// The beans that serve others.
  struct Services: Sendable {
    /// The post processors, those of ancestors first.
    let processors: [Operand]
    let injections: [Operand]
    /// The receivers of events, by the type of the events, in the order of their calls.
    let receivers: [ObjectIdentifier: [EventReceiver]]
  }

  /// The declarations made here, for reports.
  struct Report: Sendable {
    /// The declarations in order: the numbers of beans, and -1 for each of `templates`.
    let listed: [Int32]
    /// The report lines and the places of declarations without a bean.
    let templates: [(text: String, location: SourceLocation)]
  }

  /// The numbers of the recipes.
  struct Numbers: Sendable {
    /// The recipes of beans declared here, by the beans' own numbers; -1 for a bean without a recipe.
    let own: [Int32]
    /// The recipes of beans that are declared further out and built here, by their definitions.
    let foreign: [ObjectIdentifier: Int32]
  }

  /// The treatment of the seed at the end of an environment.
  enum SeedRelease {
    /// There is no seed.
    case none
    /// The seed is released without a lock.
    case plain
    /// Threads that write log entries may read the seed: the slot is emptied under the environment's lock.
    case locked
  }

  init(
    directory: BeanDirectory, opening: SourceLocation?, parent: Plan?, home: Unretained<Environment>,
    configuration: ConfigurationManager, layout: SlotLayout, childMetadata: ChildMetadata,
    observers: [any EnvironmentObserver], isTraced: Bool,
    order: Order, services: Services, report: Report, numbers: Numbers,
    below: ArraySlice<BeanDirectory>, parameters: [Parameter],
    recipes: consuming FrozenArray<Recipe>, computations: [Computation], index: consuming LookupIndex,
    operands: consuming FrozenArray<Operand>, steps: consuming FrozenArray<Step>
  ) {
    scopeName = directory.scopeName
    self.opening = opening
    self.parent = parent
    self.home = home
    self.directory = directory
    self.configuration = configuration
    self.layout = layout
    hasSeed = directory.beans.first?.isSeed == true
    seedRelease = if !hasSeed { .none } else if childMetadata.isEmpty { .plain } else { .locked }
    self.childMetadata = childMetadata
    hasLogMetadata = !childMetadata.isEmpty || parent?.hasLogMetadata == true
    self.observers = (parent?.observers ?? []) + observers
    self.isTraced = isTraced
    awaits = directory.visibleTraits.contains(.awaited)
    self.order = order
    self.services = services
    self.report = report
    self.numbers = numbers
    self.below = below
    self.parameters = parameters
    let endings = (0..<recipes.count).map { recipes.reference($0).value.ending }
    releasesAtOnce = !endings.contains(.care)
    isSilent = Atomic(opening != nil && endings.allSatisfy { $0 == .nothing })
    plainTypes = FrozenArray(count: recipes.count) { Atomic(nil) }
    self.recipes = recipes
    self.computations = FrozenArray(computations)
    self.index = index
    self.operands = operands
    self.steps = steps
  }

  var name: String { directory.name }

  /// Whether the plan's environment is no child of a factory.
  var isPlain: Bool { scopeName == nil }

  @inline(__always)
  func recipe(_ number: Int32) -> FrozenReference<Recipe> { recipes.reference(Int(number)) }

  /// Returns a bean as seen from an environment so many steps further in than this plan's; nil where the bean's scope is
  /// not open here.
  func locate(
    _ bean: BeanDirectory.Found, hops further: Int32 = 0
  ) -> (bean: LocatedBean, recipe: FrozenReference<Recipe>)? {
    var (next, hops) = (Optional(self), further)
    while let plan = next {
      if let number = plan.number(of: bean) {
        let recipe = plan.recipe(number)
        // The environment of a plan that is only drawn has no slots.
        let slots = plan.isPlain ? plan.home.with { $0.core.slotsReference.load(ordering: .relaxed) } : nil
        return (recipe.value.located(hops: hops, slots), recipe)
      }
      if case .prototype = bean.lifetime { return nil }
      (next, hops) = (plan.parent, hops + 1)
    }
    return nil
  }

  private func number(of bean: BeanDirectory.Found) -> Int32? {
    if bean.directory !== directory { return numbers.foreign[ObjectIdentifier(bean.definition)] }
    let number = numbers.own[Int(bean.number)]
    return if number < 0 { nil } else { number }
  }
}
