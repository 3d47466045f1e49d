/// A declaration with its templates merged.
final class ReferenceBean {
  let declaration: Declaration
  let level: Int
  let kind: Kind
  let isLazy: Bool
  let scope: String?
  let parameters: [Parameter]
  /// Whose factory it is built by.
  let factory: Declaration
  let requirements: [Requirement]
  /// What has to stand before it is built.
  let needs: [Need]
  let number: Int
  let isPrototype: Bool
  /// Whether a scope keeps it that an environment has registered.
  let isOfOwnScope: Bool
  /// Whether its declaration is at fault: whoever takes it is not judged for that.
  let isAtFault: Bool
  /// Whether no scope is called as its own.
  let isOfUnknownScope: Bool

  enum Need {
    case parameter(Parameter)
    case requirement(Requirement)
  }

  /// Merges a declaration with its templates, nearest first; nil where they bring no class.
  ///
  /// - Parameters:
  ///   - chain: the declaration, then its templates.
  ///   - level: the level that declares it.
  ///   - hasOwnScope: whether a registered scope is seen from there.
  ///   - isBroken: whether the chain does not end, so that nothing is known of what is not said.
  ///   - isAtFault: whether something else is wrong.
  ///   - lacksFactory: whether its factory is another class's.
  ///   - isUnknown: whether its scope is none.
  init?(
    _ chain: [Declaration], _ level: Int, hasOwnScope: Bool, isBroken: Bool = false, isAtFault: Bool = false,
    lacksFactory: Bool = false, isUnknown: Bool = false
  ) {
    guard let kind = chain.lazy.compactMap(\.kind).first else { return nil }
    let maker = lacksFactory ? nil : chain.first { $0.parameters != nil }
    let isAtFault = isAtFault || isBroken || maker == nil
    let factory = maker ?? chain[0]
    self.isAtFault = isAtFault
    declaration = chain[0]
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
}
