import BeansConfiguration
import BeansReflection

/// Which declarations of one environment count, decided before anything else is made of them.
struct ActiveDeclarations {
  /// The declarations that count, in order.
  let specs: [BeanSpec]
  let aliases: [EnvironmentDeclarations.Alias]
  /// Those of the children of factories.
  let factories: [EnvironmentDeclarations]
  /// What does not count, with what is declared in the children of factories that do not.
  let inactive: [InactiveDeclaration]
  /// Factories whose children do not count, at any depth, and what opening one throws.
  let inactiveFactories: [(declarations: EnvironmentDeclarations, reason: EnvironmentError)]
  /// Conditions that threw.
  let faults: [EnvironmentError]
  /// Why declarations do not count, by their position among all.
  private let reasons: [Int: String]

  init(_ declarations: EnvironmentDeclarations, in outer: EnvironmentGraph?, _ input: CompilerInput) {
    guard declarations.hasConditions else {
      (specs, aliases, factories) = (declarations.specs, declarations.aliases, declarations.factories)
      (inactive, inactiveFactories, faults, reasons) = ([], [], [], [:])
      return
    }
    if let decided = declarations.decided {
      self = decided
      return
    }
    var evaluator = ConditionEvaluator(declarations, in: outer, input)
    evaluator.evaluate()
    let reasons = evaluator.reasons
    self.reasons = reasons
    specs = declarations.specs.enumerated().filter { reasons[$0.offset] == nil }.map(\.element)
    faults = evaluator.faults
    let refused = evaluator.refusedFactories
    factories = declarations.factories.enumerated().filter { refused[$0.offset] == nil }.map(\.element)
    let refusedAliases = evaluator.refusedAliases
    aliases = declarations.aliases.enumerated().filter { refusedAliases[$0.offset] == nil }.map(\.element)
    var inactive = declarations.specs.enumerated().flatMap { position, spec in
      reasons[position].map { evaluator.inactive(spec, $0) } ?? []
    }
    inactive += declarations.aliases.enumerated().compactMap { position, alias in
      refusedAliases[position].map { InactiveDeclaration(alias, $0) }
    }
    var inactiveFactories: [(declarations: EnvironmentDeclarations, reason: EnvironmentError)] = []
    for (position, reason) in refused.sorted(by: { $0.key < $1.key }) {
      let factory = declarations.factories[position]
      let name = "'\(factory.name)'"
      for level in [factory] + factory.below {
        let error = EnvironmentError(
          cause: .inactiveChildren, "the children of \(name) are inactive: \(reason)", path: ["'\(level.name)'"],
          origin: factory.opening?.location.origin)
        inactiveFactories.append((level, error))
        let reason = "the children of \(name) are: \(reason)"
        inactive += level.seed.map { [InactiveDeclaration(seed: $0, reason)] } ?? []
        inactive += level.specs.flatMap { evaluator.inactive($0, reason) }
        inactive += level.aliases.map { InactiveDeclaration($0, reason) }
      }
    }
    (self.inactive, self.inactiveFactories) = (inactive, inactiveFactories)
  }

  /// What a report says behind the declaration at a position among all.
  func text(_ position: Int) -> String { reasons[position].map { " inactive: \($0)" } ?? "" }

  /// The entries of all declarations from those of the ones that count: -1 for the others.
  func merge(_ entries: [Int32]) -> [Int32] {
    if reasons.isEmpty { return entries }
    var rest = entries[...]
    return (0..<entries.count + reasons.count).map { reasons[$0] == nil ? rest.removeFirst() : -1 }
  }
}

extension InactiveDeclaration {
  init(_ spec: BeanSpec, _ types: [Any.Type], _ reason: String) {
    self.init(
      number: spec.number, types: spec.isAbstract ? [] : types, id: spec.id, isPrimary: spec.isPrimary,
      qualifiers: spec.qualifiers.map { ObjectIdentifier($0) }, privateTo: spec.isPrivate ? spec.module?.key : nil,
      label: "a \(spec.written)", location: spec.location, reason: reason)
  }

  init(seed: BeanSpec, _ reason: String) {
    self.init(
      number: seed.number, types: [seed.type].compactMap(\.self), id: nil, isSeed: true,
      label: "a seed of type \(seed.written)", location: seed.location, reason: reason)
  }

  init(_ alias: EnvironmentDeclarations.Alias, _ reason: String) {
    self.init(
      number: 0, types: [], id: alias.name, label: "an alias '\(alias.name)'",
      location: alias.location, reason: reason)
  }
}

