import BeansReflection
import BeansSupport

/// Turns what was declared in one environment into definitions: finds beans declared in place, follows template chains in
/// whatever order they were declared, tells factory beans from their products.
struct TemplateResolver {
  private let graph: EnvironmentGraph
  private(set) var faults: [EnvironmentError] = []
  private var definitions: [BeanDefinition] = []
  /// What was looked at last, and what it is.
  private var last: (type: Any.Type, traits: BeanTraits) = (Never.self, [])
  /// Declarations and those that stand in them, in order.
  private var specs: [BeanSpec] = []
  /// By the same order: the number of the declaration, and its entry once it has one.
  private var declared: [(number: Int, entry: Int32)] = []
  private var names: [String: BeanDirectory.Name] = [:]
  /// Where ids are declared that no declaration has itself: aliases, and factories behind their products.
  private var locations: [String: SourceLocation] = [:]
  /// Aliases of this environment, by name.
  private var aliases: [String: EnvironmentDeclarations.Alias] = [:]
  /// One report for all declarations that run into the same circle.
  private var circles: Set<Set<ObjectIdentifier>> = []
  /// What was declared further out, nearest first.
  private let outer: [DeclaredBeans]
  /// Where what was defined stands among the specs.
  private var positions: [Int] = []

  /// Gathers the declarations of a graph, and those that stand in them.
  init(_ graph: EnvironmentGraph, _ outer: [DeclaredBeans]) {
    self.graph = graph
    self.outer = graph.chain.dropFirst().map(\.declared) + outer
    let declarations = graph.declarations.specs
    specs.reserveCapacity(declarations.count)
    declared.reserveCapacity(declarations.count)
    names.reserveCapacity(declarations.count)
    positions.reserveCapacity(declarations.count)
    for spec in declarations {
      positions.append(specs.count)
      collect(spec)
    }
    for alias in graph.declarations.aliases where names[alias.name] == nil && aliases[alias.name] == nil {
      aliases[alias.name] = alias
    }
  }

  /// Has the bean descriptors of declared classes made: their initialisers are users' code. What one throws is thrown
  /// again when it is asked for, and reported with the other faults.
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

  /// Reads all declarations; the graphs further out have been read.
  mutating func resolve() {
    definitions.reserveCapacity(specs.count)
    if let seed = graph.declarations.seed, let type = seed.type, let factory = seed.factory {
      _ = add(seed, type, graph.usualLifetime, factory)
    }
    for position in specs.indices { define(position) }
    var unbuilt: [Int32: (isAbstract: Bool, location: SourceLocation)] = [:]
    for (position, (_, entry)) in declared.enumerated() where entry < 0 && specs[position].id != nil {
      unbuilt[Int32(position)] = (specs[position].isAbstract, specs[position].location)
    }
    let entered = enterAliases()
    let directory = BeanDirectory(
      name: graph.name, scopeName: graph.scopeName, parent: graph.outerDirectory, entries: definitions.map(entry),
      names: names, aliases: entered, declared: declared, unbuilt: unbuilt)
    graph.declared.freeze(directory, specs)
    graph.freeze(definitions, positions.map { declared[$0].entry })
  }

  private func entry(_ definition: BeanDefinition) -> BeanDirectory.Entry {
    BeanDirectory.Entry(
      type: definition.type, id: definition.id, lifetime: definition.lifetime, isPrimary: definition.spec.isPrimary,
      isSeed: definition.entry == 0 && graph.hasSeed, maker: definition.maker?.type,
      product: definition.factory.product?.type, isLazy: definition.spec.isLazy ?? false,
      location: definition.spec.location, traits: definition.traits)
  }

  /// Declarations in place become beans of their own; ids become known.
  private mutating func collect(_ spec: BeanSpec) {
    if let id = spec.id {
      enter(id, BeanDirectory.Name(position: Int32(specs.count)), at: spec.location)
    }
    specs.append(spec)
    declared.append((spec.number, -1))
    for embedded in spec.embedded where !embedded.isDefined {
      embedded.isDefined = true
      collect(embedded.takeSpec())
    }
  }

