import BeansConfiguration
import BeansReflection

/// The active declarations of one environment. Conditions are evaluated here, before any other step of the compilation.
struct ActiveDeclarations {
  /// The declaration of the value from which each child of a factory is built.
  let seed: FrozenSpec?
  /// The active declarations, in order of definition.
  private(set) var specs: [FrozenSpec]
  private(set) var aliases: [EnvironmentDeclarations.Alias]
  /// The declarations of the children of active factories.
  private(set) var factories: [EnvironmentDeclarations]
  /// The inactive declarations, including those in the children of inactive factories.
  private(set) var inactive: [InactiveDeclaration] = []
  /// The factories whose children are inactive, at any depth, each with the error that opening a child throws.
  private(set) var inactiveFactories: [(declarations: EnvironmentDeclarations, reason: EnvironmentError)] = []
  /// The errors that conditions threw.
  private(set) var faults: [EnvironmentError] = []
  /// The reasons why declarations are inactive, by their numbers.
  private var reasons = [Int: String]()

  /// Evaluates the conditions of declarations.
  ///
  /// - Parameters:
  ///   - declarations: the declarations.
  ///   - levels: the declarations further out that are compiled together with these, nearest first.
  ///   - started: the beans of environments further out that have started, nearest first.
  init(_ declarations: EnvironmentDeclarations, in levels: @autoclosure () -> [Self], _ started: BeanDirectory?) {
    declarations.addFactoryBeans()
    if let decided = declarations.decided {
      self = decided
      return
    }
    seed = declarations.seed
    (specs, aliases, factories) = (declarations.specs, declarations.aliases, declarations.factories)
    if !declarations.hasConditions { return }
    var evaluator = ConditionEvaluator(declarations, in: levels(), started)
    evaluator.evaluate()
    (reasons, faults) = (evaluator.reasons, evaluator.faults)
    specs.removeAll { evaluator.reasons[$0.number] != nil }
    aliases = evaluator.aliases.filter { $0.refusal == nil }.map(\.alias)
    factories = evaluator.factories.filter { $0.refusal == nil }.map(\.factory)
    inactive = declarations.specs.flatMap { spec in
      evaluator.reasons[spec.number].map { evaluator.inactive(spec, $0) } ?? []
    }
    inactive += evaluator.aliases.compactMap { alias, refusal in refusal.map { InactiveDeclaration(alias, $0) } }
    for (factory, refusal) in evaluator.factories {
      guard let reason = refusal else { continue }
      let name = "'\(factory.name)'"
      for level in [factory] + factory.below {
        let error = EnvironmentError(
          cause: .inactiveChildren, "the children of \(name) are inactive: \(reason)", path: ["'\(level.name)'"],
          origin: factory.opening?.origin)
        inactiveFactories.append((level, error))
        let reason = "the children of \(name) are: \(reason)"
        if let seed = level.seed {
          let label = "a seed of type \(seed.written)"
          inactive.append(InactiveDeclaration(seed, label, evaluator.types(of: seed), isSeed: true, reason))
        }
        inactive += level.specs.flatMap { evaluator.inactive($0, reason) }
        inactive += level.aliases.map { InactiveDeclaration($0, reason) }
      }
    }
  }

  /// Returns the text that a report appends to a declaration.
  func text(of spec: FrozenSpec) -> String { reasons[spec.number].map { " inactive: \($0)" } ?? "" }
}

extension InactiveDeclaration {
  @inline(never)
  init(_ spec: FrozenSpec, _ label: String, _ types: [Any.Type], isSeed: Bool = false, _ reason: String) {
    self.init(
      number: spec.number, types: spec.isAbstract ? [] : types, id: spec.id, isPrimary: spec.isPrimary,
      isSeed: isSeed, qualifiers: spec.qualifiers.map { ObjectIdentifier($0) }, privateTo: spec.privateTo,
      label: label, location: spec.location, reason: reason)
  }

  @inline(never)
  init(_ alias: EnvironmentDeclarations.Alias, _ reason: String) {
    self.init(
      number: 0, types: [], id: alias.name, label: "an alias '\(alias.name)'",
      location: alias.location, reason: reason)
  }
}