/// Asks the conditions of one environment's declarations: first those that look at the configuration, then, in order of
/// definition, those that look for what is missing.
private struct ConditionEvaluator {
  private let declarations: EnvironmentDeclarations
  /// What is declared further out and compiled together with this.
  private let outer: EnvironmentGraph?
  /// What is declared where environments have started, nearest first.
  private let started: BeanDirectory?
  private let templates: [DeclaredBeans]
  private(set) var faults: [EnvironmentError] = []
  /// Why declarations do not count, by their position.
  private(set) var reasons: [Int: String] = [:]
  private(set) var refusedFactories: [Int: String] = [:]
  private(set) var refusedAliases: [Int: String] = [:]
  private var profiles: ActiveProfiles?
  private typealias Inclusion = (conditions: [BeanCondition], by: IncludedModule?, location: SourceLocation)
  /// The inclusions of modules that hold, as far as the configuration says.
  private var inclusions: [ObjectIdentifier: [Inclusion]] = [:]
  /// Why modules do not count, as far as the configuration says.
  private var refusals: [ObjectIdentifier: String] = [:]
  /// Modules that count only where something is missing.
  private var standIns: Set<ObjectIdentifier> = []

  init(_ declarations: EnvironmentDeclarations, in outer: EnvironmentGraph?, _ input: CompilerInput) {
    self.declarations = declarations
    self.outer = outer
    started = input.parent?.directory
    templates = input.outer
  }

  mutating func evaluate() {
    let specs = declarations.specs
    evaluateModules()
    for (position, spec) in specs.enumerated() {
      reasons[position] = refusal(by: spec.conditions, [spec.written], spec.location) ?? refusal(of: spec.module)
    }
    let standIns = specs.indices.filter {
      let isStandIn = specs[$0].module.map { self.standIns.contains($0.key) } ?? false
      return reasons[$0] == nil && (isStandIn || specs[$0].conditions.contains(where: \.looksForMissing))
    }
    // They do not see each other before they have been looked at; a module is looked at as one.
    for position in standIns { reasons[position] = "it has not been looked at" }
    var rivals: [ObjectIdentifier: String?] = [:]
    for position in standIns {
      let spec = specs[position]
      reasons[position] = rival(to: spec.conditions) ?? rival(to: spec.module, &rivals)
    }
    for (position, alias) in declarations.aliases.enumerated() {
      refusedAliases[position] = refusal(of: alias.module) ?? rival(to: alias.module, &rivals)
    }
    for (position, factory) in declarations.factories.enumerated() {
      refusedFactories[position] =
        refusal(by: factory.conditions, ["'\(factory.name)'"], factory.opening?.location) ?? refusal(of: factory.module)
        ?? rival(to: factory.conditions) ?? rival(to: factory.module, &rivals)
    }
  }

  // MARK: modules

  /// Decides which inclusions hold: those whose conditions do, in a module that counts. Modules may include each other.
  private mutating func evaluateModules() {
    let modules = declarations.modules
    var reasons: [ObjectIdentifier: [String?]] = [:]
    for module in modules {
      reasons[module.key] = module.inclusions.map { inclusion in
        refusal(by: inclusion.conditions, ["module \(module.name)"], inclusion.location)
      }
    }
    let counting = reached(from: modules) { module, number in reasons[module.key]?[number] == nil }
    for module in modules {
      inclusions[module.key] = module.inclusions.enumerated().filter { number, inclusion in
        reasons[module.key]?[number] == nil && isCounted(inclusion.by, among: counting)
      }.map(\.element)
      if counting.contains(module.key) { continue }
      let reason = reasons[module.key]?.lazy.compactMap(\.self).first
      refusals[module.key] = "module \(module.name) is: \(reason ?? "no module that includes it counts")"
    }
    let unconditional = reached(from: modules) { module, number in
      let conditions = module.inclusions[number].conditions
      return reasons[module.key]?[number] == nil && !conditions.contains(where: \.looksForMissing)
    }
    standIns = counting.subtracting(unconditional)
  }

  /// The modules that are included by an inclusion that holds, in a module of which that is so.
  private func reached(
    from modules: [IncludedModule], by holds: (IncludedModule, Int) -> Bool
  ) -> Set<ObjectIdentifier> {
    var found: Set<ObjectIdentifier> = []
    var isComplete = false
    while !isComplete {
      let more = modules.filter { module in
        !found.contains(module.key)
          && module.inclusions.indices.contains {
            holds(module, $0) && isCounted(module.inclusions[$0].by, among: found)
          }
      }
      found.formUnion(more.map(\.key))
      isComplete = more.isEmpty
    }
    return found
  }

  /// What a module further out has declared is looked at only where that module counts.
  private func isCounted(_ module: IncludedModule?, among counting: Set<ObjectIdentifier>) -> Bool {
    guard let module, declarations.modules.contains(where: { $0 === module }) else { return true }
    return counting.contains(module.key)
  }

  private func refusal(of module: IncludedModule?) -> String? { module.flatMap { refusals[$0.key] } }

  /// What answers to a type that each inclusion of the module wants to be missing.
  private func rival(to module: IncludedModule?, _ known: inout [ObjectIdentifier: String?]) -> String? {
    guard let module, standIns.contains(module.key) else { return nil }
    if let rival = known[module.key] { return rival }
    // Until another inclusion shows that it counts: modules may include each other.
    known[module.key] = .some("module \(module.name) is included by itself alone")
    var found: String?
    for inclusion in inclusions[module.key] ?? [] {
      guard let rival = rival(to: inclusion.conditions) ?? rival(to: inclusion.by, &known) else {
        found = nil
        break
      }
      found = "module \(module.name) is: \(rival)"
    }
    known[module.key] = .some(found)
    return found
  }

