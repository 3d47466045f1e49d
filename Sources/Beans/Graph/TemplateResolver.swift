/// Turns declarations into definitions: follows template chains in whatever order they were declared.
struct TemplateResolver {
  let plan: Plan
  private(set) var faults: [EnvironmentError] = []
  /// One report for all declarations that run into the same circle.
  private var circles: Set<Set<ObjectIdentifier>> = []

  init(_ plan: Plan) { self.plan = plan }

  /// Adds one bean; two where a factory bean makes the declared one; none where the declaration is abstract or at fault.
  mutating func define(_ declaration: BeanDeclaration, _ add: (Definition) -> Void) {
    if declaration.hasDetails {
      if let fault = declaration.fault { report(declaration, .invalidDeclaration, fault) }
      for fault in declaration.propertyFaults { report(declaration, .invalidDeclaration, fault) }
    }
    guard let templates = templates(of: declaration), !declaration.isAbstract, declaration.fault == nil else {
      return
    }
    let nearest = declaration.type == nil ? templates.first { $0.type != nil } : declaration
    guard let nearest, let type = nearest.type else {
      report(declaration, .invalidDeclaration, "the declaration names no class and neither does a template")
      return
    }
    let target = declaration.target ?? templates.lazy.compactMap(\.target).first
    if target != nil || nearest.traits.contains(.factory) {
      define(declaration, type, making: target, templates).forEach(add)
      return
    }
    let definition = Definition(
      declaration, type: type, constructor: constructor(of: type, declaration, templates),
      scopeName: scopeName(declaration, templates), templates: templates)
    check(definition)
    add(definition)
  }

  private func scopeName(_ declaration: BeanDeclaration, _ templates: [BeanDeclaration]) -> String {
    declaration.scopeName ?? templates.lazy.compactMap(\.scopeName).first ?? plan.scopeName ?? "singleton"
  }

  /// A factory bean, and its product.
  private mutating func define(
    _ declaration: BeanDeclaration, _ type: Any.Type, making target: Any.Type?,
    _ templates: [BeanDeclaration]
  ) -> [Definition] {
    guard let target else {
      report(declaration, .invalidDeclaration, "\(type) is a FactoryBean: .target(…) has to say what it makes")
      return []
    }
    guard let factory = type as? any FactoryBean.Type else {
      report(declaration, .invalidDeclaration, "\(type) is no FactoryBean, so it cannot have the target \(target)")
      return []
    }
    let product = FactoryProduct(factory: factory, target: target, origin: declaration.origin)
    if let fault = product.fault {
      report(declaration, Dependency.isWrapper(target) ? .invalidDeclaration : .typeMismatch, fault)
      return []
    }
    let scopeName = scopeName(declaration, templates)
    let maker = Definition(
      BeanDeclaration(factoryOf: declaration, type), type: type,
      constructor: constructor(of: type, declaration, templates),
      scopeName: scopeName == "prototype" ? plan.scopeName ?? "singleton" : scopeName,
      templates: [declaration] + templates)
    check(maker)
    let made = Definition(product, of: declaration, madeBy: maker, scopeName: scopeName)
    faults += made.bindProperties()
    return [maker, made]
  }

  /// The chain from the nearest template outwards; nil where it does not end.
  private mutating func templates(of declaration: BeanDeclaration) -> [BeanDeclaration]? {
    guard declaration.template != nil else { return [] }
    var chain: [BeanDeclaration] = []
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(declaration)]
    var next = declaration
    while let id = next.template {
      guard let template = plan.declaration(byId: id, otherThan: next) else {
        if id == next.id {
          reportCircle([next])
          return nil
        }
        report(declaration, .unknownBean, "no template has the id '\(id)'\(plan.hint(forId: id))")
        return nil
      }
      chain.append(template)
      if !seen.insert(ObjectIdentifier(template)).inserted {
        reportCircle(Array(([declaration] + chain.dropLast()).drop { $0 !== template }))
        return nil
      }
      next = template
    }
    return chain
  }

  /// A factory that is set wins over a class's own `init()`, wherever in the chain it stands.
  private mutating func constructor(
    of type: Any.Type, _ declaration: BeanDeclaration, _ templates: [BeanDeclaration]
  ) -> BeanConstructor? {
    if declaration.type == type, let constructor = declaration.constructor { return constructor }
    let own = (declaration.type == nil ? templates.first { $0.type != nil } : declaration)?.defaultConstructor
    if let maker = declaration.constructor == nil ? templates.first(where: { $0.constructor != nil }) : declaration {
      // What stands in a box of its own type cannot be read as another type, and neither can an object as a box.
      if let made = maker.type, made == type || type is AnyObject.Type && TypeRelation.isUsable(made, as: type) {
        return maker.constructor
      }
      if own == nil {
        report(
          declaration, .typeMismatch,
          "the template's factory makes a \(maker.kind), not a \(type): give the bean its own")
        return nil
      }
    }
    if own == nil {
      report(
        declaration, .invalidDeclaration,
        "\(type) has no init() that the container can call: give a factory, conform to Initializable, "
          + "or inherit from a template that has a factory")
    }
    return own
  }

  private mutating func check(_ definition: Definition) {
    let unbound = definition.bindProperties()
    if !unbound.isEmpty { faults += unbound }
    if let product = definition.product { faults += product.bindProperties() }
    // As nearly always: four loops over nothing are not free.
    if !definition.hasDetails { return }
    for type in definition.stated where !TypeRelation.isUsable(definition.type, as: type) {
      faults.append(definition.fault(.typeMismatch, "\(definition.type) does not implement \(type)"))
    }
    for property in definition.properties {
      guard let owner = property.access?.owner, !TypeRelation.isUsable(definition.type, as: owner) else { continue }
      faults.append(
        definition.fault(.typeMismatch, "\(property.name) is a property of \(owner), not of \(definition.type)"))
    }
    check(definition.postConstructs, of: definition)
    check(definition.onDestroys, of: definition)
  }

  private mutating func check(_ callbacks: [BeanCallback], of definition: Definition) {
    for callback in callbacks
    where !TypeRelation.isUsable(definition.type, as: callback.owner) {
      faults.append(
        definition.fault(.typeMismatch, "a lifecycle callback expects a \(callback.owner), not a \(definition.type)"))
    }
  }

  private mutating func reportCircle(_ circle: [BeanDeclaration]) {
    guard let first = circle.first, circles.insert(Set(circle.map { ObjectIdentifier($0) })).inserted else { return }
    let ids = (circle + [first]).map { $0.id ?? $0.kind }
    faults.append(
      EnvironmentError(
        .cyclicDependency, "templates inherit from each other: \(ids.joined(separator: " → "))", path: ids,
        origin: first.origin))
  }

  private mutating func report(_ declaration: BeanDeclaration, _ code: EnvironmentError.Code, _ message: String) {
    faults.append(EnvironmentError(code, message, path: [declaration.written], origin: declaration.origin))
  }
}
