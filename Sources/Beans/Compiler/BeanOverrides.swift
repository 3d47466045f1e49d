import BeansReflection
import BeansErrors
import BeansSupport

/// The overrides of one startup, and a record of those that matched a declaration.
final class BeanOverrides {
  private let all: [BeanOverride]
  /// Whether an override without a matching declaration is a fault.
  private let isStrict: Bool
  private var met: Set<Int> = []
  /// The overrides that were applied to the environment read last, each with the entry that it replaced.
  private var placed: [(override: BeanOverride, entry: Int32)] = []

  init(_ all: [BeanOverride], isStrict: Bool) { (self.all, self.isStrict) = (all, isStrict) }

  /// Replaces the definitions of one environment, or of the children of one factory, by overrides.
  ///
  /// - Parameters:
  ///   - definitions: the definitions by entry, before decorators are added.
  ///   - hasSeed: whether the first definition is a seed.
  /// - Returns: the new definitions whose dependencies must be resolved, and the faults of the overrides.
  func apply(
    to definitions: inout [BeanDefinition], hasSeed: Bool
  ) -> (added: [BeanDefinition], faults: [EnvironmentError]) {
    var (added, faults): ([BeanDefinition], [EnvironmentError]) = ([], [])
    placed = []
    for (number, override) in all.enumerated() {
      let found = candidates(for: override, among: definitions, hasSeed)
      guard let first = found.first else { continue }
      met.insert(number)
      if let fault = fault(of: override, meeting: found, among: definitions) {
        faults.append(fault)
        continue
      }
      placed.append((override, first.entry))
    }
    for (override, entry) in placed {
      let old = definitions[Int(entry)]
      let new = replacement(of: old, by: override)
      definitions[Int(entry)] = new
      // The factory stays available to lookups of the factory itself, but startup does not build it.
      old.maker?.spec.isLazy = true
      if case .bean = override.replacement { added.append(new) }
    }
    return (added, faults)
  }

  /// Returns the definitions that a lookup with the override's criteria would find, narrowed to the best match.
  private func candidates(
    for override: BeanOverride, among definitions: [BeanDefinition], _ hasSeed: Bool
  ) -> [BeanDefinition] {
    let found = definitions.filter { definition in
      if hasSeed && definition.entry == 0 || !override.isAnswered(by: definition.type) { return false }
      if let id = override.id, definition.id != id { return false }
      if let scope = override.scope, definition.lifetime.name != scope { return false }
      return override.qualifier.map { qualifier in definition.spec.qualifiers.contains { $0 == qualifier } } ?? true
    }
    // Beans that are private to a module are used only if no other bean matches.
    let publicBeans = found.filter { !$0.spec.isPrivate }
    let known = publicBeans.isEmpty ? found : publicBeans
    let exact = known.filter { $0.type == override.type }
    let best = exact.isEmpty ? known : exact
    let primary = best.filter(\.spec.isPrimary)
    return primary.count == 1 ? primary : best
  }

  private func fault(
    of override: BeanOverride, meeting found: [BeanDefinition], among definitions: [BeanDefinition]
  ) -> EnvironmentError? {
    if found.count > 1 {
      return override.fault(
        .ambiguousOverride,
        "\(found.count) declarations answer: \(Self.list(found.map(Self.text))); say which by id, qualifier or scope")
    }
    let old = found[0]
    if definitions.contains(where: { $0.maker === old }) {
      return override.fault(
        .impossibleOverride, "\(Self.text(old)) is a FactoryBean: override what it makes, or forbid that")
    }
    if let other = placed.first(where: { $0.entry == old.entry }) {
      return override.fault(
        .impossibleOverride,
        "\(Self.text(old)) has been taken by '\(other.override.label)' at \(other.override.origin): keep one of them")
    }
    if case .bean(let type, _) = override.replacement, !override.isAnswered(by: type) {
      return override.fault(.typeMismatch, "a \(type) cannot be used as a \(override.type)")
    }
    return nil
  }

  /// Returns the replacement of a definition. It keeps the id, scope, qualifiers, module, laziness and preference of
  /// the old one.
  private func replacement(of old: BeanDefinition, by override: BeanOverride) -> BeanDefinition {
    let (type, factory, location): (Any.Type, FactoryFunction, SourceLocation)
    switch override.replacement {
    case .bean(let made, let function): (type, factory, location) = (made, function, .known(override.origin))
    case .refusal(let refusal):
      let label = old.label
      let function = FactoryFunction(
        parameters: [], boxed: old.factory.boxed, identity: old.factory.identity
      ) { _ in throw refusal(label) }
      (type, factory, location) = (old.type, function, old.spec.location)
    }
    let spec = old.spec.replacement(type, at: location)
    // Startup must not build a bean that is forbidden.
    if case .refusal = override.replacement { spec.isLazy = true }
    return BeanDefinition(
      spec, type: type, lifetime: old.lifetime, factory: factory, entry: old.entry, home: old.home)
  }

