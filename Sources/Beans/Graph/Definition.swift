/// One bean of one environment: its declaration with all templates applied.
final class Definition: @unchecked Sendable {  // immutable after startup
  // What the linker reads of every dependency comes first, so that it stands in one cache line.
  let type: Any.Type
  /// Of the declared type; none of a seed.
  let traits: LifecycleTraits
  let isLazy: Bool
  let isPrimary: Bool
  /// A seed answers to exactly its own type and is nobody's bean.
  let isSeed: Bool
  /// Whether the user handed the object in.
  let isInstance: Bool
  let isClass: Bool
  /// The plan that declares it; set by `Plan.add`. Plans hold their definitions.
  @exclusivity(unchecked) private var homeReference: Unmanaged<Plan>?
  /// Its recipe there, which the plan holds, too. Those in plans further in are in their tables.
  @exclusivity(unchecked) var recipeReference: Unmanaged<Recipe>?
  let id: String?
  private let place: SourcePlace
  let scopeName: String
  /// nil: the fault was reported when the definition was made.
  @exclusivity(unchecked) private(set) var constructor: BeanConstructor?
  @exclusivity(unchecked) private(set) var pinned: PinnedArguments
  /// What scopes are handed. nil for a seed.
  @exclusivity(unchecked) private(set) var declaration: BeanDeclaration?
  /// nil until there is one of them.
  @exclusivity(unchecked) private var details: Details?

  init(
    _ declaration: BeanDeclaration, type: Any.Type, constructor: BeanConstructor?, scopeName: String,
    templates: __shared [BeanDeclaration]
  ) {
    self.declaration = declaration
    self.type = type
    self.isClass = type is AnyObject.Type
    self.traits = type == declaration.type ? declaration.traits : .cached(of: type)
    self.id = declaration.id
    self.place = declaration.place
    self.scopeName = scopeName
    self.isPrimary = declaration.isPrimary
    self.isSeed = false
    self.constructor = constructor
    if templates.isEmpty {
      self.isLazy = declaration.isLazy ?? false
      self.isInstance = declaration.instance != nil
      self.pinned = declaration.pinned
      self.details = declaration.hasDetails ? Details([declaration]) : nil
    } else {
      let chain = [declaration] + templates
      self.isLazy = chain.lazy.compactMap(\.isLazy).first ?? false
      self.isInstance = chain.contains { $0.instance != nil }
      self.pinned = chain.reduce(into: PinnedArguments()) { $0.inherit($1.pinned) }
      self.details = Details(chain)
    }
    if let assembled = constructor?.assembled { detailed.product = Definition(assembled, at: declaration.place) }
    declaration.definedType = type
    if let details { declaration.callbacks = details.onDestroys }
  }

  /// What a factory bean makes: everything the declaration says of callbacks and properties is the factory's.
  init(_ product: FactoryProduct, of declaration: BeanDeclaration, madeBy maker: Definition, scopeName: String) {
    self.declaration = declaration
    self.type = product.target
    self.isClass = product.target is AnyObject.Type
    self.traits = .cached(of: product.target)
    self.id = declaration.id
    self.place = declaration.place
    self.scopeName = scopeName
    self.isLazy = maker.isLazy
    self.isPrimary = declaration.isPrimary
    self.isSeed = false
    self.isInstance = false
    self.constructor = product.constructor
    self.pinned = PinnedArguments(only: maker.declaration.map { .bean($0) })
    detailed.maker = maker
    declaration.definedType = type
    declaration.callbacks = []
  }

  /// The seed of a factory's children.
  init(seed type: Any.Type, scopeName: String, identity: ObjectIdentifier, at place: SourcePlace) {
    self.type = type
    self.isClass = type is AnyObject.Type
    self.traits = []
    self.id = nil
    self.place = place
    self.scopeName = scopeName
    self.isLazy = true
    self.isPrimary = false
    self.isSeed = true
    self.isInstance = false
    // Never called: the slot is filled when the environment opens.
    self.constructor = BeanConstructor(dependencies: [], identity: identity) { _ in
      throw EnvironmentError(.scopeNotActive, "the seed of '\(scopeName)' is missing")
    }
    self.pinned = PinnedArguments()
    self.declaration = nil
  }

