import BeansReflection

/// One bean during compilation, as seen from one environment: its place there and its dependencies. Released when
/// startup has ended.
final class PlacedBean {
  let definition: BeanDefinition
  /// The directory that declares the bean. The graph's own directory leads to it.
  private let home: Unretained<BeanDirectory>
  /// The graph of the environment that sees the bean, which retains this object.
  private let place: Unretained<EnvironmentGraph>
  let kind: Recipe.Kind
  /// The number of the slot, or -1.
  let slot: Int32
  /// The setters and the values of the declaration; nil if it has none.
  let binding: BeanBinding?
  /// Whether the declaration has errors. Its factory may be missing or its lifetime unknown, so dependent beans are not
  /// reported for that.
  let isAtFault: Bool
  /// The number of the recipe in its environment; equal to the slot, if the bean has one.
  var number: Int32 = -1
  /// The position among all beans that are sorted together.
  var position = 0
  /// The ranges of requirements, factory arguments and property values in the resolver's list of dependencies.
  private(set) var requirements = 0..<0
  private(set) var arguments = 0..<0
  private(set) var injected = 0..<0
  private(set) var properties: [BeanCode.Property] = []
  /// The product that a factory makes from a seed. Its dependencies are also dependencies of the factory.
  var product: PlacedBean?
  /// Whether post processors skip the bean, because one of them or other infrastructure depends on it.
  var isInfrastructure = false
  /// Whether a bean that is certain to be built depends on this one.
  var isNeeded = false
  /// Whether the bean, or one that must exist before it, is created asynchronously.
  var awaits = false
  /// The error that building the bean from here throws, although the bean may be sound elsewhere.
  var refusal: ValueBox<EnvironmentError>?
  var faults: [EnvironmentError] = []
  /// The range of the beans of the same environment on which the bean depends, in the plan compiler's list.
  var needs = 0..<0
  var layout = Layout()

  /// The ranges of the recipe's parts in the arrays of the plan.
  struct Layout {
    var operands = 0..<0
    var requirements = 0..<0
    var properties = 0..<0
    var needs = 0..<0
    var steps = 0..<0
  }

  /// One dependency of a bean, with its source.
  struct Dependency {
    let parameter: Parameter
    let source: DependencySource

    /// The source of a dependency: the declaration, or the resolver.
    enum DependencySource {
      case resolved(Source<DefinedBean>)
      case value(BoundValue)
      /// A collection with at least one bean among its elements.
      case composed([Dependency], any CollectionType.Type)
      /// The value that a provider computes for the property on request.
      case injection(any AnyObject & Sendable, PropertyDescriptor)
      /// The builder of the products that a factory bean makes.
      case products(PlacedBean)
    }
  }

  init(
    _ definition: BeanDefinition, from home: BeanDirectory, in graph: EnvironmentGraph, _ kind: Recipe.Kind,
    slot: Int32, _ binding: BeanBinding?, isAtFault: Bool
  ) {
    self.definition = definition
    self.home = Unretained(home)
    place = Unretained(graph)
    self.kind = kind
    self.slot = slot
    self.binding = binding
    self.isAtFault = isAtFault
  }

  var graph: EnvironmentGraph { place.object }
  var directory: BeanDirectory { home.object }
  var spec: FrozenSpec { definition.spec.object }
  var factory: FactoryFunction { definition.factory.object }
  var isSeed: Bool { definition.isSeed }
  /// Whether the environments that see the bean are no children of a factory.
  var isPlain: Bool { place.with { $0.isPlain } }

  /// Whether the parameters of the factory are known. They are, for every sound declaration.
  var hasFactory: Bool {
    !isAtFault || factory !== FactoryFunction.unknown && !spec.faults.contains { $0.cause == .otherSeed }
  }

  func note(_ fault: EnvironmentError) { faults = faults + [fault] }

  // MARK: dependencies

  /// Calls `body` with every bean of the graph that must exist before this bean or before its first product, in order.
  ///
  /// - Parameter includesDeferred: whether beans that are built later follow, too.
  func forEachDependency(
    in all: [Dependency], includesDeferred: Bool = false, _ body: (PlacedBean) -> Void
  ) {
    forEachOwnDependency(in: all, includesDeferred: includesDeferred, body)
    product?.forEachOwnDependency(in: all, includesDeferred: includesDeferred, body)
  }

