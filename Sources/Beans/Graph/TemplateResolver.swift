import BeansReflection
import BeansSupport

/// Turns what was declared in one environment into definitions: finds beans declared in place, follows template chains in
/// whatever order they were declared, tells factory beans from their products.
struct TemplateResolver {
  private let graph: EnvironmentGraph
  private(set) var faults: [EnvironmentError] = []
  /// Declarations and those that stand in them, in order.
  private var specs: [(number: Int?, spec: BeanSpec)] = []
  private var positions: [String: Int] = [:]
  private var names: [String: BeanDirectory.Name] = [:]
  private var declared: [Int: Int32] = [:]
  /// One report for all declarations that run into the same circle.
  private var circles: Set<Set<String>> = []
  /// Specs by id: those of this environment, then those further out, nearest first.
  private var levels: [[String: BeanSpec]]

  /// - Parameters:
  ///   - graph: whose declarations are read.
  ///   - outer: what was declared further out, by id, nearest first.
  init(_ graph: EnvironmentGraph, outer: [[String: BeanSpec]]) {
    self.graph = graph
    levels = [[:]] + outer
  }

  /// Reads all declarations; the graphs further out have been read.
  mutating func resolve() {
    collect()
    nameTemplates()
    graph.reserve(specs.count)
    if let seed = graph.declarations.seed { addSeed(seed) }
    for index in specs.indices { define(index) }
    graph.specs = levels[0]
    enterAliases()
    graph.freeze(
      BeanDirectory(
        name: graph.name, scopeName: graph.scopeName, parent: graph.outerDirectory,
        entries: graph.definitions.map(entry),
        names: names, declared: declared))
  }

  private func entry(_ definition: BeanDefinition) -> BeanDirectory.Entry {
    BeanDirectory.Entry(
      type: definition.type, id: definition.id, lifetime: definition.lifetime, isPrimary: definition.spec.isPrimary,
      isSeed: definition.number == 0 && graph.hasSeed, isMade: definition.maker != nil,
      location: definition.spec.location)
  }

  /// Declarations in place become beans of their own; ids become known.
  private mutating func collect() {
    specs.reserveCapacity(graph.declarations.definitions.count)
    for definition in graph.declarations.definitions {
      collect(definition.declaration, definition.spec)
    }
  }

  private mutating func collect(_ declaration: BeanDeclaration, _ spec: BeanSpec) {
    if let id = spec.id {
      if let earlier = names[id] {
        faults.append(
          EnvironmentError(
            .duplicateId, "the id '\(id)' is taken by \(earlier.location.origin)", path: ["'\(id)'"],
            origin: spec.location.origin))
      } else {
        names[id] = BeanDirectory.Name(isAbstract: spec.isAbstract, location: spec.location)
        positions[id] = specs.count
        levels[0][id] = spec
      }
    }
    specs.append((declaration.number, spec))
    for embedded in spec.embedded where !embedded.isDefined {
      embedded.isDefined = true
      collect(embedded, embedded.spec)
    }
  }

  // MARK: definitions

  private mutating func addSeed(_ seed: EnvironmentDeclarations.Seed) {
    let scope = graph.scopeName ?? "singleton"
    let spec = BeanSpec(type: seed.type, id: nil, location: seed.location)
    // Never called: the slot is filled when the environment opens.
    let factory = FactoryFunction(parameters: [], identity: seed.identity) { _ in
      throw EnvironmentError(.scopeNotActive, "the seed of '\(scope)' is missing")
    }
    _ = add(spec, seed.type, Lifetime(scope), factory)
  }

  /// Adds one bean; two where a factory bean makes the declared one; none where the declaration is abstract or at fault.
  private mutating func define(_ index: Int) {
    let (number, declared) = specs[index]
    for fault in declared.faults + declared.propertyFaults { report(declared, .invalidDeclaration, fault) }
    guard let templates = templates(of: declared, index), !declared.isAbstract, declared.faults.isEmpty else { return }
    guard let nearest = declared.type == nil ? templates.first(where: { $0.type != nil }) : declared,
      let type = nearest.type
    else {
      report(declared, .invalidDeclaration, "the declaration names no class and neither does a template")
      return
    }
    var merged = declared
    for template in templates { merged.inherit(template) }
    merged.type = type
    if merged.target != nil || BeanTraits.of(type).contains(.factory) {
      defineFactory(merged, type, declared, templates, number)
      return
    }
    guard let factory = factory(of: type, declared, templates) else { return }
    guard let definition = add(merged, type, lifetime(merged), factory) else { return }
    name(definition, as: declared.id, number)
    check(definition)
  }