  /// The first of several with an id has it.
  private mutating func enter(_ id: String, _ name: BeanDirectory.Name, at location: SourceLocation) {
    guard let earlier = names.updateValue(name, forKey: id) else {
      if name.position < 0 { locations[id] = location }
      return
    }
    names[id] = earlier
    let taken = self.location(of: id).map { "\($0.origin)" } ?? "another bean"
    faults.append(
      EnvironmentError(
        .duplicateId, "the id '\(id)' is taken by \(taken)", path: ["'\(id)'"], origin: location.origin))
  }

  /// Where an id is declared.
  private func location(of id: String) -> SourceLocation? {
    locations[id] ?? names[id].map { specs[Int($0.position)].location }
  }

  // MARK: definitions

  /// Adds one bean; two where a factory bean makes the declared one; none where the declaration is abstract or at fault.
  private mutating func define(_ position: Int) {
    let declared = specs[position]
    let own = declared.type
    // Beans of one type often stand together.
    if let own, own != last.type { last = (own, .of(own)) }
    let traits = own == nil ? [] : last.traits
    for fault in declared.faults { report(declared, .invalidDeclaration, fault) }
    for fault in declared.propertyFaults { report(declared, .invalidDeclaration, fault) }
    if let own, traits.contains(.wrapper) {
      report(
        declared, .invalidDeclaration,
        "\(own) is not a bean: optionals, arrays and the container's own types cannot be declared")
    }
    guard let templates = templates(of: declared), !declared.isAbstract,
      declared.faults.isEmpty, !traits.contains(.wrapper)
    else { return }
    guard let type = own ?? templates.lazy.compactMap(\.type).first else {
      report(
        declared, .invalidDeclaration, "the declaration names no class and neither does a template")
      return
    }
    let merged = templates.isEmpty ? declared : merge(declared, templates, type)
    let known = own == nil ? BeanTraits.of(type) : traits
    if merged.target != nil || known.contains(.factory) {
      defineFactory(merged, type, declared, templates, position)
      return
    }
    guard let factory = factory(of: type, declared, templates),
      let definition = add(merged, type, lifetime(merged), factory, known)
    else { return }
    self.declared[position].entry = definition.entry
    check(definition)
  }

  private func merge(_ declared: BeanSpec, _ templates: [BeanSpec], _ type: Any.Type) -> BeanSpec {
    let merged = BeanSpec(copying: declared)
    for template in templates { merged.inherit(template) }
    merged.type = type
    return merged
  }

  private func lifetime(_ spec: BeanSpec) -> Lifetime { spec.scopeName.map { Lifetime($0) } ?? graph.usualLifetime }

  private mutating func add(
    _ spec: BeanSpec, _ type: Any.Type, _ lifetime: Lifetime, _ factory: FactoryFunction,
    _ traits: BeanTraits? = nil, maker: BeanDefinition? = nil
  ) -> BeanDefinition? {
    if factory.product != nil, let earlier = definitions.first(where: { $0.type == type }) {
      faults.append(
        EnvironmentError(
          .invalidDeclaration,
          "a factory is bound once per tag, and \(earlier.label) is bound at \(earlier.spec.location.origin)",
          path: [BeanDirectory.Entry.label(type, spec.id)], origin: spec.location.origin))
      return nil
    }
    let definition = BeanDefinition(
      spec, type: type, lifetime: lifetime, traits: traits, factory: factory,
      entry: Int32(definitions.count), maker: maker, home: Unretained(graph.declared))
    definitions.append(definition)
    return definition
  }

