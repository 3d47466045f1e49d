/// One bean of one environment: its declaration with all templates applied.
final class Definition: @unchecked Sendable {  // immutable after startup
  let type: Any.Type
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
  /// nil: the fault was reported when the definition was made.
  private(set) var constructor: BeanConstructor?
  private(set) var pinned: [Int: BeanDeclaration.PinnedArgument]
  private(set) var properties: [PropertyInjection]
  let requirements: [BeanDeclaration.Requirement]
  private(set) var postConstructs: [BeanCallback]
  private(set) var onDestroys: [BeanCallback]
  let stated: [Any.Type]
  /// What a factory bean makes.
  private(set) var product: Definition?
  /// What scopes are handed. nil for a seed.
  private(set) var declaration: BeanDeclaration?

  init(
    _ declaration: BeanDeclaration, type: Any.Type, constructor: BeanConstructor?, ordinal: Int, scopeName: String,
    templates: [BeanDeclaration]
  ) {
    let chain = [declaration] + templates
    self.declaration = declaration
    self.type = type
    self.id = declaration.id
    self.ordinal = ordinal
    self.origin = declaration.origin
    self.scopeName = scopeName
    self.isLazy = chain.lazy.compactMap(\.isLazy).first ?? false
    self.isPrimary = declaration.isPrimary
    self.isSeed = false
    self.isInstance = chain.contains { $0.instance != nil }
    self.constructor = constructor
    self.pinned = chain.reduce(into: [:]) { $0.merge($1.pinned) { nearer, _ in nearer } }
    self.properties = chain.reversed().reduce(into: []) { merged, declaration in
      for property in declaration.properties {
        merged.removeAll { $0.path == property.path }
        merged.append(property)
      }
    }
    self.requirements = chain.reversed().flatMap(\.requirements)
    self.postConstructs = chain.first { !$0.postConstructs.isEmpty }?.postConstructs ?? []
    self.onDestroys = chain.first { !$0.onDestroys.isEmpty }?.onDestroys ?? []
    self.stated = declaration.stated
    self.product = constructor?.assembled.map { Definition($0, origin: declaration.origin) }
    declaration.label = label
    declaration.callbacks = onDestroys
  }

  /// The seed of a factory's children.
  init(seed type: Any.Type, scopeName: String, identity: ObjectIdentifier, origin: EnvironmentError.Origin) {
    self.type = type
    self.id = nil
    self.ordinal = -1
    self.origin = origin
    self.scopeName = scopeName
    self.isLazy = true
    self.isPrimary = false
    self.isSeed = true
    self.isInstance = false
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

  /// The product of a factory bean, which no lookup finds.
  private init(_ product: AssembledBean, origin: EnvironmentError.Origin) {
    self.type = product.type
    self.id = nil
    self.ordinal = -1
    self.origin = origin
    self.scopeName = "prototype"
    self.isLazy = true
    self.isPrimary = false
    self.isSeed = false
    self.isInstance = false
    self.constructor = product.constructor
    self.pinned = [:]
    self.properties = []
    self.requirements = []
    self.postConstructs = []
    self.onDestroys = []
    self.stated = []
    self.declaration = nil
  }

  /// Lets go of the user's closures.
  func dismantle() {
    product?.dismantle()
    product = nil
    constructor = nil
    pinned = [:]
    properties = []
    postConstructs = []
    onDestroys = []
    declaration = nil
  }

  /// How the bean is named in paths.
  var label: String { id.map { "\(type) '\($0)'" } ?? "\(type)" }
  var isClass: Bool { type is AnyObject.Type }
  var isProcessor: Bool { type is any BeanPostProcessor.Type || type == (any BeanPostProcessor).self }
  var isScope: Bool { type is any BeanScope.Type || type == (any BeanScope).self }

  func fault(_ code: EnvironmentError.Code, _ message: String, path: [String] = []) -> EnvironmentError {
    EnvironmentError(code, message, path: path.isEmpty ? [label] : path, origin: origin)
  }
}
