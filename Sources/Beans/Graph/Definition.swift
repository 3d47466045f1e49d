/// One bean of one environment: its declaration with all templates applied.
final class Definition: @unchecked Sendable {  // immutable after startup
  let type: Any.Type
  /// Of the declared type; none of a seed.
  let traits: LifecycleTraits
  let id: String?
  /// Position in the order of definition.
  let ordinal: Int
  let origin: EnvironmentError.Origin
  let scopeName: String
  let isLazy: Bool
  let isPrimary: Bool
  /// A seed answers to exactly its own type and is nobody's bean.
  let isSeed: Bool
  /// Whether the user handed the object in.
  let isInstance: Bool
  /// The factory bean that makes this one.
  let maker: Definition?
  /// nil: the fault was reported when the definition was made.
  private(set) var constructor: BeanConstructor?
  private(set) var pinned: [Int: BeanValue]
  private(set) var properties: [PropertyInjection]
  /// What the class itself has injections for, as far as the declaration is silent.
  private(set) var injections: [ClassInjection] = []
  let requirements: [BeanDeclaration.Requirement]
  private(set) var postConstructs: [BeanCallback]
  private(set) var onDestroys: [BeanCallback]
  let stated: [Any.Type]
  /// What the declaration gives and startup has to settle, in the order found.
  private(set) var fixedValues: [FixedValue] = []
  private var fixedValuesByPlace: [String: FixedValue] = [:]
  /// What scopes are handed. nil for a seed.
  private(set) var declaration: BeanDeclaration?

  init(
    _ declaration: BeanDeclaration, type: Any.Type, constructor: BeanConstructor?, ordinal: Int, scopeName: String,
    templates: [BeanDeclaration]
  ) {
    let chain = [declaration] + templates
    self.declaration = declaration
    self.type = type
    self.traits = .cached(of: type)
    self.id = declaration.id
    self.ordinal = ordinal
    self.origin = declaration.origin
    self.scopeName = scopeName
    self.isLazy = chain.lazy.compactMap(\.isLazy).first ?? false
    self.isPrimary = declaration.isPrimary
    self.isSeed = false
    self.isInstance = chain.contains { $0.instance != nil }
    self.maker = nil
    self.constructor = constructor
    self.pinned = chain.reduce(into: [:]) { $0.merge($1.pinned) { nearer, _ in nearer } }
    self.properties = chain.reversed().reduce(into: []) { merged, declaration in
      for property in declaration.properties { merged.set(property) }
    }
    self.requirements = chain.reversed().flatMap(\.requirements)
    self.postConstructs = chain.first { !$0.postConstructs.isEmpty }?.postConstructs ?? []
    self.onDestroys = chain.first { !$0.onDestroys.isEmpty }?.onDestroys ?? []
    self.stated = declaration.stated
    declaration.label = label
    declaration.callbacks = onDestroys
  }

  /// What a factory bean makes: everything the declaration says of callbacks and properties is the factory's.
  init(_ product: FactoryProduct, of declaration: BeanDeclaration, madeBy maker: Definition, scopeName: String) {
    self.declaration = declaration
    self.type = product.target
    self.traits = .cached(of: product.target)
    self.id = declaration.id
    self.ordinal = maker.ordinal
    self.origin = declaration.origin
    self.scopeName = scopeName
    self.isLazy = maker.isLazy
    self.isPrimary = declaration.isPrimary
    self.isSeed = false
    self.isInstance = false
    self.maker = maker
    self.constructor = product.constructor
    self.pinned = maker.declaration.map { [0: .bean($0)] } ?? [:]
    self.properties = []
    self.requirements = []
    self.postConstructs = []
    self.onDestroys = []
    self.stated = []
    declaration.label = label
    declaration.callbacks = []
  }

  /// The seed of a factory's children.
  init(seed type: Any.Type, scopeName: String, identity: ObjectIdentifier, origin: EnvironmentError.Origin) {
    self.type = type
    self.traits = []
    self.id = nil
    self.ordinal = -1
    self.origin = origin
    self.scopeName = scopeName
    self.isLazy = true
    self.isPrimary = false
    self.isSeed = true
    self.isInstance = false
    self.maker = nil
    // Never called: the slot is filled when the environment opens.
    self.constructor = BeanConstructor(dependencies: [], identity: identity) { _ in
      throw EnvironmentError(.scopeNotActive, "the seed of '\(scopeName)' is missing")
    }
    self.pinned = [:]
    self.properties = []
    self.requirements = []
    self.postConstructs = []
    self.onDestroys = []
    self.stated = []
    self.declaration = nil
  }

  /// Once, by `bindProperties`.
  func bind(_ properties: [PropertyInjection], _ injections: [ClassInjection]) {
    self.properties = properties
    self.injections = injections
  }

  /// The value for the parameter, property or element that faults call `place`; the same one for every recipe of this
  /// bean. Under the plan's lock.
  func fixedValue(_ given: FixedValue.Given, _ dependency: Dependency, at place: String) -> FixedValue {
    if let known = fixedValuesByPlace[place] { return known }
    let value = FixedValue(given, for: dependency, at: place)
    fixedValuesByPlace[place] = value
    fixedValues.append(value)
    return value
  }

  /// Lets go of the user's closures and values.
  func dismantle() {
    constructor = nil
    pinned = [:]
    properties = []
    injections = []
    postConstructs = []
    onDestroys = []
    fixedValues = []
    fixedValuesByPlace = [:]
    declaration = nil
  }

  /// How the bean is named in paths.
  var label: String { id.map { "\(type) '\($0)'" } ?? "\(type)" }
  var isClass: Bool { type is AnyObject.Type }
  var isProcessor: Bool { traits.contains(.processor) }
  var isInjection: Bool { traits.contains(.injection) }
  var isSource: Bool { traits.contains(.source) }
  var isScope: Bool { traits.contains(.scope) }

  func fault(_ code: EnvironmentError.Code, _ message: String, path: [String] = []) -> EnvironmentError {
    EnvironmentError(code, message, path: path.isEmpty ? [label] : path, origin: origin)
  }
}
