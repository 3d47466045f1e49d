import Beans

/// The hook of one test into its environment: the overrides, and the journal of releases. Any thread may call it.
final class TestHook: EnvironmentHook {
  private let overrides: [BeanOverride]
  private let journal: TestJournal

  init(_ overrides: [BeanOverride], _ journal: TestJournal) { (self.overrides, self.journal) = (overrides, journal) }

  // MARK: overrides

  func replacements(
    for beans: [BeanDefinition]
  ) -> (made: [BeanReplacement], matched: Set<Int>, faults: [EnvironmentError]) {
    var (made, matched, faults): ([BeanReplacement], Set<Int>, [EnvironmentError]) = ([], [], [])
    /// The overrides of the beans that have one, by number.
    var takers: [Int32: BeanOverride] = [:]
    for (number, override) in overrides.enumerated() {
      let found = override.candidates(among: beans)
      guard let bean = found.first else { continue }
      matched.insert(number)
      if let fault = fault(of: override, meeting: found, taken: takers[bean.number]) {
        faults.append(fault)
        continue
      }
      takers[bean.number] = override
      // A lookup by id always finds the bean.
      let isNamed = override.id != nil || override.scope != nil
      made.append(
        BeanReplacement(
          number, of: bean, by: override.factory, lookup: isNamed ? nil : (override.type, override.qualifier)))
    }
    return (made, matched, faults)
  }

  /// Returns the reason why an override cannot replace the beans that match it.
  private func fault(
    of override: BeanOverride, meeting found: [BeanDefinition], taken taker: BeanOverride?
  ) -> EnvironmentError? {
    if found.count > 1 {
      return override.fault(
        .ambiguousOverride,
        "\(found.count) declarations match: \(list(found.map(\.text))); select one by id, qualifier or scope")
    }
    let bean = found[0]
    if bean.isFactory {
      return override.fault(
        .impossibleOverride, "\(bean.text) is a FactoryBean: override or forbid its product")
    }
    if let taker {
      return override.fault(
        .impossibleOverride, "\(bean.text) has been taken by '\(taker.label)' at \(taker.origin): keep one of them")
    }
    if let type = override.factory.type, !override.isAnswered(by: type) {
      return override.fault(.typeMismatch, "a \(type) cannot be used as a \(override.type)")
    }
    return nil
  }

  func fault(
    of override: Int, making bean: String, losingTo rivals: [String], in environment: String
  ) -> EnvironmentError {
    let override = overrides[override]
    return override.fault(
      .ambiguousOverride,
      "a \(bean) cannot win in '\(environment)': \(list(rivals)) match equally well; the override has to make a "
        + "\(override.type)")
  }

  func faults(besides matched: Set<Int>, in levels: [DeclarationLevel]) -> [EnvironmentError] {
    overrides.enumerated().filter { !matched.contains($0.offset) }.map { _, override in
      let hints = levels.flatMap { override.nearMisses(in: $0) }
      let hint = hints.isEmpty ? "" : "; \(list(hints))"
      return override.fault(.unmetOverride, "no declaration matches, here or in the children of a factory\(hint)")
    }
  }

  /// Joins at most four texts, so that a message stays readable.
  private func list(_ all: [String]) -> String {
    all.prefix(4).joined(separator: ", ") + (all.count > 4 ? " and \(all.count - 4) more" : "")
  }

  // MARK: releases

  func released(_ object: AnyObject, _ bean: BeanDefinition, in environment: String) {
    journal.note(
      released: ReleasedObject(
        object: object, bean: bean.label, type: bean.type, origin: bean.origin, environment: environment))
  }

  func failed(_ failure: EnvironmentError) { journal.note(failed: failure) }
}
