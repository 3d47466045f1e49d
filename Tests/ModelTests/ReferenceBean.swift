/// A declaration with its templates merged, or one of the several beans that a declaration leads to.
final class ReferenceBean {
  /// The role of the bean among those of its declaration.
  enum Part {
    case only
    /// The product of a factory bean.
    case product(of: ReferenceBean)
    /// A decorator of a bean, around that bean or around another decorator of it.
    case decorator(of: ReferenceBean, around: ReferenceBean)
  }

  let part: Part
  let declaration: Declaration
  let level: Int
  let kind: Kind
  let isLazy: Bool
  let scope: String?
  let parameters: [Parameter]
  /// The declaration whose factory builds it.
  let factory: Declaration
  let requirements: [Requirement]
  /// The dependencies that must exist before it is built.
  let needs: [Need]
  /// A number that is unique among all beans.
  let number: Int
  let isPrototype: Bool
  /// Whether a registered scope of an environment keeps it.
  let isOfOwnScope: Bool
  /// Whether its declaration is faulty: beans that take it are not judged for that.
  let isAtFault: Bool
  /// Whether its scope is unknown.
  let isOfUnknownScope: Bool
  /// The declaration whose callbacks it has.
  let callbacks: Int?

  enum Need {
    case bean(ReferenceBean)
    case parameter(Parameter)
    case requirement(Requirement)

    /// Whether the bean may be built after the one that takes it.
    var isDeferred: Bool { if case .parameter(let parameter) = self { parameter.isDeferred } else { false } }
  }

  /// Merges a declaration with its templates, nearest first; nil if they bring no class.
  ///
  /// - Parameters:
  /// - chain: the declaration, then its templates.
  /// - level: the level that declares it.
  /// - hasOwnScope: whether a registered scope is visible from there.
  /// - isBroken: whether the chain does not end, so that unset properties are unknown.
  /// - isAtFault: whether there is another fault.
  /// - lacksFactory: whether its factory is another class's.
  /// - isUnknown: whether its scope is unknown.
  init?(
    _ chain: [Declaration], _ level: Int, hasOwnScope: Bool, isBroken: Bool = false, isAtFault: Bool = false,
    lacksFactory: Bool = false, isUnknown: Bool = false
  ) {
    guard let kind = chain.lazy.compactMap(\.kind).first else { return nil }
    let maker = lacksFactory ? nil : chain.first { $0.parameters != nil }
    let isAtFault = isAtFault || isBroken || maker == nil
    let factory = maker ?? chain[0]
    self.isAtFault = isAtFault
    part = .only
    declaration = chain[0]
    callbacks = chain.first { $0.hasCallbacks && $0.kind != nil }?.number
    self.level = level
    self.kind = kind
    isLazy = chain.contains(where: \.isLazy)
    scope = chain.lazy.compactMap(\.scope).first ?? (isBroken ? "prototype" : nil)
    parameters = isAtFault && maker == nil ? [] : factory.parameters ?? []
    self.factory = factory
    requirements = chain.flatMap(\.requirements)
    needs = requirements.map { .requirement($0) } + parameters.map { .parameter($0) }
    number = declaration.number
    isPrototype = scope == "prototype"
    isOfOwnScope = hasOwnScope && scope == Level.ownScope
    isOfUnknownScope = isUnknown
  }

  /// The product of a factory bean.
  init(productOf maker: ReferenceBean, _ declaration: Declaration) {
    part = .product(of: maker)
    self.declaration = declaration
    level = maker.level
    kind = declaration.kind!
    isLazy = declaration.isLazy
    scope = declaration.scope
    parameters = []
    factory = declaration
    requirements = []
    needs = [.bean(maker)]
    number = Self.product(of: declaration.number)
    isPrototype = scope == "prototype"
    isOfOwnScope = maker.isOfOwnScope
    isAtFault = maker.isAtFault
    isOfUnknownScope = maker.isOfUnknownScope
    callbacks = nil
  }

  /// A decorator.
  ///
  /// - Parameters:
  /// - bean: the bean that is decorated.
  /// - inner: that bean, or another decorator of it.
  /// - declaration: that of the decorator.
  /// - level: the level that declares it.
  /// - scope: that of the decorator.
  /// - number: a number that is unique among all beans.
  init(
    of bean: ReferenceBean, around inner: ReferenceBean, _ declaration: Declaration, _ level: Int, scope: String?,
    number: Int
  ) {
    part = .decorator(of: bean, around: inner)
    self.declaration = declaration
    self.level = level
    kind = declaration.kind!
    isLazy = declaration.isLazy || bean.isLazy
    self.scope = scope
    parameters = declaration.parameters ?? []
    factory = declaration
    requirements = declaration.requirements
    needs = requirements.map { .requirement($0) } + [.bean(inner)] + parameters.map { .parameter($0) }
    self.number = number
    isPrototype = scope == "prototype"
    isOfOwnScope = scope == Level.ownScope
    isAtFault = false
    isOfUnknownScope = false
    callbacks = declaration.hasCallbacks ? declaration.number : nil
  }

  /// The number of the product of the factory bean that a declaration of a number declares.
  static func product(of declaration: Int) -> Int { declaration + 1_000 }

  /// The number of the bean in scenarios. Decorators of one declaration share it.
  var name: Int { if case .decorator = part { declaration.number } else { number } }

  /// The line of its origin.
  var line: Int { declaration.number }

  var isProduct: Bool { if case .product = part { true } else { false } }
}
