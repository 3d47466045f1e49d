/// Settles the values that declarations give, in the plan of one environment and of all factories below it.
///
/// Apart from the compiler, because conversions and configuration sources are users' code, which must not run under the
/// plan's lock. Texts come later than the rest where configuration sources are beans: those have to be built first.
struct ValueSettler {
  private let plan: Plan
  /// What has values, each with the configuration of the environment that declares it.
  private let definitions: [(definition: Definition, configuration: ConfigurationManager)]
  /// Beans of this environment that bring configuration.
  let sources: [Recipe]

  init(_ plan: Plan) {
    self.plan = plan
    var found: [(definition: Definition, configuration: ConfigurationManager)] = []
    for plan in [plan] + plan.descendants {
      for definition in plan.valued {
        if !definition.fixedValues.isEmpty { found.append((definition, plan.configuration)) }
        guard let product = definition.product, !product.fixedValues.isEmpty else { continue }
        found.append((product, plan.configuration))
      }
    }
    definitions = found
    sources = plan.special.sources.compactMap { plan.recipe(of: $0) }
  }

  /// Settles what can be settled before anything is built, and throws all faults, those of the graph included.
  func settleEarly(_ graphFaults: [EnvironmentError]) throws {
    let all = graphFaults + settle(definitions, texts: sources.isEmpty ? .all : .check)
    if let fault = combine(all) { throw fault }
  }

  /// Settles the texts that a configuration source depends on.
  func settleTexts(neededBy source: Recipe) throws {
    var seen: Set<ObjectIdentifier> = []
    var rest = [source]
    while let next = rest.popLast() {
      guard next.plan === plan, seen.insert(ObjectIdentifier(next.definition)).inserted else { continue }
      rest += next.dependencies
    }
    let needed = definitions.filter { seen.contains(ObjectIdentifier($0.definition)) }
    if let fault = combine(settle(needed, texts: .all)) { throw fault }
  }

  /// Settles all texts, once every source has been added.
  func settleTexts() throws {
    if sources.isEmpty { return }
    if let fault = combine(settle(definitions, texts: .all)) { throw fault }
  }

  private enum Texts { case all, check }

  private func settle(
    _ definitions: [(definition: Definition, configuration: ConfigurationManager)], texts: Texts
  ) -> [EnvironmentError] {
    var faults: [EnvironmentError] = []
    for (definition, configuration) in definitions {
      for value in definition.fixedValues {
        do {
          if value.isText && texts == .check {
            try value.checkText()
          } else {
            // Each hint costs a walk over all keys: the first ones help, a thousand of them only take time.
            try value.settle(in: configuration, hints: faults.count < 20)
          }
        } catch {
          faults.append(
            EnvironmentError(
              error.code, error.message, path: [definition.label], origin: definition.origin,
              underlying: error.underlying))
        }
      }
    }
    return faults
  }

  private func combine(_ faults: [EnvironmentError]) -> (any Error)? {
    EnvironmentError.combining(faults, code: .startupFailed) { "\($0) faults in environment '\(plan.name)'" }
  }
}
