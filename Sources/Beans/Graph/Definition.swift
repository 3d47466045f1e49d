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
  /// What the declaration gives and startup has to settle, in the order found.
  private(set) var fixedValues: [(target: FixedValue.Target, value: FixedValue)] = []
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

  /// Collects the values that the declaration gives: also where no recipe is made yet, because the scope opens elsewhere.
  func prepareValues() {
    for (index, dependency) in (constructor?.dependencies ?? []).enumerated() {
      guard let given = pinned[index]?.given else { continue }
      _ = fixedValue(given, dependency, for: .argument(index), "parameter \(index)")
    }
    for (index, property) in properties.enumerated() {
      guard let given = property.source.given else { continue }
      _ = fixedValue(given, property.dependency, for: .property(index), "\(property.path)")
    }
  }

  /// The value for one parameter or property; the same one for every recipe of this bean. Under the plan's lock.
  func fixedValue(
    _ given: FixedValue.Given, _ dependency: Dependency, for target: FixedValue.Target,
    _ place: @autoclosure () -> String
  ) -> FixedValue {
    if let known = fixedValues.first(where: { $0.target == target }) { return known.value }
    let value = FixedValue(given, for: dependency, at: place())
    fixedValues.append((target, value))
    return value
  }

  /// Lets go of the user's closures and values.
  func dismantle() {
    constructor = nil
    pinned = [:]
    properties = []
    postConstructs = []
    onDestroys = []
    fixedValues = []
    declaration = nil
  }

  /// How the bean is named in paths.
  var label: String { id.map { "\(type) '\($0)'" } ?? "\(type)" }
  var isClass: Bool { type is AnyObject.Type }
  var isProcessor: Bool { type is any BeanPostProcessor.Type || type == (any BeanPostProcessor).self }
  var isSource: Bool { type is any ConfigurationSource.Type || type == (any ConfigurationSource).self }
  var isScope: Bool { type is any BeanScope.Type || type == (any BeanScope).self }

  func fault(_ code: EnvironmentError.Code, _ message: String, path: [String] = []) -> EnvironmentError {
    EnvironmentError(code, message, path: path.isEmpty ? [label] : path, origin: origin)
  }
}