  private func lifetime(_ spec: BeanSpec) -> Lifetime { Lifetime(spec.scopeName ?? graph.scopeName ?? "singleton") }

  private mutating func add(
    _ spec: BeanSpec, _ type: Any.Type, _ lifetime: Lifetime, _ factory: FactoryFunction, maker: BeanDefinition? = nil
  ) -> BeanDefinition? {
    if factory.product != nil, let earlier = graph.definitions.first(where: { $0.type == type }) {
      faults.append(
        EnvironmentError(
          .invalidDeclaration,
          "a factory is bound once per tag, and \(earlier.label) is bound at \(earlier.spec.location.origin)",
          path: [BeanDirectory.Entry.label(type, spec.id)], origin: spec.location.origin))
      return nil
    }
    let definition = BeanDefinition(
      spec, type: type, lifetime: lifetime, factory: factory, number: Int32(graph.definitions.count), maker: maker,
      configuration: graph.declarations.configuration, directory: { [unowned graph] in graph.directory })
    graph.add(definition)
    return definition
  }

  private mutating func name(_ definition: BeanDefinition, as id: String?, _ number: Int?) {
    if let number { declared[number] = definition.number }
    // The first of several with the id.
    if let id, names[id]?.entry == nil { names[id]?.entry = definition.number }
  }

  /// A factory bean, and its product.
  private mutating func defineFactory(
    _ merged: BeanSpec, _ type: Any.Type, _ declared: BeanSpec, _ templates: [BeanSpec], _ number: Int?
  ) {
    guard let target = merged.target else {
      return report(declared, .invalidDeclaration, "\(type) is a FactoryBean: .target(…) has to say what it makes")
    }
    guard let factoryType = type as? any FactoryBean.Type else {
      return report(
        declared, .invalidDeclaration, "\(type) is no FactoryBean, so it cannot have the target \(target)")
    }
    let product = FactoryProduct(factory: factoryType, target: target, origin: declared.location.origin)
    if let fault = product.fault {
      return report(declared, Parameter.isWrapper(target) ? .invalidDeclaration : .typeMismatch, fault)
    }
    guard let function = factory(of: type, declared, templates) else { return }
    let lifetime = lifetime(merged)
    var own = merged
    own.id = declared.id.map { "&\($0)" }
    // Products that are made anew come from one factory.
    let ownLifetime = lifetime == .prototype ? Lifetime(graph.scopeName ?? "singleton") : lifetime
    guard let maker = add(own, type, ownLifetime, function) else { return }
    if let id = own.id {
      if let earlier = names[id] {
        faults.append(
          EnvironmentError(
            .duplicateId, "the id '\(id)' is taken by \(earlier.location.origin)", path: ["'\(id)'"],
            origin: declared.location.origin))
      } else {
        names[id] = BeanDirectory.Name(entry: maker.number, location: declared.location)
      }
    }
    check(maker)
    var spec = BeanSpec(type: target, id: declared.id, location: declared.location)
    spec.isLazy = merged.isLazy
    spec.isPrimary = declared.isPrimary
    guard let made = add(spec, target, lifetime, product.function, maker: maker) else { return }
    name(made, as: declared.id, number)
    faults += made.bindProperties()
  }

  // MARK: templates

  /// Makes templates known by their aliases, too.
  private mutating func nameTemplates() {
    var known: [String: EnvironmentDeclarations.Alias] = [:]
    for alias in graph.declarations.aliases where names[alias.name] == nil && known[alias.name] == nil {
      known[alias.name] = alias
    }
    for alias in known.values {
      guard let target = end(of: alias, in: known), let level = levels.first(where: { $0[target] != nil }) else {
        continue
      }
      levels[0][alias.name] = level[target]
      positions[alias.name] = positions[target]
    }
  }