  /// Returns a fault for each override whose bean lookups in the environment do not find.
  func faults(in directory: BeanDirectory) -> [EnvironmentError] {
    placed.compactMap { override, entry in
      let bean = directory.entries[Int(entry)]
      // A lookup by id always finds the bean.
      if override.id != nil || override.scope != nil { return nil }
      let criteria = BeanDirectory.Criteria(
        module: bean.privateTo, tag: override.qualifier)
      let (found, rivals) = directory.choose(override.type, criteria)
      if let found, found.number == entry, found.directory === directory, rivals.isEmpty { return nil }
      let others = directory.candidates(for: override.type).filter { $0 != entry }
        .map { directory.entries[Int($0)] }.map { "\($0.label) (\($0.location.origin))" }
      return override.fault(
        .ambiguousOverride,
        "a \(bean.label) cannot win in '\(directory.name)': \(Self.list(others)) answer as well as that; let the "
          + "override make a \(override.type)")
    }
  }

  // MARK: unmatched overrides

  /// Returns a fault for each override that matched no declaration, with near misses as hints.
  func unmet(in graphs: [EnvironmentGraph]) -> [EnvironmentError] {
    if !isStrict { return [] }
    return all.enumerated().filter { !met.contains($0.offset) }.map { _, override in
      let hints = graphs.flatMap { nearMisses(of: override, in: $0) }
      let hint = hints.isEmpty ? "" : "; \(Self.list(hints))"
      return override.fault(.unmetOverride, "no declaration answers, here or in the children of a factory\(hint)")
    }
  }

  private func nearMisses(of override: BeanOverride, in graph: EnvironmentGraph) -> [String] {
    var hints: [String] = []
    if let seed = graph.declarations.seed?.type, override.isAnswered(by: seed) {
      hints.append("the seed of '\(graph.name)' is a \(seed): build the child from another one")
    }
    for spec in graph.active.specs where spec.isAbstract {
      guard spec.type.map(override.isAnswered) == true || override.id != nil && spec.id == override.id else { continue }
      hints.append(
        "\(spec.written) (\(spec.location.origin)) is abstract, and no bean: override what inherits from it")
    }
    hints += graph.active.inactive.filter { $0.answers(to: override.type) }.map { String($0.hint.dropFirst(2)) }
    for definition in graph.definitions where !(graph.hasSeed && definition.entry == 0) {
      if definition.decorated != nil { continue }
      if override.isAnswered(by: definition.type) {
        hints.append(
          "\(Self.text(definition)) lives in scope '\(definition.lifetime.name)'\(reason(override, definition))")
      } else if isNear(override, definition) {
        hints.append("did you mean \(Self.text(definition))?")
      }
    }
    return hints
  }

  /// Returns the criteria of the override that a bean of the right type does not meet.
  private func reason(_ override: BeanOverride, _ definition: BeanDefinition) -> String {
    var reasons: [String] = []
    if let id = override.id, definition.id != id {
      reasons.append(definition.id.map { "has the id '\($0)'" } ?? "has no id")
    }
    if let qualifier = override.qualifier, !definition.spec.qualifiers.contains(where: { $0 == qualifier }) {
      reasons.append("does not have the qualifier \(qualifier)")
    }
    return reasons.map { " and \($0)" }.joined()
  }

  /// Whether a bean is a near miss: its id or type resembles that of the override.
  private func isNear(_ override: BeanOverride, _ definition: BeanDefinition) -> Bool {
    if let id = override.id, let other = definition.id, id == other || EditDistance.isSmall(id, other) { return true }
    if TypeRelation.isUsable(override.type, as: definition.type) { return true }
    let (wanted, name) = ("\(override.type)", "\(definition.type)")
    return wanted == name || EditDistance.isSmall(wanted, name) || name.hasSuffix(wanted) || wanted.hasSuffix(name)
  }

  private static func text(_ definition: BeanDefinition) -> String {
    "\(definition.label) (\(definition.spec.location.origin))"
  }

  /// Joins at most four texts, so that a message stays readable.
  private static func list(_ all: [String]) -> String {
    all.prefix(4).joined(separator: ", ") + (all.count > 4 ? " and \(all.count - 4) more" : "")
  }
}