  // MARK: the configuration

  /// Why one of the conditions does not hold, as far as the configuration says.
  private mutating func refusal(
    by conditions: [BeanCondition], _ path: [String], _ location: SourceLocation?
  ) -> String? {
    for condition in conditions {
      do {
        switch condition {
        case .missing: continue
        case .profile(let condition):
          if let reason = try activeProfiles().refusal(of: condition) { return reason }
        case .configuration(let description, let holds):
          if try !holds(declarations.configuration) { return Self.refusal(description) }
        }
      } catch {
        let cause = error as? EnvironmentError
        faults.append(
          EnvironmentError(
            cause: cause?.cause ?? .throwingCondition,
            "a condition could not be asked: \(cause?.message ?? "\(error)")",
            steps: path.map { EnvironmentError.Step($0) }, origin: location?.origin,
            underlying: cause?.underlying ?? [error]))
        return "a condition of it could not be asked"
      }
    }
    return nil
  }

  private static func refusal(_ description: String?) -> String {
    description.map { "it is not so that \($0)" } ?? "its condition does not hold"
  }

  private mutating func activeProfiles() throws -> ActiveProfiles {
    if let profiles { return profiles }
    let read = try ActiveProfiles(in: declarations.configuration)
    profiles = read
    return read
  }

  // MARK: what is missing

  /// What answers to a type that one of the conditions wants to be missing.
  private func rival(to conditions: [BeanCondition]) -> String? {
    for condition in conditions {
      if case .missing(let type) = condition, let rival = rival(for: type) { return rival }
    }
    return nil
  }

  private func rival(for type: Any.Type) -> String? {
    let own = declarations.specs.enumerated().filter { reasons[$0.offset] == nil }.map(\.element)
    if let rival = rival(for: type, own, seed: declarations.seed) { return rival }
    for graph in levels {
      if let rival = rival(for: type, graph.active.specs, seed: graph.declarations.seed) { return rival }
    }
    guard let started else { return nil }
    for (directory, numbers) in started.levels(with: type, nil) {
      guard let number = numbers.first(where: { directory.entries[Int($0)].privateTo == nil }) else { continue }
      let entry = directory.entries[Int(number)]
      return "a \(entry.label) is declared at \(entry.location.origin)"
    }
    return nil
  }

  private func rival(for type: Any.Type, _ specs: [BeanSpec], seed: BeanSpec?) -> String? {
    if seed?.type == type { return "the seed is a \(type)" }
    return first(answering: type, among: specs).map { "a \($0.written) is declared at \($0.location.origin)" }
  }

  /// The graphs further out that are compiled together with this, nearest first.
  private var levels: some Sequence<EnvironmentGraph> {
    sequence(state: outer) { next in
      defer { next = next?.parent }
      return next
    }
  }

  /// Beans declared in place stand behind what they are declared in.
  private func first(answering type: Any.Type, among specs: [BeanSpec]) -> BeanSpec? {
    for spec in specs {
      let isFound = types(of: spec).contains { $0 == type || TypeRelation.isUsable($0, as: type) }
      if !spec.isAbstract, !spec.isPrivate, isFound { return spec }
      // Not those that other declarations define: they are looked at by themselves.
      let embedded = spec.embedded.filter { !$0.isDefined }.map(\.spec)
      if let found = first(answering: type, among: embedded) { return found }
    }
    return nil
  }

  /// A declaration that does not count, and those that stand in it.
  func inactive(_ spec: BeanSpec, _ reason: String) -> [InactiveDeclaration] {
    let embedded = spec.embedded.filter { !$0.isDefined }.flatMap { inactive($0.spec, reason) }
    return [InactiveDeclaration(spec, types(of: spec), reason)] + embedded
  }

  /// What lookups find the bean by, from the declaration or its templates.
  func types(of spec: BeanSpec) -> [Any.Type] {
    if spec.isDecorator { return [] }
    var (own, target): (Any.Type?, Any.Type?) = (nil, nil)
    var seen: Set<ObjectIdentifier> = []
    var next = Optional(spec)
    while let spec = next, seen.insert(ObjectIdentifier(spec)).inserted {
      own = own ?? spec.type
      target = target ?? spec.target
      next = spec.template.flatMap(template)
    }
    return [own, target].compactMap(\.self)
  }

  private func template(_ id: String) -> BeanSpec? {
    func isMeant(_ spec: BeanSpec) -> Bool { spec.id == id }
    if let own = declarations.specs.first(where: isMeant) { return own }
    for graph in levels {
      if let found = graph.active.specs.first(where: isMeant) { return found }
    }
    return templates.lazy.flatMap(\.specs).first(where: isMeant)
  }
}

extension BeanCondition {
  fileprivate var looksForMissing: Bool { if case .missing = self { true } else { false } }
}