  /// The product of a factory bean, which no lookup finds.
  private init(_ product: AssembledBean, at place: SourcePlace) {
    self.type = product.type
    self.isClass = product.type is AnyObject.Type
    self.traits = LifecycleTraits.cached(of: product.type)
    self.id = nil
    self.place = place
    self.scopeName = "prototype"
    self.isLazy = true
    self.isPrimary = false
    self.isSeed = false
    self.isInstance = false
    self.constructor = product.constructor
    self.pinned = PinnedArguments()
    self.declaration = nil
  }

  /// Once, by `Plan`.
  func settle(in plan: Plan) {
    homeReference = .passUnretained(plan)
    declaration?.definition = self
  }

  /// Lets go of the user's closures and values.
  func dismantle() {
    details?.product?.dismantle()
    details = nil
    constructor = nil
    pinned = PinnedArguments()
    declaration?.definition = nil
    declaration = nil
    homeReference = nil
    recipeReference = nil
  }

  /// Whether that plan declares it.
  func isDeclared(in plan: Plan) -> Bool { homeReference?.toOpaque() == Unmanaged.passUnretained(plan).toOpaque() }

  /// The same as `constructor`, not retained.
  var constructorReference: Unmanaged<BeanConstructor>? { constructor.map { .passUnretained($0) } }
  var recipe: Recipe? { recipeReference?.takeUnretainedValue() }

  /// How the bean is named in paths.
  var label: String { Self.label(type, id) }
  var origin: EnvironmentError.Origin { place.origin }
  var isProcessor: Bool { traits.contains(.processor) }
  var isInjection: Bool { traits.contains(.injection) }
  var isSource: Bool { traits.contains(.source) }
  var isScope: Bool { traits.contains(.scope) }

  static func label(_ type: Any.Type, _ id: String?) -> String { id.map { "\(type) '\($0)'" } ?? "\(type)" }

  func fault(_ code: EnvironmentError.Code, _ message: String, path: [String] = []) -> EnvironmentError {
    EnvironmentError(code, message, path: path.isEmpty ? [label] : path, origin: origin)
  }
}

extension Definition {
  var hasDetails: Bool { details != nil }

  /// To be written to.
  private var detailed: Details {
    if let details { return details }
    let made = Details()
    details = made
    return made
  }

  /// The factory bean that makes this one.
  var maker: Definition? { details?.maker }
  /// What a factory bean makes.
  var product: Definition? { details?.product }
  var properties: [PropertyInjection] { details?.properties ?? [] }
  /// What the class itself has injections for, as far as the declaration is silent.
  var injections: [ClassInjection] { details?.injections ?? [] }
  var requirements: [BeanDeclaration.Requirement] { details?.requirements ?? [] }
  var postConstructs: [BeanCallback] { details?.postConstructs ?? [] }
  var onDestroys: [BeanCallback] { details?.onDestroys ?? [] }
  var stated: [Any.Type] { details?.stated ?? [] }
  /// What the declaration gives and startup has to settle, in the order found.
  var fixedValues: [FixedValue] { details?.fixedValues ?? [] }

  /// Once, by `bindProperties`.
  func bind(_ properties: [PropertyInjection], _ injections: [ClassInjection]) {
    detailed.properties = properties
    detailed.injections = injections
  }

  /// The value for the parameter, property or element that faults call `place`; the same one for every recipe of this
  /// bean. Under the plan's lock.
  func fixedValue(_ given: FixedValue.Given, _ dependency: Dependency, at place: String) -> FixedValue {
    let details = detailed
    if let known = details.fixedValuesByPlace[place] { return known }
    let value = FixedValue(given, for: dependency, at: place)
    details.fixedValuesByPlace[place] = value
    details.fixedValues.append(value)
    return value
  }
}