/// Evaluates the conditions of one environment's declarations: first those on the configuration, then, in order of
/// definition, those that require a type to be missing.
private struct ConditionEvaluator {
  private let declarations: EnvironmentDeclarations
  /// The declarations further out that are compiled together with these, nearest first.
  private let levels: [ActiveDeclarations]
  /// The beans of environments further out that have started, nearest first.
  private let started: BeanDirectory?
  private(set) var faults: [EnvironmentError] = []
  /// The reasons why declarations are inactive, by their numbers.
  private(set) var reasons = [Int: String]()
  private(set) var factories: [(factory: EnvironmentDeclarations, refusal: String?)] = []
  private(set) var aliases: [(alias: EnvironmentDeclarations.Alias, refusal: String?)] = []
  private lazy var profiles = Result { try ActiveProfiles(in: declarations.configuration) }
  private typealias Inclusion = (conditions: [BeanCondition], by: IncludedModule?, location: SourceLocation)
  /// The inclusions of modules that hold according to the configuration alone, by module.
  private var inclusions = [ObjectIdentifier: [Inclusion]]()
  /// The reasons why modules are inactive according to the configuration alone.
  private var refusals = [ObjectIdentifier: String]()
  /// The modules that are active only if a type is missing.
  private var standIns: Set<ObjectIdentifier> = []

  init(_ declarations: EnvironmentDeclarations, in levels: [ActiveDeclarations], _ started: BeanDirectory?) {
    (self.declarations, self.levels, self.started) = (declarations, levels, started)
  }

  mutating func evaluate() {
    let specs = declarations.specs
    evaluateModules()
    for spec in specs {
      reasons[spec.number] =
        refusal(by: spec.conditions, of: spec.written, at: spec.location) ?? refusal(of: spec.module)
    }
    let standIns = specs.filter { spec in
      let isStandIn = spec.module.map { self.standIns.contains($0.key) } ?? false
      return reasons[spec.number] == nil && (isStandIn || spec.conditions.contains(where: \.looksForMissing))
    }
    // Until they are evaluated, stand-ins do not see each other. All declarations of a module share one result.
    for spec in standIns { reasons[spec.number] = "it has not been looked at" }
    var rivalsByModule = [ObjectIdentifier: String?]()
    for spec in standIns {
      reasons[spec.number] = rival(to: spec.conditions) ?? rival(to: spec.module, &rivalsByModule)
    }
    for alias in declarations.aliases {
      aliases.append((alias, refusal(of: alias.module) ?? rival(to: alias.module, &rivalsByModule)))
    }
    for factory in declarations.factories {
      factories.append((factory, refusal(of: factory.module) ?? rival(to: factory.module, &rivalsByModule)))
    }
  }

  // MARK: modules

  /// Decides which inclusions hold: those whose conditions hold, in an active module. Modules may include each other.
  private mutating func evaluateModules() {
    var reasons = [ObjectIdentifier: String]()
    for module in declarations.modules {
      for inclusion in module.inclusions {
        if let reason = refusal(by: inclusion.conditions, of: "module \(module.name)", at: inclusion.location) {
          reasons[module.key] = reasons[module.key] ?? reason
        } else {
          inclusions[module.key, default: []].append(inclusion)
        }
      }
    }
    let counting = reached { _ in true }
    for module in declarations.modules where !counting.contains(module.key) {
      let reason = reasons[module.key] ?? "no module that includes it counts"
      refusals[module.key] = "module \(module.name) is: \(reason)"
    }
    standIns = counting.subtracting(reached { !$0.conditions.contains(where: \.looksForMissing) })
    inclusions = inclusions.mapValues { $0.filter { isCounted($0.by, among: counting) } }
  }

  /// Returns the reached modules. A module is reached if one of its inclusions holds and is made by a reached module,
  /// by a module further out, or outside of any module.
  private func reached(by holds: (Inclusion) -> Bool) -> Set<ObjectIdentifier> {
    var found: Set<ObjectIdentifier> = []
    var isComplete = false
    while !isComplete {
      let more = declarations.modules.filter { module in
        !found.contains(module.key)
          && inclusions[module.key, default: []].contains { holds($0) && isCounted($0.by, among: found) }
      }
      found.formUnion(more.map(\.key))
      isComplete = more.isEmpty
    }
    return found
  }

  /// Whether an including module is active. A module further out is always active here: otherwise nothing that it
  /// declares would be compiled.
  private func isCounted(_ module: IncludedModule?, among counting: Set<ObjectIdentifier>) -> Bool {
    guard let module, declarations.modules.contains(where: { $0 === module }) else { return true }
    return counting.contains(module.key)
  }

  private func refusal(of module: IncludedModule?) -> String? { module.flatMap { refusals[$0.key] } }

