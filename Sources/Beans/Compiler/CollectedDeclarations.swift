import BeansReflection
import BeansErrors

/// The active declarations of one environment, and those embedded in them, each a bean of its own; and their ids.
struct CollectedDeclarations {
  let graph: EnvironmentGraph
  /// The declarations and those embedded in them, in order.
  private(set) var specs: [FrozenSpec] = []
  /// The meanings of the declarations' ids, and of those that the resolver enters later.
  var meanings = [BeanId: BeanDirectory.Meaning]()
  /// The locations of ids that no declaration has itself: those of factories behind their products.
  var locations = [BeanId: SourceLocation]()
  /// The active aliases, in order, and by the ids that they enter.
  var named: [KnownAlias] = []
  var aliases = [BeanId: EnvironmentDeclarations.Alias]()
  /// The faults of the declarations, in the order in which they are found.
  var faults: [EnvironmentError] = []
  /// The number of each declaration and, once known, that of its bean, in the order of `specs`.
  private(set) var declared: [(number: Int, bean: Int32)] = []
  /// The declarations that are embedded in others.
  private var embedded: Set<ObjectIdentifier> = []
  /// The numbers of beans that other declarations contain, which were defined before and whose types are `Sendable`.
  private var sendable: Set<Int> = []

  /// Collects the declarations of a graph, and those embedded in them.
  init(_ graph: EnvironmentGraph) {
    self.graph = graph
    let declarations = graph.active.specs
    meanings.reserveCapacity(declarations.count)
    specs.reserveCapacity(declarations.count)
    declared.reserveCapacity(declarations.count)
    let taker = ObjectIdentifier(graph.declarations)
    for spec in declarations { collect(spec, for: taker) }
    if sendable.isEmpty { return }
    // Only the declaration that contains a bean may know that its type is `Sendable`.
    for (position, spec) in specs.enumerated() where sendable.contains(spec.number) && !spec.isSendable {
      var spec = spec.value
      spec.isSendable = true
      specs[position] = FrozenSpec(spec)
    }
  }

  /// Adds a declaration and, as beans of their own, the declarations embedded in it. Enters their ids.
  private mutating func collect(_ spec: FrozenSpec, for taker: ObjectIdentifier) {
    if let id = spec.beanId { enter(id, .declaration(Int32(specs.count)), at: spec.location) }
    specs.append(spec)
    declared.append((spec.number, -1))
    for embedded in spec.embedded {
      guard isToBeCollected(embedded, for: taker) else {
        if embedded.spec.isSendable { sendable.insert(embedded.spec.number) }
        continue
      }
      if !embedded.isDefined {
        embedded.isTaken(by: taker)
        if let module = spec.module { embedded.enter(module) }
      }
      let spec = FrozenSpec(embedded.spec)
      if !spec.conditions.isEmpty {
        faults.append(
          spec.fault(
            .conditionInPlace,
            "a bean declared in place has no conditions of its own: give them to the enclosing declaration"))
      }
      collect(spec, for: taker)
    }
  }

  /// Whether the declaration is defined nowhere else. An earlier reading of these declarations may have marked it as
  /// defined.
  private mutating func isToBeCollected(_ declaration: BeanDeclaration, for taker: ObjectIdentifier) -> Bool {
    if declaration.isDefined, declaration.taker != taker { return false }
    return embedded.insert(ObjectIdentifier(declaration)).inserted
  }

  /// Creates the bean descriptors of declared classes, whose initialisers are users' code. An error is ignored here:
  /// the descriptor throws it again when it is used, and the error is reported with the other faults.
  func prepareDescriptors() {
    var last: Any.Type?
    func prepare(_ type: Any.Type) {
      if type == last { return }
      last = type
      if BeanTraits.of(type).contains(.injected) { _ = try? BeanDescriptor.forType(type) }
    }
    for spec in specs {
      if let type = spec.type { prepare(type) }
      if let type = spec.target { prepare(type) }
      if let product = spec.factory?.product { prepare(product.type) }
    }
  }

  // MARK: beans

  /// Sets the number of the bean that a declaration makes.
  mutating func setBean(_ number: Int32, at position: Int) { declared[position].bean = number }

  /// The declarations with an id but without a bean, by their positions.
  var unbuilt: [Int32: BeanDirectory.Unbuilt] {
    var unbuilt = [Int32: BeanDirectory.Unbuilt]()
    for (position, (_, bean)) in declared.enumerated() where bean < 0 && specs[position].id != nil {
      let spec = specs[position]
      unbuilt[Int32(position)] = BeanDirectory.Unbuilt(
        type: spec.type, id: spec.id, isAbstract: spec.isAbstract, location: spec.location)
    }
    return unbuilt
  }
}
