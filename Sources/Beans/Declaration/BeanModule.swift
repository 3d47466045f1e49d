public import BeansConfiguration
import BeansReflection

/// A group of declarations that are included as one; see `Environment.include`.
///
///     struct Payments: BeanModule {
///       func configure(_ environment: Environment) throws {
///         try environment.include(Accounts())
///         try environment.define(environment.bean(Gateway.self, factory: Gateway.init).private())
///         try environment.define(environment.bean(Checkout.self, factory: Checkout.init))
///       }
///     }
///
/// A module includes the modules that it needs. Modules of one type are distinguished by their content: a module that
/// stores anything is `Hashable` or `Equatable`, or is included once. The module's beans are public, except those that
/// are `private()`: only declarations of the module find these. Every error that names a place in the module also names
/// the module.
public protocol BeanModule {
  /// Declares the module's beans in an environment, or for the children of a factory, before the environment or factory
  /// starts.
  ///
  /// - Throws: any error; `Environment.include` rethrows it.
  func configure(_ environment: Environment) throws
}

extension BeanModule {
  /// Returns the module, active only where one of the profile expressions holds; see `BeanDeclaration.profile`.
  public func profile(_ expressions: String...) -> some BeanModule {
    ConditionalModule(self, .profile(ProfileCondition(expressions)))
  }

  /// Returns the module, active only where one of the profile expressions holds.
  package func profiles(_ expressions: [ProfileExpression]) -> some BeanModule {
    ConditionalModule(self, .profile(ProfileCondition(expressions)))
  }

  /// Returns the module, active only where `condition` returns true for the configuration; see `BeanDeclaration.when`.
  ///
  /// - Parameters:
  ///   - description: the condition in words, for reports and faults.
  ///   - condition: returns whether the module is active; called once, on the thread that starts the environment.
  public func when(
    _ description: String? = nil, _ condition: @escaping @Sendable (ConfigurationManager) throws -> Bool
  ) -> some BeanModule {
    ConditionalModule(self, .configuration(description, condition))
  }

  /// Returns the module, active only where no declaration outside it provides the type; see
  /// `BeanDeclaration.whenMissing`.
  public func whenMissing(_ type: Any.Type) -> some BeanModule { ConditionalModule(self, .missing(type)) }
}

/// A module whose declarations are active only where all of its conditions hold.
///
/// A module that is included several times is active where the conditions of one inclusion hold.
struct ConditionalModule: BeanModule {
  let module: any BeanModule
  let conditions: [BeanCondition]

  init(_ module: any BeanModule, _ condition: BeanCondition) {
    let conditional = module as? ConditionalModule
    self.module = conditional?.module ?? module
    conditions = (conditional?.conditions ?? []) + [condition]
  }

  func configure(_ environment: Environment) throws { try module.configure(environment) }
}

/// The content of a module, which distinguishes it from others of its type.
enum ModuleContent {
  /// A module that stores nothing, and so is equal to all modules of its type.
  case none
  case comparable(any Equatable)
  /// An instance of a class that is not `Equatable`, equal only to itself.
  case object(AnyObject)
  case incomparable

  init(_ module: any BeanModule) {
    self =
      if Self.isEmpty(module) {
        .none
      } else if let value = module as? any Equatable {
        .comparable(value)
      } else if type(of: module) is AnyClass {
        .object(module as AnyObject)
      } else {
        .incomparable
      }
  }

  private static func isEmpty<Module: BeanModule>(_ module: Module) -> Bool {
    guard let type = type(of: module) as? AnyClass else { return MemoryLayout<Module>.size == 0 }
    return ClassHierarchy.classes(of: type).allSatisfy { StoredField.declared(by: $0).isEmpty }
  }

  /// Whether the content of another module of the type is equal; nil where the container cannot decide.
  func isEqual(_ other: ModuleContent) -> Bool? {
    func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool { other as? Value == value }
    switch (self, other) {
    case (.none, .none): return true
    case (.comparable(let value), .comparable(let other)): return isEqual(value, other)
    case (.object(let object), .object(let other)): return if object === other { true } else { nil }
    default: return nil
    }
  }
}

/// One module of one environment, with all inclusions of equal content.
final class IncludedModule {
  let type: ObjectIdentifier
  let name: String
  let content: ModuleContent
  /// The identity of the module among others of its type, shared by equal modules further out and further in.
  /// Declarations retain their module, so that the key is unique as long as their environment exists.
  let identity: Identity?
  /// All inclusions, each with its conditions, the including module and the place. Modules may include each other, which
  /// is a reference cycle until the declarations remove the inclusions.
  var inclusions: [(conditions: [BeanCondition], by: IncludedModule?, location: SourceLocation)] = []

  final class Identity {}

  init(_ type: any BeanModule.Type, _ content: ModuleContent, _ identity: Identity?) {
    self.type = ObjectIdentifier(type)
    name = "\(type)"
    (self.content, self.identity) = (content, identity)
  }

  /// The key that privacy compares.
  var key: ObjectIdentifier { identity.map { ObjectIdentifier($0) } ?? type }
}

extension BeanDeclaration {
  /// Restricts the bean to the declarations of its module: no other declaration finds it, by its type or its id.
  ///
  /// Declarations outside may use the same id. A lookup by hand in an environment does not find the bean, even from a
  /// bean of the module; a parameter or a `Provider` does. A declaration that belongs to no module cannot be private
  /// (`.invalidDeclaration`).
  @discardableResult public func `private`() -> Self { change { $0.isPrivate = true } }
}
