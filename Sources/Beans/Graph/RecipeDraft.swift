import BeansReflection

/// A recipe while its dependencies are resolved: one bean as seen from one environment.
final class RecipeDraft {
  let definition: BeanDefinition
  unowned let graph: EnvironmentGraph
  let kind: Recipe.Kind
  /// The slot, or -1.
  var slot: Int32 = -1
  /// Among the recipes of its environment; where there is a slot, that.
  var number: Int32 = -1
  /// Among all drafts that are being sorted.
  var position = 0
  var requirements: [Binding] = []
  var arguments: [Dependency] = []
  var properties: [BoundProperty] = []
  /// What a factory bean makes. Its dependencies count as the factory's.
  var product: RecipeDraft?
  /// Whether post processors leave it alone, because one of them is made of it.
  var isInfrastructure = false
  /// Whether something that is certain to be built needs it.
  var isNeeded = false
  /// Why the bean cannot be built from here, although nothing is wrong with it elsewhere.
  var inactive: EnvironmentError?
  var faults: [EnvironmentError] = []

  /// One dependency, resolved.
  struct Dependency {
    let parameter: Parameter
    let binding: Binding
  }

  /// Where one dependency comes from, before it is an operand.
  indirect enum Binding {
    case bean(Target)
    case all([Target])
    /// What no bean is looked for.
    case computed(Computation, Reading)
    case value(BoundValue)
    case composed([Dependency], any CollectionType.Type)
    case injection(Inject, PropertyDescriptor)
    case products(RecipeDraft)
  }

  /// A bean that has been found: of the graph that is compiled now, or of an ancestor that was compiled before.
  enum Target {
    case draft(DraftReference, hops: Int)
    case compiled(Plan, Int32, hops: Int)
  }

  /// A draft, which its graph keeps: declarations at fault may name each other in a circle.
  struct DraftReference {
    unowned let draft: RecipeDraft
  }

  /// A property and where its value comes from.
  struct BoundProperty {
    enum Source {
      case dependency(Dependency)
      case named(@Sendable (AnyObject) -> String, Parameter, point: String)
    }

    let source: Source
    let set: @Sendable (AnyObject, Argument) throws -> Void

    func setting(_ set: @escaping @Sendable (AnyObject, Argument) throws -> Void) -> BoundProperty {
      BoundProperty(source: source, set: set)
    }
  }

  init(_ definition: BeanDefinition, in graph: EnvironmentGraph, _ kind: Recipe.Kind) {
    self.definition = definition
    self.graph = graph
    self.kind = kind
  }

  var label: String { definition.label }

  /// Calls `body` with every bean of the graph that has to exist first, or before the first product, in order.
  func forEachDependency(_ body: (RecipeDraft) -> Void) {
    forEachOwnDependency(body)
    product?.forEachDependency(body)
  }

  /// Calls `body` with every bean of the graph that has to exist first, in order.
  func forEachOwnDependency(_ body: (RecipeDraft) -> Void) {
    for requirement in requirements { requirement.forEachDraft(body) }
    for argument in arguments { argument.binding.forEachDraft(body) }
    for property in properties {
      if case .dependency(let dependency) = property.source { dependency.binding.forEachDraft(body) }
    }
  }
}

extension RecipeDraft.Binding {
  func forEachDraft(_ body: (RecipeDraft) -> Void) {
    forEachTarget { if case .draft(let reference, _) = $0 { body(reference.draft) } }
  }

  func forEachTarget(_ body: (RecipeDraft.Target) -> Void) {
    switch self {
    case .bean(let target): body(target)
    case .all(let targets): targets.forEach(body)
    case .composed(let parts, _): for part in parts { part.binding.forEachTarget(body) }
    case .computed, .value, .injection, .products: break
    }
  }
}
