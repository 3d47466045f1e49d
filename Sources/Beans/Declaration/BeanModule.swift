public import BeansConfiguration
import BeansReflection

/// Declarations that belong together, to be included as one; see `Environment.include`.
///
///     struct Payments: BeanModule {
///       func configure(_ environment: Environment) throws {
///         try environment.include(Accounts())
///         try environment.define(environment.bean(Gateway.self, factory: Gateway.init).private())
///         try environment.define(environment.bean(Checkout.self, factory: Checkout.init))
///       }
///     }
///
/// A module includes those that it needs. Modules of one type are told apart by their content: one that stores anything is
/// `Hashable` or `Equatable`, or is included once. What it declares is public, but for what is `private()`: only declarations of the
/// module see that. Every error that names a place in the module names the module, too.
public protocol BeanModule {
  /// Declares the module's beans in an environment, or for the children of a factory, before that starts.
  ///
  /// - Throws: whatever is wrong: `Environment.include` throws it.
  func configure(_ environment: Environment) throws
}

extension BeanModule {
  /// The module, active only where one of the profile expressions holds; see `BeanDeclaration.profile`.
  public func profile(_ expressions: String...) -> ConditionalModule {
    ConditionalModule(self, .profile(ProfileCondition(expressions)))
  }

  /// The module, active only where one of the profile expressions holds.
  package func profiles(_ expressions: [ProfileExpression]) -> ConditionalModule {
    ConditionalModule(self, .profile(ProfileCondition(expressions)))
  }

  /// The module, to count only where the configuration is as `condition` wants it; see `BeanDeclaration.when`.
  ///
  /// - Parameters:
  ///   - description: what has to hold, as reports and faults say it.
  ///   - condition: whether it holds; called once, on the thread that starts the environment.
  public func when(
    _ description: String? = nil, _ condition: @escaping @Sendable (ConfigurationManager) throws -> Bool
  ) -> ConditionalModule {
    ConditionalModule(self, .configuration(description, condition))
  }

  /// The module, to count only where nothing that others declare answers to the type; see `BeanDeclaration.whenMissing`.
  public func whenMissing(_ type: Any.Type) -> ConditionalModule { ConditionalModule(self, .missing(type)) }
}

/// A module whose declarations count only where conditions hold, all of them.
///
/// Where a module is included several times, it counts where the conditions of one inclusion hold.
public struct ConditionalModule: BeanModule {
  let module: any BeanModule
  let conditions: [BeanCondition]

  init(_ module: any BeanModule, _ condition: BeanCondition) {
    let conditional = module as? ConditionalModule
    self.module = conditional?.module ?? module
    conditions = (conditional?.conditions ?? []) + [condition]
  }

  /// Declares the beans of the module.
  public func configure(_ environment: Environment) throws { try module.configure(environment) }
}

/// The content of a module, which tells it from others of its type.
enum ModuleContent {
  /// All modules of the type are equal: they store nothing.
  case none
  case comparable(any Equatable)
  /// A class that is not `Equatable`: equal to itself.
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
    return sequence(first: type, next: _getSuperclass).allSatisfy { StoredField.declared(by: $0).isEmpty }
  }

  /// Whether the content of another module of the type is equal; nil where the container cannot tell.
  func isEqual(_ other: ModuleContent) -> Bool? {
    func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool { other as? Value == value }
    switch (self, other) {
    case (.none, .none): return true
    case (.comparable(let value), .comparable(let other)): return isEqual(value, other)
    case (.object(let object), .object(let other)): return object === other ? true : nil
    default: return nil
    }
  }
}

/// One module of one environment: all inclusions of equal content.
final class IncludedModule {
  let type: ObjectIdentifier
  let name: String
  let content: ModuleContent
  /// Tells the module from others of its type; shared by equal ones further out and further in. Declarations keep their module,
  /// so that the key is unique as long as their environment lives.
  let identity: Identity?
  /// Each with what has to hold, the module that names this one, and where.
  private(set) var inclusions: [(conditions: [BeanCondition], by: IncludedModule?, location: SourceLocation)] = []

  final class Identity {}

  init(_ type: any BeanModule.Type, _ content: ModuleContent, _ identity: Identity?) {
    self.type = ObjectIdentifier(type)
    name = "\(type)"
    (self.content, self.identity) = (content, identity)
  }

  /// The key that privacy compares.
  var key: ObjectIdentifier { identity.map { ObjectIdentifier($0) } ?? type }

  func add(_ conditions: [BeanCondition], by module: IncludedModule?, at location: SourceLocation) {
    inclusions.append((conditions, module, location))
  }

  /// Modules may include each other: a circle of references.
  func letGo() { inclusions = [] }

  /// How ids are entered: one that is private to a module apart from all others.
  static func name(_ id: String, privateTo module: ObjectIdentifier?) -> String {
    module.map { "\(id)\u{0}\(UInt(bitPattern: $0))" } ?? id
  }

  static func isPrivate(name: String) -> Bool { name.contains("\u{0}") }

  /// The id that has been entered so.
  static func id(named name: String) -> String { String(name.prefix { $0 != "\u{0}" }) }
}

extension BeanSpec {
  /// By what the bean is found where that is an id.
  var name: String? {
    options == nil ? id : id.map { IncludedModule.name($0, privateTo: isPrivate ? module?.key : nil) }
  }
}

extension BeanDeclaration {
  /// Keeps the bean to the declarations of its module: nobody else finds it, by its type or its id.
  ///
  /// The id may be taken outside. What the module's beans look up by hand in an environment does not find it; a parameter
  /// or a `Provider` does. A declaration that belongs to no module cannot be private (`.invalidDeclaration`).
  @discardableResult public func `private`() -> Self { set { $0.change { $0.isPrivate = true } } }
}
