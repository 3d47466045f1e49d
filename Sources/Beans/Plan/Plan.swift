import BeansConfiguration

/// All recipes of one environment, or of all children of one factory: compiled by startup, shared, and never changed.
@usableFromInline
final class Plan: Sendable {
  let name: String
  /// The scope its environments open; nil for an environment that is no child of a factory, which holds singletons.
  let scopeName: String?
  /// Where the factory that opens its environments is declared; nil where `scopeName` is.
  let opening: SourceLocation?
  let parent: Plan?
  /// How many children of factories an environment of this plan stands in, itself included.
  let depth: Int32
  let directory: BeanDirectory
  let configuration: ConfigurationManager
  /// Those with a slot stand at the slot's number.
  let recipes: FrozenArray<Recipe>
  let computations: FrozenArray<Computation>
  let index: LookupIndex
  let layout: SlotLayout
  /// How many of its environments have come and gone.
  let counts: ScopeCounts
  /// Whether slot 0 is filled when an environment opens.
  let hasSeed: Bool
  /// Whether its environments speak of single beans.
  let isTraced: Bool
  /// Whether beans that can be seen are created asynchronously.
  let awaits: Bool
  /// Recipes of beans declared here, dependencies first.
  let sorted: [Int32]
  /// Those of ancestors first.
  let processors: [Operand]
  let injections: [Operand]
  /// Who receives the events of a type, in the order in which they are called.
  let receivers: [ObjectIdentifier: [EventReceiver]]
  /// Directories of the factories below, at any depth.
  let below: ArraySlice<BeanDirectory>
  /// What beans here and further out ask for: lookups of the same are known beforehand.
  let parameters: [Parameter]
  /// What was declared here, in order, for reports: the entries of beans, and -1 for each of `templates`.
  let listed: [Int32]
  /// What a report says of declarations that are no beans, and where they stand.
  let templates: [(text: String, location: SourceLocation)]
  /// The recipes of beans that are declared here, by their entries; -1 where there is none.
  private let ownNumbers: [Int32]
  /// The recipes of beans that are declared further out, and built here.
  private let foreignNumbers: [EntryKey: Int32]
  // What recipes name parts of.
  private let operands: FrozenArray<Operand>
  private let steps: FrozenArray<Step>

  /// Names one bean of one directory.
  struct EntryKey: Hashable, Sendable {
    let directory: ObjectIdentifier
    let number: Int32

    init(_ directory: BeanDirectory, _ number: Int32) {
      self.directory = ObjectIdentifier(directory)
      self.number = number
    }
  }

  init(
    name: String, opening: (scopeName: String, location: SourceLocation)?, parent: Plan?, directory: BeanDirectory,
    configuration: ConfigurationManager, layout: SlotLayout, hasSeed: Bool, isTraced: Bool, awaits: Bool,
    sorted: [Int32],
    processors: [Operand], injections: [Operand],
    receivers: [ObjectIdentifier: [EventReceiver]], below: ArraySlice<BeanDirectory>, parameters: [Parameter],
    listed: [Int32],
    templates: [(text: String, location: SourceLocation)], ownNumbers: [Int32], foreignNumbers: [EntryKey: Int32],
    recipes: consuming FrozenArray<Recipe>, computations: [Computation], index: consuming LookupIndex,
    operands: consuming FrozenArray<Operand>, steps: consuming FrozenArray<Step>
  ) {
    self.name = name
    scopeName = opening?.scopeName
    self.opening = opening?.location
    self.parent = parent
    depth = opening == nil ? 0 : (parent?.depth ?? 0) + 1
    self.directory = directory
    self.configuration = configuration
    self.layout = layout
    counts = ScopeCounts()
    self.hasSeed = hasSeed
    self.isTraced = isTraced
    self.awaits = awaits
    self.sorted = sorted
    self.processors = processors
    self.injections = injections
    self.receivers = receivers
    self.below = below
    self.parameters = parameters
    self.listed = listed
    self.templates = templates
    self.ownNumbers = ownNumbers
    self.foreignNumbers = foreignNumbers
    self.recipes = recipes
    self.computations = FrozenArray(computations)
    self.index = index
    self.operands = operands
    self.steps = steps
  }

  /// Whether its environment is no child of a factory.
  var isPlain: Bool { scopeName == nil }

  /// Whether a factory's scope of that name is open in its environments.
  func isOpen(_ name: String) -> Bool { chain.contains { $0.plan.scopeName == name } }

  /// The plan and its ancestors, nearest first, with their distance.
  var chain: some Sequence<(plan: Plan, hops: Int)> {
    sequence(state: (Optional(self), 0)) { state -> (plan: Plan, hops: Int)? in
      guard let plan = state.0 else { return nil }
      defer { state = (plan.parent, state.1 + 1) }
      return (plan, state.1)
    }
  }

  @inline(__always)
  func recipe(_ number: Int32) -> FrozenReference<Recipe> { recipes.reference(Int(number)) }

  /// The recipe for a bean as seen from this plan; nil where its scope is not open here.
  func recipe(for entry: BeanDirectory.Found) -> (number: Int32, hops: Int)? {
    let last = if case .prototype = entry.entry.lifetime { 0 } else { Int.max }
    for (plan, hops) in chain where hops <= last {
      if let number = plan.number(of: entry) { return (number, hops) }
    }
    return nil
  }

  private func number(of bean: BeanDirectory.Found) -> Int32? {
    if bean.directory !== directory { return foreignNumbers[EntryKey(bean.directory, bean.number)] }
    let number = ownNumbers[Int(bean.number)]
    return number < 0 ? nil : number
  }
}
