import BeansReflection

/// A bean that startup has found, as seen from one environment.
enum DefinedBean: LocatedBean {
  /// A bean of a graph in this compilation. Unretained: graphs retain their definitions, and erroneous declarations may
  /// refer to each other in a cycle.
  case definition(Unretained<BeanDefinition>, hops: Int32)
  /// A bean of an environment further out that has started.
  case planned(PlannedBean)

  /// The definition, where this compilation has one.
  var definition: BeanDefinition? {
    if case .definition(let definition, _) = self { definition.object } else { nil }
  }

  var kind: Recipe.Kind {
    switch self {
    case .definition(let definition, _): definition.with { $0.kind }
    case .planned(let bean): bean.kind
    }
  }

  var number: Int32 {
    switch self {
    case .definition(let definition, _): definition.with { $0.number }
    case .planned(let bean): bean.number
    }
  }

  var slot: Int32 {
    switch self {
    case .definition(let definition, _): definition.with { $0.slot }
    case .planned(let bean): bean.slot
    }
  }

  var hops: Int32 {
    switch self {
    case .definition(_, let hops): hops
    case .planned(let bean): bean.hops
    }
  }

  func reading(for parameter: Parameter) -> Reading? {
    switch self {
    case .definition(let definition, _):
      definition.with { Reading(parameter, of: $0.type, isClass: $0.isClass, $0.slotIdentity) }
    case .planned(let bean): bean.reading(for: parameter)
    }
  }

  /// Whether the bean, or one that must exist before it, is created asynchronously.
  var awaits: Bool {
    switch self {
    case .definition(let definition, _): definition.with { $0.awaits }
    case .planned(let bean): bean.recipe.value.awaits
    }
  }

  /// The event handlers of the bean; none if it cannot be built from here.
  var handlers: [EventHandler] {
    switch self {
    case .definition(let definition, _): definition.with { $0.refusal == nil ? $0.handlers : [] }
    case .planned(let bean): bean.recipe.value.code.with { $0.refusal == nil ? $0.listeners : [] }
    }
  }

  /// The entry of the bean in its directory.
  var key: Plan.EntryKey {
    switch self {
    case .definition(let definition, _): definition.with { Plan.EntryKey($0.directory, $0.entry) }
    case .planned(let bean): Plan.EntryKey(bean.recipe.value.directory.object, bean.recipe.value.entryNumber)
    }
  }
}
