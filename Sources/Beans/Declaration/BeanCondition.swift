public import BeansConfiguration

/// What has to hold for a declaration to count.
enum BeanCondition: Sendable {
  /// One of these profiles is active; one that begins with an exclamation mark, where the profile is not.
  case profile([String])
  /// What a user's code says of the configuration, and what the user calls that.
  case configuration(String?, @Sendable (ConfigurationManager) throws -> Bool)
  /// No other declaration answers to the type.
  case missing(Any.Type)
}

/// The profiles that an environment runs with.
struct ActiveProfiles {
  /// In alphabetical order, each once.
  let names: [String]

  /// Those that the configuration names: the profile "default" where it names none.
  ///
  /// - Throws: `.noConversion` or `.conversionFailed` for a value that is neither text nor a list of it.
  init(in configuration: ConfigurationManager) throws {
    let named =
      try configuration.getValue([String]?.self, key: "beans.profiles")
      ?? configuration.getValue([String]?.self, key: "BEANS_PROFILES") ?? []
    let distinct = Set(named).subtracting([""])
    names = distinct.isEmpty ? ["default"] : distinct.sorted()
  }

  /// Why none of the profiles counts; nil where one does.
  func refusal(of profiles: [String]) -> String? {
    if profiles.contains(where: holds) { return nil }
    let reasons = profiles.map { profile in
      profile.hasPrefix("!") ? "profile '\(profile.dropFirst())' is active" : "profile '\(profile)' is not active"
    }
    return reasons.joined(separator: ", ")
  }

  private func holds(_ profile: String) -> Bool {
    profile.hasPrefix("!") ? !names.contains(String(profile.dropFirst())) : names.contains(profile)
  }
}

extension BeanDeclaration {
  /// Lets the declaration count only where one of the profiles is active; "!test" holds where "test" is not.
  ///
  /// The configuration names the active profiles, separated by commas, as `beans.profiles` or, for environment variables,
  /// as `BEANS_PROFILES`. Where it names none, the profile "default" is active. Asked for once, when the environment starts,
  /// before any bean is built: configuration sources that are beans are not asked.
  ///
  /// All conditions of a declaration have to hold. One that does not count is no bean and has no id; reports name it with
  /// the reason, and so does every fault that it would have prevented.
  @discardableResult public func profile(_ names: String...) -> Self { profiles(names) }

  /// Lets the declaration count only where one of the profiles is active.
  @discardableResult package func profiles(_ names: [String]) -> Self { add(.profile(names)) }

  /// Lets the declaration count only where the configuration is as `condition` wants it.
  ///
  /// Asked for once, on the thread that starts the environment, before any bean is built: configuration sources that are
  /// beans are not asked. What `condition` throws is a fault of startup.
  ///
  /// - Parameters:
  ///   - description: what has to hold, as reports and faults say it: "a cache is configured".
  ///   - condition: whether it holds.
  @discardableResult public func when(
    _ description: String? = nil, _ condition: @escaping @Sendable (ConfigurationManager) throws -> Bool
  ) -> Self {
    add(.configuration(description, condition))
  }

  /// Lets the declaration count only where no other one answers to the type, here or further out.
  ///
  /// A declaration answers to its own type, to that type's superclasses and protocols, and to what it makes as a
  /// `FactoryBean`. Declarations with this condition are looked at after all others, in the order of their definition, so
  /// that the first of several stands in for what is missing.
  @discardableResult public func whenMissing(_ type: Any.Type) -> Self { add(.missing(type)) }

  private func add(_ condition: BeanCondition) -> Self {
    hasConditions = true
    return set { $0.change { $0.conditions.append(condition) } }
  }
}
