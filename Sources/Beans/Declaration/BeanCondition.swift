public import BeansConfiguration

/// A condition under which a declaration is active.
enum BeanCondition: Sendable {
  /// One of the profile expressions holds.
  case profile(ProfileCondition)
  /// The condition holds if the user's closure returns true for the configuration. The text is the user's description
  /// of it.
  case configuration(String?, @Sendable (ConfigurationManager) throws -> Bool)
  /// No other declaration provides the type.
  case missing(Any.Type)
}

extension BeanDeclaration {
  /// Activates the declaration only where one of the profile expressions holds.
  ///
  /// An expression is the name of a profile, or combines expressions as Spring does: `"!test"`, `"production & eu"`,
  /// `"production | staging"`. Mixing `&` and `|` requires parentheses: `"production & (eu | us)"`. A name may contain
  /// any character but `!`, `&`, `|`, `(`, `)`, a comma, a semicolon and white space. A text that is not an expression
  /// is a fault of startup (`.invalidDeclaration`), and so is a condition without any expression.
  ///
  /// The configuration names the active profiles, separated by commas, as `beans.profiles` or, for environment
  /// variables, as `BEANS_PROFILES`. If it names none, the profile "default" is active. The environment reads the
  /// profiles once, when it starts, before any bean is built: it does not read configuration sources that are beans. A
  /// warning in the log at startup and a line of `Environment.report()` report an active profile that no declaration
  /// names.
  ///
  /// All conditions of a declaration have to hold. An inactive declaration is no bean and has no id. Reports name it
  /// with the reason, and so does every fault that it would have prevented.
  @discardableResult public func profile(_ expressions: String...) -> Self {
    add(.profile(ProfileCondition(expressions)))
  }

  /// Activates the declaration only where one of the profile expressions holds.
  @discardableResult package func profiles(_ expressions: [ProfileExpression]) -> Self {
    add(.profile(ProfileCondition(expressions)))
  }

  /// Activates the declaration only where `condition` returns true for the configuration.
  ///
  /// The condition runs once, on the thread that starts the environment, before any bean is built: the configuration
  /// does not include sources that are beans. An error that `condition` throws is a fault of startup.
  ///
  /// - Parameters:
  ///   - description: the condition in words, for reports and faults: "a cache is configured".
  ///   - condition: returns whether the declaration is active.
  @discardableResult public func when(
    _ description: String? = nil, _ condition: @escaping @Sendable (ConfigurationManager) throws -> Bool
  ) -> Self {
    add(.configuration(description, condition))
  }

  /// Activates the declaration only where no other declaration provides the type, here or further out.
  ///
  /// A declaration provides its own type, that type's superclasses and protocols, and the product that it makes as a
  /// `FactoryBean`. Declarations with this condition are evaluated after all others, in the order of their definition,
  /// so that the first of several replaces the missing one.
  @discardableResult public func whenMissing(_ type: Any.Type) -> Self { add(.missing(type)) }

  private func add(_ condition: BeanCondition) -> Self { change { $0.conditions.append(condition) } }
}