  /// A factory bean, and its product.
  private mutating func defineFactory(
    _ merged: BeanSpec, _ type: Any.Type, _ declared: BeanSpec, _ templates: [BeanSpec], _ position: Int
  ) {
    guard let target = merged.target else {
      return report(declared, .invalidDeclaration, "\(type) is a FactoryBean: .target(…) has to say what it makes")
    }
    guard let factoryType = type as? any FactoryBean.Type else {
      return report(
        declared, .invalidDeclaration, "\(type) is no FactoryBean, so it cannot have the target \(target)")
    }
    if let fault = FactoryFunction.fault(of: factoryType, making: target) {
      return report(declared, Parameter.isWrapper(target) ? .invalidDeclaration : .typeMismatch, fault)
    }
    guard let function = factory(of: type, declared, templates) else { return }
    let lifetime = lifetime(merged)
    let own = BeanSpec(copying: merged)
    own.id = declared.id.map { "&\($0)" }
    // Products that are made anew come from one factory.
    let ownLifetime = lifetime == .prototype ? graph.usualLifetime : lifetime
    guard let maker = add(own, type, ownLifetime, function) else { return }
    if let id = own.id { enter(id, BeanDirectory.Name(entry: maker.entry), at: declared.location) }
    check(maker)
    let spec = BeanSpec(type: target, id: declared.id, location: declared.location)
    spec.isLazy = merged.isLazy
    spec.isPrimary = declared.isPrimary
    let product = FactoryFunction.product(of: factoryType, as: target, at: declared.location.origin)
    guard let made = add(spec, target, lifetime, product, maker: maker) else { return }
    self.declared[position].entry = made.entry
    faults += made.bindProperties()
  }

  // MARK: templates

  /// The chain from the nearest template outwards; nil where it does not end.
  private mutating func templates(of spec: BeanSpec) -> [BeanSpec]? {
    guard spec.template != nil else { return [] }
    var chain = [spec]
    var seen: Set = [ObjectIdentifier(spec)]
    var home = 0
    while let next = chain.last, let id = next.template {
      guard let (level, template) = template(id, askedBy: next.id, at: home) else {
        if id == next.id {
          reportCircle([next])
        } else {
          report(spec, .unknownBean, "no template has the id '\(id)'\(hint(forId: id))")
        }
        return nil
      }
      guard seen.insert(ObjectIdentifier(template)).inserted else {
        reportCircle(Array(chain.drop { $0 !== template }))
        return nil
      }
      chain.append(template)
      home = level
    }
    return Array(chain.dropFirst())
  }

  /// The nearest declaration with the id, or of which that is an alias. A declaration may inherit from one further out that
  /// has its own id.
  private func template(_ id: String, askedBy asker: String?, at home: Int) -> (level: Int, template: BeanSpec)? {
    let target = aliases[id].flatMap { end(of: $0) } ?? id
    if !(home == 0 && asker == id), let position = names[target]?.position, position >= 0 {
      return (0, specs[Int(position)])
    }
    var next = graph.outerDirectory
    while let (name, directory, _) = next?.find(id: target) {
      if let level = outer.firstIndex(where: { $0.directory === directory }), name.position >= 0,
        !(home == level + 1 && asker == id)
      {
        return (level + 1, outer[level].specs[Int(name.position)])
      }
      next = directory.parent
    }
    return nil
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
    let type = definition.type
    for stated in definition.spec.stated where !TypeRelation.isUsable(type, as: stated) {
      faults.append(definition.fault(.typeMismatch, "\(type) does not implement \(stated)"))
    }
    for property in definition.given {
      guard let owner = property.setter?.owner, !TypeRelation.isUsable(type, as: owner) else { continue }
      faults.append(definition.fault(.typeMismatch, "\(property.name) is a property of \(owner), not of \(type)"))
    }
    let (postConstructs, onDestroys) = (definition.spec.postConstructs, definition.spec.onDestroys)
    if postConstructs.isEmpty, onDestroys.isEmpty { return }
    for callback in postConstructs + onDestroys where !TypeRelation.isUsable(type, as: callback.owner) {
      faults.append(definition.fault(.typeMismatch, "a lifecycle callback expects a \(callback.owner), not a \(type)"))
    }
  }

  // MARK: aliases

