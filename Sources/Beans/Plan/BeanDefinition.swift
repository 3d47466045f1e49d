import BeansErrors
import BeansReflection

/// One bean: what its declaration says with its templates merged, and what startup has found out about its type.
///
/// Made once, when the declarations of its environment are read. The directory keeps it, environments further in place
/// it again, and faults, reports and hints read it. It outlives its environment's end, and the user's code does not:
/// only compilations and builds read `spec` and `factory`.
package final class BeanDefinition: @unchecked Sendable {  // immutable; `spec` is read by the thread that compiles
  package let type: Any.Type
  package let id: String?
  let lifetime: Lifetime
  let traits: BeanTraits
  /// The number of the bean in its directory; for the product of an assisted factory, the number of the factory.
  package let number: Int32
  package let isPrimary: Bool
  let isLazy: Bool
  /// Whether this is a seed, which only its own type finds, and which is not a bean.
  package let isSeed: Bool
  let location: SourceLocation
  /// The declaration, which the declarations of the bean's environment retain until its end.
  let spec: Unretained<FrozenSpec>
  /// The factory, which the declarations of the bean's environment retain until its end.
  let factory: Unretained<FactoryFunction>
  private let details: ValueBox<Details>?

  /// The facts that few beans have.
  private struct Details {
    let maker: BeanDefinition?
    let product: BeanDefinition?
    let decorated: BeanDirectory.Decorated?
    let module: ObjectIdentifier?
    let isPrivate: Bool
    let qualifiers: [ObjectIdentifier]
    let sharing: String?
  }

  /// - Parameters:
  ///   - spec: the declaration, with its templates merged.
  ///   - type: the bean's type.
  ///   - lifetime: the bean's lifetime.
  ///   - traits: the traits of the type, if they are known.
  ///   - factory: the factory.
  ///   - number: the number of the bean in its directory.
  ///   - isSeed: whether this is a seed.
  ///   - maker: the factory bean that makes the bean.
  ///   - decorated: the bean that a decorator wraps.
  ///   - product: the product that the bean, an assisted factory, makes.
  init(
    _ spec: FrozenSpec, type: Any.Type, lifetime: Lifetime, traits: BeanTraits? = nil, factory: FactoryFunction,
    number: Int32, isSeed: Bool = false, maker: BeanDefinition? = nil, decorated: BeanDirectory.Decorated? = nil,
    product: BeanDefinition? = nil
  ) {
    self.type = type
    id = spec.id
    self.lifetime = lifetime
    var known = traits ?? .of(type)
    if factory.isAsynchronous { known.insert(.awaited) }
    if spec.isSendable { known.insert(.sendable) }
    self.traits = known
    self.number = number
    isPrimary = spec.isPrimary
    isLazy = spec.isLazy ?? false
    self.isSeed = isSeed
    location = spec.location
    self.spec = Unretained(spec)
    self.factory = Unretained(factory)
    if spec.options == nil, maker == nil, decorated == nil, product == nil {
      details = nil
    } else {
      details = ValueBox(
        Details(
          maker: maker, product: product, decorated: decorated, module: spec.module?.key, isPrivate: spec.isPrivate,
          qualifiers: spec.qualifiers.map { ObjectIdentifier($0) }, sharing: spec.options?.value.sharing))
    }
  }

  /// The factory bean that makes this one.
  var maker: BeanDefinition? { details?.value.maker }
  /// The product that an assisted factory makes. No lookup finds it.
  var product: BeanDefinition? { details?.value.product }
  /// The decorated bean: the decorator's first argument. Lookups find a decorator only through its decorated bean.
  var decorated: BeanDirectory.Decorated? { details?.value.decorated }
  package var isDecorator: Bool { details?.value.decorated != nil }
  /// The module that declares the bean.
  var module: ObjectIdentifier? { details?.value.module }
  /// The only module whose declarations find the bean.
  var privateTo: ObjectIdentifier? { details.flatMap { if $0.value.isPrivate { $0.value.module } else { nil } } }
  /// Types that distinguish the bean from others of its type.
  package var qualifiers: [ObjectIdentifier] { details?.value.qualifiers ?? [] }
  /// The reason why several threads may share the bean although its type is not known to be `Sendable`.
  var sharing: String? { details?.value.sharing }

  /// The bean's own id, with the module that it is private to; nil for a bean without an id.
  var beanId: BeanId? { id.map { BeanId($0, privateTo: privateTo) } }

  var isClass: Bool { traits.contains(.object) }

  /// Whether the declarations of a module find the bean; without a module, declarations outside all modules.
  func isVisible(from module: ObjectIdentifier?) -> Bool {
    details == nil || privateTo == nil || privateTo == module
  }

  func meets(_ criteria: BeanDirectory.Criteria) -> Bool {
    isVisible(from: criteria.module) && criteria.qualifier.map { qualifiers.contains($0) } ?? true
  }

  /// Whether a lookup by a superclass or a protocol finds the bean.
  package var isCandidate: Bool { !isSeed && !isDecorator }

  func isLike(_ other: BeanDefinition) -> Bool { type == other.type && isSeed == other.isSeed && !isDecorator }

  // MARK: faults and reports

  /// The name of the bean in paths.
  @inline(never)
  package var label: String {
    decorated.map { "decorator of \($0.bean?.label ?? "\(type)")" } ?? Self.label(type, id)
  }

  static func label(_ type: Any.Type, _ id: String?) -> String { id.map { "\(type) '\($0)'" } ?? "\(type)" }

  /// The bean as a step on the path of a fault.
  @inline(never)
  var step: EnvironmentError.Step { EnvironmentError.Step(label, origin: location.origin) }

  /// Returns a fault located at `origin`, or at the bean's declaration if `origin` is nil.
  @inline(never)
  func fault(
    _ cause: FaultCause, _ message: String, steps: [EnvironmentError.Step] = [],
    at origin: EnvironmentError.Origin? = nil
  ) -> EnvironmentError {
    EnvironmentError(cause: cause, message, steps: steps.isEmpty ? [step] : steps, origin: origin ?? location.origin)
  }

  /// The line of a report about the bean.
  var text: String {
    Self.text(type, id, maker?.type, isLazy: isLazy, isPrimary: isPrimary, scopeName: lifetime.name)
      + (sharing.map { " \($0)" } ?? "")
  }

  /// Returns the line of a report about a declaration.
  ///
  /// - Parameters:
  ///   - type: the bean's type; nil for a template without a class.
  ///   - id: the bean's own id, not an alias.
  ///   - maker: the type of the factory bean that makes the bean.
  ///   - isLazy: whether the bean is built at its first lookup.
  ///   - isAbstract: whether the declaration is a template.
  ///   - isPrimary: whether the bean is preferred to others of its type.
  ///   - scopeName: the name of the bean's scope.
  static func text(
    _ type: Any.Type?, _ id: String?, _ maker: Any.Type? = nil, isLazy: Bool, isAbstract: Bool = false,
    isPrimary: Bool, scopeName: String
  ) -> String {
    var words = [type.map { "\($0)" } ?? "template"]
    if let id { words.append("\"\(id)\"") }
    if let maker { words.append("factory: \(maker)") }
    if isLazy { words.append("lazy: true") }
    if isAbstract { words.append("abstract: true") }
    if isPrimary { words.append("primary: true") }
    if scopeName != "singleton" { words.append("scope: \(scopeName)") }
    return words.joined(separator: " ")
  }
}