  /// Returns a description of the bean that makes the module inactive; nil if one of its inclusions has no such bean.
  private func rival(to module: IncludedModule?, _ known: inout [ObjectIdentifier: String?]) -> String? {
    guard let module, standIns.contains(module.key) else { return nil }
    if let rival = known[module.key] { return rival }
    // Holds until another inclusion shows that the module is active: modules may include each other.
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

  // MARK: configuration

  /// Returns the reason why one of the conditions on the configuration does not hold; nil if all hold.
  private mutating func refusal(
    by conditions: [BeanCondition], of subject: String, at location: SourceLocation
  ) -> String? {
    for condition in conditions {
      do {
        switch condition {
        case .missing: continue
        case .profile(let condition):
          if let reason = try profiles.get().refusal(of: condition) { return reason }
        case .configuration(let description, let holds):
          if try holds(declarations.configuration) { continue }
          return description.map { "condition not met: \($0)" } ?? "its condition does not hold"
        }
      } catch {
        let cause = error as? EnvironmentError
        faults.append(
          EnvironmentError(
            cause: cause?.cause ?? .throwingCondition,
            "a condition could not be asked: \(cause?.message ?? "\(error)")",
            steps: [EnvironmentError.Step(subject)], origin: location.origin,
            underlying: cause?.underlying ?? [error]))
        return "a condition of it could not be asked"
      }
    }
    return nil
  }

  // MARK: missing types

  /// Returns a description of a bean or seed whose type one of the conditions requires to be missing.
  private func rival(to conditions: [BeanCondition]) -> String? {
    for condition in conditions {
      if case .missing(let type) = condition, let rival = rival(for: type) { return rival }
    }
    return nil
  }

  private func rival(for type: Any.Type) -> String? {
    let own = declarations.specs.filter { reasons[$0.number] == nil }
    for (specs, seed) in [(own, declarations.seed)] + levels.map({ ($0.specs, $0.seed) }) {
      if seed?.type == type { return "the seed is a \(type)" }
      guard let found = first(answering: type, among: specs) else { continue }
      return "a \(found.written) is declared at \(found.location.origin)"
    }
    guard let started else { return nil }
    for (directory, numbers) in started.levels(with: type, nil) {
      guard let bean = numbers.lazy.map({ directory.beans[Int($0)] }).first(where: { $0.privateTo == nil }) else {
        continue
      }
      return "a \(bean.label) is declared at \(bean.location.origin)"
    }
    return nil
  }

  /// Returns the first declaration that provides the type. A bean declared in place comes after the declaration that
  /// contains it.
  private func first(answering type: Any.Type, among specs: [FrozenSpec]) -> FrozenSpec? {
    for spec in specs {
      let isFound = types(of: spec).contains { $0 == type || TypeRelation.isUsable($0, as: type) }
      if !spec.isAbstract, !spec.isPrivate, isFound { return spec }
      if let found = first(answering: type, among: embedded(in: spec)) { return found }
    }
    return nil
  }

  /// Returns the declarations that are made in place. Embedded beans that are defined by themselves are declarations of
  /// their own, and evaluated there.
  private func embedded(in spec: FrozenSpec) -> [FrozenSpec] {
    spec.embedded.filter { !$0.isDefined }.map { FrozenSpec($0.spec) }
  }

  /// Returns an inactive declaration and the declarations that are embedded in it.
  func inactive(_ spec: FrozenSpec, _ reason: String) -> [InactiveDeclaration] {
    [InactiveDeclaration(spec, "a \(spec.written)", types(of: spec), reason)]
      + embedded(in: spec).flatMap { inactive($0, reason) }
  }

  /// Returns the types by which lookups find the bean, from the declaration or its templates.
  func types(of spec: FrozenSpec) -> [Any.Type] {
    if spec.isDecorator { return [] }
    var (own, target): (Any.Type?, Any.Type?) = (nil, nil)
    var seen: Set<Int> = []
    var next = Optional(spec)
    while let spec = next, seen.insert(spec.number).inserted {
      own = own ?? spec.type
      target = target ?? spec.target
      next = spec.template.flatMap(template)
    }
    return [own, target].compactMap(\.self)
  }

  private func template(_ id: String) -> FrozenSpec? {
    func isMeant(_ spec: FrozenSpec) -> Bool { spec.id == id }
    if let own = declarations.specs.first(where: isMeant) { return own }
    for level in levels {
      if let found = level.specs.first(where: isMeant) { return found }
    }
    let outer = started.map { Array($0.chain) } ?? []
    return outer.lazy.flatMap(\.directory.declarations.specs).first(where: isMeant)
  }
}

extension BeanCondition {
  fileprivate var looksForMissing: Bool { if case .missing = self { true } else { false } }
}