  /// Enters aliases beside the ids, so that whatever looks for an id finds them. Returns what has been entered.
  private mutating func enterAliases() -> [String] {
    var entered: [(EnvironmentDeclarations.Alias, target: String, BeanDirectory.Name)] = []
    var circles: Set<Set<String>> = []
    var seen: Set<String> = []
    for alias in graph.declarations.aliases {
      let first = seen.insert(alias.name).inserted ? nil : aliases[alias.name]?.location
      if let earlier = location(of: alias.name) ?? first {
        faults.append(fault(alias, .duplicateId, "the id '\(alias.name)' is taken by \(earlier.origin)"))
        continue
      }
      guard let target = end(of: alias) else {
        // One report for all aliases that run into the same circle.
        let circle = circle(of: alias)
        if circles.insert(Set(circle)).inserted {
          let drawn = circle.map { "'\($0)'" }.joined(separator: " → ")
          faults.append(fault(alias, .cyclicDependency, "aliases name each other: \(drawn); let one name a bean"))
        }
        continue
      }
      guard let found = names[target] ?? graph.outerDirectory?.find(id: target)?.name else {
        faults.append(fault(alias, .unknownBean, "no bean has the id '\(target)'\(hint(forId: target))"))
        continue
      }
      entered.append((alias, target, found))
    }
    return entered.flatMap { alias, target, found in enter(alias, target, found) }
  }

  /// The bean, and the factory behind it. What stands further out is found there, by its own id.
  private mutating func enter(_ alias: EnvironmentDeclarations.Alias, _ target: String, _ found: BeanDirectory.Name)
    -> [String]
  {
    func add(_ name: String, _ target: String, _ found: BeanDirectory.Name) {
      locations[name] = alias.location
      names[name] = names[target] == nil ? BeanDirectory.Name(outer: target) : found
    }
    add(alias.name, target, found)
    guard let factory = names["&\(target)"] ?? graph.outerDirectory?.find(id: "&\(target)")?.name else {
      return [alias.name]
    }
    add("&\(alias.name)", "&\(target)", factory)
    return [alias.name, "&\(alias.name)"]
  }

  /// The id at the end of a chain of aliases; nil for a circle.
  private func end(of alias: EnvironmentDeclarations.Alias) -> String? {
    var seen: Set = [alias.name]
    var id = alias.target
    while let next = aliases[id] {
      guard seen.insert(id).inserted else { return nil }
      id = next.target
    }
    return id
  }

  /// The aliases that name each other, of which the first is also the last.
  private func circle(of alias: EnvironmentDeclarations.Alias) -> [String] {
    var chain = [alias.name]
    var seen: Set = [alias.name]
    var id = alias.target
    while seen.insert(id).inserted, let next = aliases[id] {
      chain.append(id)
      id = next.target
    }
    return chain.drop { $0 != id } + [id]
  }

  // MARK: faults

  private func fault(_ alias: EnvironmentDeclarations.Alias, _ code: EnvironmentError.Code, _ message: String)
    -> EnvironmentError
  {
    EnvironmentError(code, message, path: ["'\(alias.name)'"], origin: alias.location.origin)
  }

  private mutating func reportCircle(_ circle: [BeanSpec]) {
    guard let first = circle.first, circles.insert(Set(circle.map { ObjectIdentifier($0) })).inserted else { return }
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
extension FactoryFunction {
  /// Takes the factory as its only argument.
  static func product(
    of factory: any FactoryBean.Type, as target: Any.Type, at origin: EnvironmentError.Origin
  ) -> FactoryFunction {
    func open<Factory: FactoryBean>(_ factory: Factory.Type) -> FactoryFunction {
      func open<Target>(_ target: Target.Type) -> FactoryFunction {
        FactoryFunction(target, [Parameter.of(factory)]) { arguments in
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
    return open(factory)
  }

  /// Why a factory can never make the target; nil where it may, as far as types can tell.
  static func fault(of factory: any FactoryBean.Type, making target: Any.Type) -> String? {
    func product<Factory: FactoryBean>(_ factory: Factory.Type) -> Any.Type { Factory.Product.self }
    if Parameter.isWrapper(target) { return "\(target) cannot be the target of a factory: it is not a bean's type" }
    let made = product(factory)
    if TypeRelation.isUsable(made, as: target) || TypeRelation.isUsable(target, as: made) { return nil }
    // What a protocol type or an optional holds, and which protocols a subclass has, is known when it is there.
    if TypeRelation.isExistential(made) || Parameter.isWrapper(made) { return nil }
    if made is AnyObject.Type && TypeRelation.isExistential(target) { return nil }
    return "\(factory) makes a \(made), which is never a \(target)"
  }
}
