import BeansReflection
import BeansErrors
import BeansSupport

/// The overrides of one startup, and which of them have met a declaration.
final class BeanOverrides {
  private let all: [BeanOverride]
  /// Whether each of them has to meet a declaration.
  private let isStrict: Bool
  private var met: Set<Int> = []
  /// What stands at an entry of the environment that was read last, and why.
  private var placed: [(override: BeanOverride, entry: Int32)] = []

  init(_ all: [BeanOverride], isStrict: Bool) { (self.all, self.isStrict) = (all, isStrict) }

  /// Puts what overrides say in the place of definitions of one environment, or of the children of one factory.
  ///
  /// - Parameters:
  ///   - definitions: by entry; decorators are none of them yet.
  ///   - hasSeed: whether the first one is a seed.
  /// - Returns: the new definitions that need what they take, and what is wrong with the overrides.
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
      // Whoever asks for the factory itself still gets it.
      old.maker?.spec.isLazy = true
      if case .bean = override.replacement { added.append(new) }
    }
    return (added, faults)
  }

  /// The definitions that a lookup would find, nearest to what is meant.
  private func candidates(
    for override: BeanOverride, among definitions: [BeanDefinition], _ hasSeed: Bool
  ) -> [BeanDefinition] {
    let found = definitions.filter { definition in
      if hasSeed && definition.entry == 0 || !override.isAnswered(by: definition.type) { return false }
      if let id = override.id, definition.id != id { return false }
      if let scope = override.scope, definition.lifetime.name != scope { return false }
      return override.qualifier.map { qualifier in definition.spec.qualifiers.contains { $0 == qualifier } } ?? true
    }
    // What one module alone finds comes second.
    let visible = found.filter { !$0.spec.isPrivate }
    let known = visible.isEmpty ? found : visible
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

  /// What stands in the place of a definition: of its id, scope, qualifiers and module, as lazy and as primary as that was.
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
    // Startup builds no bean that is forbidden.
    if case .refusal = override.replacement { spec.isLazy = true }
    return BeanDefinition(
      spec, type: type, lifetime: old.lifetime, factory: factory, entry: old.entry, home: old.home)
  }

  /// What lookups in an environment do not find although an override has put it there.
  func faults(in directory: BeanDirectory) -> [EnvironmentError] {
    placed.compactMap { override, entry in
      let bean = directory.entries[Int(entry)]
      // An id is found in any case.
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

  // MARK: what has met nothing

  /// Overrides that have met no declaration, with what may have been meant.
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

  /// Which of the criteria a bean of the type does not meet.
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

  /// Whether a bean may be what an override means that does not say so.
  private func isNear(_ override: BeanOverride, _ definition: BeanDefinition) -> Bool {
    if let id = override.id, let other = definition.id, id == other || EditDistance.isSmall(id, other) { return true }
    if TypeRelation.isUsable(override.type, as: definition.type) { return true }
    let (wanted, name) = ("\(override.type)", "\(definition.type)")
    return wanted == name || EditDistance.isSmall(wanted, name) || name.hasSuffix(wanted) || wanted.hasSuffix(name)
  }

  private static func text(_ definition: BeanDefinition) -> String {
    "\(definition.label) (\(definition.spec.location.origin))"
  }

  /// At most so many that a line can be read.
  private static func list(_ all: [String]) -> String {
    all.prefix(4).joined(separator: ", ") + (all.count > 4 ? " and \(all.count - 4) more" : "")
  }
}