  /// Calls `body` with every bean of the graph that must exist before this bean, in order.
  func forEachOwnDependency(
    in all: [Dependency], includesDeferred: Bool = false, _ body: (PlacedBean) -> Void
  ) {
    forEachOwnBean(in: all, includesDeferred: includesDeferred) {
      if case .placed(let bean, _) = $0 { bean.with(body) }
    }
  }

  /// Calls `body` with every bean that must exist before this bean, in order.
  func forEachOwnBean(in all: [Dependency], includesDeferred: Bool = false, _ body: (DefinedBean) -> Void) {
    for index in requirements { all[index].forEachBean(includesDeferred: includesDeferred, body) }
    for index in arguments { all[index].forEachBean(includesDeferred: includesDeferred, body) }
    for index in injected { all[index].forEachBean(includesDeferred: includesDeferred, body) }
  }

  /// Whether a bean must exist before the object of this one is created.
  func constructs(with bean: PlacedBean, _ all: [Dependency]) -> Bool {
    var isFound = false
    for dependency in all[requirements] + all[arguments] {
      dependency.forEachBean { if $0.placed === bean { isFound = true } }
    }
    return isFound
  }

  /// Sets the dependencies of the bean.
  ///
  /// - Parameters:
  ///   - requirements: the range of beans that must exist before, among all dependencies.
  ///   - arguments: the range of the factory's arguments.
  ///   - injected: the range of property values.
  ///   - properties: the properties to set, in the order of `injected`.
  func connect(
    requirements: Range<Int> = 0..<0, arguments: Range<Int>, injected: Range<Int>, properties: [BeanCode.Property]
  ) {
    (self.requirements, self.arguments, self.injected) = (requirements, arguments, injected)
    self.properties = properties
  }
}

extension PlacedBean.Dependency {
  /// Calls `body` with every bean that must exist before.
  ///
  /// - Parameter includesDeferred: whether beans that are built later follow, too.
  @inline(__always)
  func forEachBean(includesDeferred: Bool = false, _ body: (DefinedBean) -> Void) {
    if parameter.isDeferred, !includesDeferred { return }
    if case .resolved(.bean(let bean)) = source { return body(bean) }
    forEachOfSeveral(includesDeferred: includesDeferred, body)
  }

  private func forEachOfSeveral(includesDeferred: Bool, _ body: (DefinedBean) -> Void) {
    switch source {
    case .resolved(.all(let beans, _)): beans.forEach(body)
    case .composed(let parts, _): for part in parts { part.forEachBean(includesDeferred: includesDeferred, body) }
    case .resolved(.bean), .resolved(.computed), .value, .injection, .products: break
    }
  }
}

/// A bean that startup has found, as seen from one environment.
enum DefinedBean {
  /// A bean of a graph in this compilation. Unretained: graphs retain their beans, and erroneous declarations may refer
  /// to each other in a cycle.
  case placed(Unretained<PlacedBean>, hops: Int32)
  /// A bean of an environment further out that has started. Indirect, because each dependency contains a defined bean:
  /// larger ones are copied by functions of the runtime.
  indirect case planned(LocatedBean, FrozenReference<Recipe>)

  /// The bean, if this compilation has placed it.
  var placed: PlacedBean? { if case .placed(let bean, _) = self { bean.object } else { nil } }

  var definition: BeanDefinition {
    switch self {
    case .placed(let bean, _): bean.with { $0.definition }
    case .planned(let bean, _): bean.definition.object
    }
  }

  /// Whether the bean, or one that must exist before it, is created asynchronously.
  var awaits: Bool {
    switch self {
    case .placed(let bean, _): bean.with { $0.awaits }
    case .planned(_, let recipe): recipe.value.awaits
    }
  }

  /// Whether the bean cannot be built from here.
  var isRefused: Bool {
    switch self {
    case .placed(let bean, _): bean.with { $0.refusal != nil }
    case .planned(_, let recipe): recipe.value.work.contains(.refuse)
    }
  }

  /// Returns the bean's place in compiled plans.
  ///
  /// - Parameter slots: the slots of the outermost graph's environment.
  func located(_ slots: Slots) -> LocatedBean {
    switch self {
    case .placed(let bean, let hops):
      bean.with { bean in
        LocatedBean(
          definition: Unretained(bean.definition), kind: bean.kind, number: bean.number, slot: bean.slot, hops: hops,
          slots: bean.isPlain ? slots : nil, slotIdentity: bean.slotIdentity)
      }
    case .planned(let bean, _): bean
    }
  }
}
