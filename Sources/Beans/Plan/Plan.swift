import BeansConfiguration

/// All recipes of one environment, or of all children of one factory: compiled by startup, shared, and never changed.
@usableFromInline
final class Plan: Sendable {
  let name: String
  /// The scope its environments open; nil for an environment that is no child of a factory, which holds singletons.
  let scopeName: String?
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
  /// Whether slot 0 is filled when an environment opens.
  let hasSeed: Bool
  /// Whether its environments speak of single beans.
  let isTraced: Bool
  /// Recipes of beans declared here, dependencies first.
  let sorted: [Int32]
  /// Those of ancestors first.
  let processors: [Operand]
  let injections: [Operand]
  /// Directories of the factories below, at any depth.
  let below: [BeanDirectory]
  /// What beans here and further out ask for: lookups of the same are known beforehand.
  let parameters: [Parameter]
  /// What was declared here, in order, for reports.
  let summaries: [Summary]
  /// The recipe of each bean that can be built or looked up from here.
  private let numbers: [EntryKey: Int32]
  /// What recipes point to.
  private let storage: Storage

  /// The arrays that recipes name parts of.
  struct Storage: ~Copyable, Sendable {
    let operands: FrozenArray<Operand>
    let steps: FrozenArray<Step>
    let layouts: [ExistentialLayout]
    let directories: [BeanDirectory]
  }

  /// Everything of a plan that the compiler has gathered, apart from its recipes.
  struct Parts {
    let name: String
    let scopeName: String?
    let parent: Plan?
    let directory: BeanDirectory
    let configuration: ConfigurationManager
    let hasSeed: Bool
    let isTraced: Bool
    let slotCount: Int
    let hasScope: Bool
    var sorted: [Int32] = []
    var processors: [Operand] = []
    var injections: [Operand] = []
    var below: [BeanDirectory] = []
    var summaries: [Summary] = []
    var numbers: [EntryKey: Int32] = [:]
    var computations: [Computation] = []
    var parameters: [Parameter] = []
  }

  /// Names one bean of one directory.
  struct EntryKey: Hashable, Sendable {
    let directory: ObjectIdentifier
    let number: Int32

    init(_ directory: BeanDirectory, _ number: Int32) {
      self.directory = ObjectIdentifier(directory)
      self.number = number
    }
  }

  /// One declaration, as a report shows it.
  struct Summary: Sendable {
    let type: Any.Type?
    let id: String?
    let maker: Any.Type?
    let isLazy: Bool
    let isAbstract: Bool
    let isPrimary: Bool
    let scopeName: String
    let location: SourceLocation

    /// A declaration that has not been compiled, in the children of that scope or in none.
    init(_ spec: BeanSpec, scopeName: String?) {
      self.init(spec, type: spec.type, maker: nil, scopeName: spec.scopeName ?? scopeName ?? "singleton")
    }

    /// - Parameters:
    ///   - spec: what was declared, with what its templates add.
    ///   - type: the type of the bean.
    ///   - maker: the factory bean that makes it.
    ///   - scopeName: the scope that the bean lives in.
    init(_ spec: BeanSpec, type: Any.Type?, maker: Any.Type?, scopeName: String) {
      self.type = type
      self.maker = maker
      self.scopeName = scopeName
      id = spec.id
      isLazy = spec.isLazy ?? false
      isAbstract = spec.isAbstract
      isPrimary = spec.isPrimary
      location = spec.location
    }
  }

  init(_ parts: Parts, recipes: [Recipe], index: consuming LookupIndex, storage: consuming Storage) {
    name = parts.name
    scopeName = parts.scopeName
    parent = parts.parent
    depth = parts.scopeName == nil ? 0 : (parts.parent?.depth ?? 0) + 1
    directory = parts.directory
    configuration = parts.configuration
    hasSeed = parts.hasSeed
    isTraced = parts.isTraced
    layout = SlotLayout(slots: parts.slotCount, hasScope: parts.hasScope)
    sorted = parts.sorted
    processors = parts.processors
    injections = parts.injections
    below = parts.below
    summaries = parts.summaries
    parameters = parts.parameters
    numbers = parts.numbers
    computations = FrozenArray(parts.computations)
    self.recipes = FrozenArray(recipes)
    self.index = index
    self.storage = storage
  }

  /// Whether its environment is no child of a factory.
  var isPlain: Bool { scopeName == nil }

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
    let key = EntryKey(entry.directory, entry.number)
    switch entry.entry.lifetime {
    case .prototype: return numbers[key].map { ($0, 0) }
    case .singleton, .scope:
      for (plan, hops) in chain {
        if let number = plan.numbers[key] { return (number, hops) }
      }
      return nil
    }
  }
}
