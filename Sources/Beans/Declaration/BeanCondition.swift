public import BeansConfiguration

/// What has to hold for a declaration to count.
enum BeanCondition: Sendable {
  /// One of the profile expressions holds.
  case profile(ProfileCondition)
  /// What a user's code says of the configuration, and what the user calls that.
  case configuration(String?, @Sendable (ConfigurationManager) throws -> Bool)
  /// No other declaration answers to the type.
  case missing(Any.Type)
}

/// The profiles that an environment runs with.
struct ActiveProfiles {
  /// In alphabetical order, each once.
  let names: [String]
  /// Whether the configuration names none, so that the profile "default" is active.
  let isDefault: Bool

  /// Those that the configuration names: the profile "default" where it names none.
  ///
  /// - Throws: `.noConversion` or `.conversionFailed` for a value that is neither text nor a list of it.
  init(in configuration: ConfigurationManager) throws {
    let named =
      try configuration.getValue([String]?.self, key: "beans.profiles")
      ?? configuration.getValue([String]?.self, key: "BEANS_PROFILES") ?? []
    let distinct = Set(named).subtracting([""])
    isDefault = distinct.isEmpty
    names = isDefault ? ["default"] : distinct.sorted()
  }

  /// The reasons why the condition does not hold; nil where it does.
  func refusal(of condition: ProfileCondition) -> String? {
    if !condition.faults.isEmpty { return "its condition on profiles cannot be read" }
    let refusals = condition.expressions.map { $0.refusals(names) }
    return refusals.contains(where: \.isEmpty) ? nil : refusals.flatMap(\.self).joined(separator: ", ")
  }
}

extension BeanDeclaration {
  /// Activates the declaration only where one of the profile expressions holds.
  ///
  /// An expression is the name of a profile, or combines expressions as Spring does: `"!test"`, `"production & eu"`,
  /// `"production | staging"`. `&` and `|` are only mixed with parentheses: `"production & (eu | us)"`. A name may have any
  /// character but `!`, `&`, `|`, `(`, `)`, a comma, a semicolon and white space. A text that is not an expression is a fault of
  /// startup (`.invalidDeclaration`), and so is a condition without any.
  ///
  /// The configuration names the active profiles, separated by commas, as `beans.profiles` or, for environment variables,
  /// as `BEANS_PROFILES`. Where it names none, the profile "default" is active. Asked for once, when the environment starts,
  /// before any bean is built: configuration sources that are beans are not asked. An active profile that no declaration names
  /// is reported: a warning in the log at startup, and a line of `Environment.report()`.
  ///
  /// All conditions of a declaration have to hold. One that does not count is no bean and has no id; reports name it with
  /// the reason, and so does every fault that it would have prevented.
  @discardableResult public func profile(_ expressions: String...) -> Self {
    add(.profile(ProfileCondition(expressions)))
  }

  /// Activates the declaration only where one of the profile expressions holds.
  @discardableResult package func profiles(_ expressions: [ProfileExpression]) -> Self {
    add(.profile(ProfileCondition(expressions)))
  }

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
