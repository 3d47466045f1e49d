/// The profiles that an environment runs with.
package struct ActiveProfiles {
  /// The names in alphabetical order, each once.
  package let names: [String]
  /// Whether the configuration names no profile, so that the profile "default" is active.
  package let isDefault: Bool

  /// Reads the profiles that the configuration names: the profile "default" if it names none.
  ///
  /// - Throws: `.noConversion` or `.conversionFailed` for a value that is neither text nor a list of texts.
  package init(in configuration: ConfigurationManager) throws {
    func read(_ key: String) throws -> [String]? {
      // Most programs name no profile. A read as a list costs a walk over all conformances of the process.
      guard configuration.hasValue(key: key) || configuration.mayHaveKeys(below: key) else { return nil }
      return try configuration.getValue([String]?.self, key: key)
    }
    let named = try read("beans.profiles") ?? read("BEANS_PROFILES") ?? []
    let distinct = Set(named).subtracting([""])
    isDefault = distinct.isEmpty
    names = isDefault ? ["default"] : distinct.sorted()
  }

  /// Returns the reasons why the condition does not hold; nil if it holds.
  package func refusal(of condition: ProfileCondition) -> String? {
    if !condition.faults.isEmpty { return "its condition on profiles cannot be read" }
    let refusals = condition.expression.refusals(names)
    return refusals.isEmpty ? nil : refusals.joined(separator: ", ")
  }
}