  /// The chain from the nearest template outwards; nil where it does not end.
  private mutating func templates(of spec: BeanSpec, _ index: Int) -> [BeanSpec]? {
    guard spec.template != nil else { return [] }
    var chain: [BeanSpec] = []
    // Declarations by the level they stand on and their id, the first by its place among its own.
    var seen = ["\(index)"]
    var (next, home) = (spec, 0)
    while let id = next.template {
      guard let level = levels.indices.first(where: { levels[$0][id] != nil && !($0 == home && next.id == id) }),
        let template = levels[level][id]
      else {
        if id == next.id {
          reportCircle([next], seen)
        } else {
          report(spec, .unknownBean, "no template has the id '\(id)'\(hint(forId: id))")
        }
        return nil
      }
      let mark = level == 0 ? "\(positions[id] ?? -1)" : "\(level) \(id)"
      if let first = seen.firstIndex(of: mark) {
        reportCircle(Array(([spec] + chain)[first...]), Array(seen[first...]))
        return nil
      }
      chain.append(template)
      seen.append(mark)
      (next, home) = (template, level)
    }
    return chain
  }

  private func hint(forId id: String) -> String {
    let known = Set(names.keys).union(graph.outerDirectory.map { $0.chain.flatMap { $0.directory.names.keys } } ?? [])
    guard let near = known.filter({ EditDistance.isSmall($0, id) }).min() else { return "" }
    return "; did you mean '\(near)'?"
  }

  /// A factory that is set wins over a class's own `init()`, wherever in the chain it stands.
  private mutating func factory(
    of type: Any.Type, _ declared: BeanSpec, _ templates: [BeanSpec]
  ) -> FactoryFunction? {
    if declared.type == type, let factory = declared.factory { return factory }
    let own = (declared.type == nil ? templates.first { $0.type != nil } : declared)?.initializer
    if let maker = declared.factory == nil ? templates.first(where: { $0.factory != nil }) : declared {
      // What stands in a box of its own type cannot be read as another type, and neither can an object as a box.
      if let made = maker.type, made == type || type is AnyObject.Type && TypeRelation.isUsable(made, as: type) {
        return maker.factory
      }
      if own == nil {
        report(
          declared, .typeMismatch,
          "the template's factory makes a \(maker.kind), not a \(type): give the bean its own")
        return nil
      }
    }
    if own == nil {
      report(
        declared, .invalidDeclaration,
        "\(type) has no init() that the container can call: give a factory, conform to Initializable, "
          + "or inherit from a template that has a factory")
    }
    return own
  }

  // MARK: checks

  private mutating func check(_ definition: BeanDefinition) {
    faults += definition.bindProperties()
    definition.collectValues()
    for type in definition.spec.stated where !TypeRelation.isUsable(definition.type, as: type) {
      faults.append(definition.fault(.typeMismatch, "\(definition.type) does not implement \(type)"))
    }
    for property in definition.properties {
      guard let owner = property.setter?.owner, !TypeRelation.isUsable(definition.type, as: owner) else { continue }
      faults.append(
        definition.fault(.typeMismatch, "\(property.name) is a property of \(owner), not of \(definition.type)"))
    }
    for callback in definition.spec.postConstructs + definition.spec.onDestroys
    where !TypeRelation.isUsable(definition.type, as: callback.owner) {
      faults.append(
        definition.fault(.typeMismatch, "a lifecycle callback expects a \(callback.owner), not a \(definition.type)"))
    }
  }

  // MARK: aliases

  /// Enters aliases beside the ids, so that whatever looks for an id finds them.
  private mutating func enterAliases() {
    var known: [String: EnvironmentDeclarations.Alias] = [:]
    let aliases = graph.declarations.aliases
    for alias in aliases {
      if let earlier = names[alias.name]?.location ?? known[alias.name]?.location {
        faults.append(fault(alias, .duplicateId, "the id '\(alias.name)' is taken by \(earlier.origin)"))
      } else {
        known[alias.name] = alias
      }
    }
    var aliasCircles: Set<Set<String>> = []
    for alias in aliases where known[alias.name]?.location.origin == alias.location.origin {
      guard let target = end(of: alias, in: known) else {
        // One report for all aliases that run into the same circle.
        let circle = circle(of: alias, in: known)
        if aliasCircles.insert(Set(circle)).inserted {
          let drawn = circle.map { "'\($0)'" }.joined(separator: " → ")
          faults.append(fault(alias, .cyclicDependency, "aliases name each other: \(drawn); let one name a bean"))
        }
        continue
      }
      guard let found = names[target] ?? graph.outerDirectory?.find(id: target)?.name else {
        faults.append(fault(alias, .unknownBean, "no bean has the id '\(target)'\(hint(forId: target))"))
        continue
      }
      enter(alias, target, found)
    }
  }

  /// The bean, and the factory behind it. What stands further out is found there, by its own id.
  private mutating func enter(_ alias: EnvironmentDeclarations.Alias, _ target: String, _ found: BeanDirectory.Name) {
    names[alias.name] = BeanDirectory.Name(
      entry: found.entry, isAbstract: found.isAbstract, outer: names[target] == nil ? target : nil,
      location: alias.location)
    guard let factory = names["&\(target)"] ?? graph.outerDirectory?.find(id: "&\(target)")?.name else { return }
    names["&\(alias.name)"] = BeanDirectory.Name(
      entry: factory.entry, outer: names["&\(target)"] == nil ? "&\(target)" : nil, location: alias.location)
  }

  /// The id at the end of a chain of aliases; nil for a circle.
  private func end(
    of alias: EnvironmentDeclarations.Alias, in known: [String: EnvironmentDeclarations.Alias]
  ) -> String? {
    var seen: Set = [alias.name]
    var id = alias.target
    while let next = known[id] {
      guard seen.insert(id).inserted else { return nil }
      id = next.target
    }
    return id
  }

  /// The aliases that name each other, of which the first is also the last.
  private func circle(
    of alias: EnvironmentDeclarations.Alias, in known: [String: EnvironmentDeclarations.Alias]
  ) -> [String] {
    var chain = [alias.name]
    var seen: Set = [alias.name]
    var id = alias.target
    while seen.insert(id).inserted, let next = known[id] {
      chain.append(id)
      id = next.target
    }
    return chain.drop { $0 != id } + [id]
  }

  // MARK: faults

  private func fault(
    _ alias: EnvironmentDeclarations.Alias, _ code: EnvironmentError.Code, _ message: String
  ) -> EnvironmentError {
    EnvironmentError(code, message, path: ["'\(alias.name)'"], origin: alias.location.origin)
  }

  private mutating func reportCircle(_ circle: [BeanSpec], _ marks: [String]) {
    guard let first = circle.first, circles.insert(Set(marks)).inserted else { return }
    let ids = (circle + [first]).map { $0.id ?? $0.kind }
    faults.append(
      EnvironmentError(
        .cyclicDependency, "templates inherit from each other: \(ids.joined(separator: " → "))", path: ids,
        origin: first.location.origin))
  }

  private mutating func report(_ spec: BeanSpec, _ code: EnvironmentError.Code, _ message: String) {
    faults.append(EnvironmentError(code, message, path: [spec.written], origin: spec.location.origin))
  }
}

/// How the product of a `FactoryBean` is built: by asking the factory, which is a bean of its own.
struct FactoryProduct {
  let factory: any FactoryBean.Type
  let target: Any.Type
  let origin: EnvironmentError.Origin

  /// Takes the factory as its only argument.
  var function: FactoryFunction { function(factory) }

  /// Why the factory can never make the target; nil where it may, as far as types can tell.
  var fault: String? {
    if Parameter.isWrapper(target) { return "\(target) cannot be the target of a factory: it is not a bean's type" }
    return mayMake(factory) ? nil : "\(factory) makes a \(product(factory)), which is never a \(target)"
  }

  private func function<Factory: FactoryBean>(_ factory: Factory.Type) -> FactoryFunction {
    func open<Target>(_ target: Target.Type) -> FactoryFunction {
      FactoryFunction(target, [Parameter.of(factory)]) { [origin] arguments in
        var arguments = arguments
        let made = try arguments.take(as: Factory.self).create()
        if let product = made as? Target { return product }
        throw EnvironmentError(
          .typeMismatch, "\(Factory.self) made a \(type(of: made as Any)), not a \(target)", path: ["\(target)"],
          origin: origin)
      }
    }
    return _openExistential(target, do: open)
  }

  private func product<Factory: FactoryBean>(_ factory: Factory.Type) -> Any.Type { Factory.Product.self }

  private func mayMake<Factory: FactoryBean>(_ factory: Factory.Type) -> Bool {
    let product: Any.Type = Factory.Product.self
    if TypeRelation.isUsable(product, as: target) || TypeRelation.isUsable(target, as: product) { return true }
    // What a protocol type or an optional holds, and which protocols a subclass has, is known when it is there.
    if TypeRelation.isExistential(product) || Parameter.isWrapper(product) { return true }
    return product is AnyObject.Type && TypeRelation.isExistential(target)
  }
}
