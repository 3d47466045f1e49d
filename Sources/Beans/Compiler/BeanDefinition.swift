import BeansConfiguration
import BeansReflection

/// One bean during compilation, as seen from one environment: its spec with templates merged, and then its
/// dependencies. Released when startup has ended.
final class BeanDefinition {
  let spec: FrozenSpec
  let type: Any.Type
  let lifetime: Lifetime
  let traits: BeanTraits
  let factory: FactoryFunction
  /// The entry in the directory of the environment that declares the bean; for a product, the entry of its factory.
  let entry: Int32
  /// The factory bean that makes this one.
  let maker: BeanDefinition?
  /// The module that declares it.
  let module: ObjectIdentifier?
  /// The decorated bean: the decorator's first argument.
  let decorated: ValueBox<BeanDirectory.Decorated>?
  /// Whether a factory makes the bean from a seed. No lookup finds such a bean.
  let isProduct: Bool
  /// The declarations that contain the bean. Their graph, or the started environment further out, retains them.
  let home: Unretained<DeclaredBeans>
  /// Properties of the declaration, each with its setter.
  private(set) var given: [PropertyInjection] = []
  /// The injections of the class itself, without those that the declaration overrides.
  private(set) var injections: [ClassInjection] = []
  /// The values that the declaration contains, in the order in which they were found.
  private(set) var values: [BoundValue] = []
  private var valuesByPoint = [String: BoundValue]()
  var hasValues: Bool { !values.isEmpty }

  // MARK: as seen from one environment

  private var place: Unretained<EnvironmentGraph>?
  private(set) var kind = Recipe.Kind.slot
  /// The number of the slot, or -1.
  private(set) var slot: Int32 = -1
  /// The number of the recipe in its environment; equal to the slot, if the bean has one.
  var number: Int32 = -1
  /// The position among all definitions that are sorted together.
  var position = 0
  /// The ranges of requirements, factory arguments and property values in the resolver's list of dependencies.
  private(set) var requirements = 0..<0
  private(set) var arguments = 0..<0
  private(set) var injected = 0..<0
  private(set) var properties: [BeanCode.Property] = []
  /// The product that a factory makes from a seed. Its dependencies are also dependencies of the factory.
  var product: BeanDefinition?
  /// Whether post processors skip the bean, because one of them or other infrastructure depends on it.
  var isInfrastructure = false
  /// Whether the declaration has errors. Its factory may be missing or its lifetime unknown, so dependent beans are not
  /// reported for that.
  var isAtFault = false
  /// Whether a bean that is certain to be built depends on this one.
  var isNeeded = false
  /// Whether the bean, or one that must exist before it, is created asynchronously.
  var awaits = false
  /// The error that building the bean from here throws, although the bean may be sound elsewhere.
  var refusal: ValueBox<EnvironmentError>?
  var faults: [EnvironmentError] = []
  var layout = Layout()

  /// The ranges of the recipe's parts in the arrays of the plan.
  struct Layout {
    var operands = 0..<0
    var requirements = 0..<0
    var properties = 0..<0
    var needs = 0..<0
    var steps = 0..<0
  }

  /// One dependency of a bean, with its source.
  struct Dependency {
    let parameter: Parameter
    let source: DependencySource

    /// The source of a dependency: the declaration, or the resolver.
    enum DependencySource {
      case resolved(Source<DefinedBean>)
      case value(BoundValue)
      /// A collection with at least one bean among its elements.
      case composed([Dependency], any CollectionType.Type)
      /// The value that the `Injection` of that kind computes for the property.
      case injection(Inject, PropertyDescriptor)
      /// The builder of the products that a factory bean makes.
      case products(BeanDefinition)
    }
  }

  init(
    _ spec: FrozenSpec, type: Any.Type, lifetime: Lifetime, traits: BeanTraits? = nil, factory: FactoryFunction,
    entry: Int32, maker: BeanDefinition? = nil, decorated: ValueBox<BeanDirectory.Decorated>? = nil,
    isProduct: Bool = false,
    home: Unretained<DeclaredBeans>
  ) {
    self.spec = spec
    self.type = type
    self.lifetime = lifetime
    var known = traits ?? .of(type)
    if factory.isAsynchronous { known.insert(.awaited) }
    if spec.isSendable { known.insert(.sendable) }
    self.traits = known
    self.factory = factory
    self.entry = entry
    self.maker = maker
    module = spec.options == nil ? nil : spec.module?.key
    self.decorated = decorated
    self.isProduct = isProduct
    self.home = home
  }

  /// Returns a copy of the bean, for use from another environment.
  func copy() -> BeanDefinition { copy(spec) }

  /// Returns a copy of the bean that startup does not build.
  func lazy() -> BeanDefinition {
    var lazy = spec.value
    lazy.isLazy = true
    return copy(FrozenSpec(lazy))
  }

  private func copy(_ spec: FrozenSpec) -> BeanDefinition {
    let copy = BeanDefinition(
      spec, type: type, lifetime: lifetime, traits: traits, factory: factory, entry: entry, maker: maker,
      decorated: decorated, isProduct: isProduct, home: home)
    (copy.given, copy.injections, copy.values, copy.valuesByPoint) = (given, injections, values, valuesByPoint)
    copy.isAtFault = isAtFault
    return copy
  }

  /// Returns the definition of the product that a factory bean makes from a seed, with the same arguments and in the
  /// same environment.
  func makeProduct(_ product: (type: Any.Type, function: FactoryFunction)) -> BeanDefinition {
    let made = BeanDefinition(
      spec, type: product.type, lifetime: .prototype, factory: product.function, entry: entry, isProduct: true,
      home: home)
    made.place = place
    made.kind = .product
    return made
  }

  /// Assigns the environment that sees the bean, the kind of its recipe, and the slot of its instance.
  func place(in graph: EnvironmentGraph, _ kind: Recipe.Kind, slot: Int32) {
    place = Unretained(graph)
    self.kind = kind
    self.slot = slot
  }

  /// Whether the parameters of the factory are known. They are, for every sound declaration.
  var hasFactory: Bool {
    !isAtFault || factory !== FactoryFunction.unknown && !spec.faults.contains { $0.cause == .otherSeed }
  }

  /// Whether the bean has been placed in the graph of an environment.
  var isPlaced: Bool { place != nil }

  /// The graph of the environment that sees the bean. Traps before `place(in:_:slot:)` has been called.
  var graph: EnvironmentGraph {
    guard let place else { preconditionFailure("\(label) is asked for its place before it has one") }
    return place.object
  }

  var directory: BeanDirectory { home.with { $0.directory } }
  var configuration: ConfigurationManager { home.with { $0.configuration } }

  /// Returns the declaration that scopes receive.
  func makeDeclaration() -> BeanDeclaration {
    var merged = spec.value
    merged.type = type
    if maker != nil, merged.options != nil { merged.rare.onDestroys = [] }
    return BeanDeclaration(merged)
  }

  /// The event handlers: first those of the type, then those of the declaration. A decorator has only those of its
  /// declaration.
  var handlers: [EventHandler] {
    let isListener = traits.contains(.listener) && !isProduct && decorated == nil
    return (isListener ? [EventHandler(of: type)].compactMap(\.self) : []) + spec.listeners
  }

  var isClass: Bool { traits.contains(.object) }
  var id: String? { isProduct ? nil : spec.id }
  var label: String {
    decorated.map { "decorator of \($0.value.label)" } ?? BeanDirectory.Entry.label(type, id)
  }

  func note(_ fault: EnvironmentError) { faults = faults + [fault] }

  /// Returns a fault located at `origin`, or at the bean's declaration if `origin` is nil.
  @inline(never)
  func fault(
    _ cause: FaultCause, _ message: String, steps: [EnvironmentError.Step] = [],
    at origin: EnvironmentError.Origin? = nil
  ) -> EnvironmentError {
    EnvironmentError(
      cause: cause, message, steps: steps.isEmpty ? [step] : steps, origin: origin ?? spec.location.origin)
  }

  /// The bean as a step in the path of its faults.
  @inline(never)
  var step: EnvironmentError.Step { EnvironmentError.Step(label, origin: spec.location.origin) }

  // MARK: dependencies

  /// Calls `body` with every bean of the graph that must exist before this bean or before its first product, in order.
  func forEachDependency(in all: [Dependency], _ body: (BeanDefinition) -> Void) {
    forEachOwnDependency(in: all, body)
    product?.forEachDependency(in: all, body)
  }

  /// Calls `body` with every bean of the graph that must exist before this bean, in order.
  func forEachOwnDependency(in all: [Dependency], _ body: (BeanDefinition) -> Void) {
    forEachOwnBean(in: all) { if case .definition(let definition, _) = $0 { definition.with(body) } }
  }

  /// Whether a bean must exist before the object of this one is created.
  func constructs(with bean: BeanDefinition, _ all: [Dependency]) -> Bool {
    var found = false
    for range in [requirements, arguments] {
      for index in range {
        all[index].forEachBean {
          if case .definition(let definition, _) = $0, definition.with({ $0 === bean }) { found = true }
        }
      }
    }
    return found
  }

  /// Calls `body` with every bean that must exist before this bean, in order.
  func forEachOwnBean(in all: [Dependency], _ body: (DefinedBean) -> Void) {
    for index in requirements { all[index].forEachBean(body) }
    for index in arguments { all[index].forEachBean(body) }
    for index in injected { all[index].forEachBean(body) }
  }

  /// Calls `body` with every bean of the graph that a dependency names, including beans that are built later.
  func forEachNamedDependency(in all: [Dependency], _ body: (BeanDefinition) -> Void) {
    for range in [requirements, arguments, injected] {
      for index in range {
        all[index].forEachBean(includesDeferred: true) {
          if case .definition(let definition, _) = $0 { definition.with(body) }
        }
      }
    }
    product?.forEachNamedDependency(in: all, body)
  }

  /// Sets the dependencies of the bean.
  ///
  /// - Parameters:
  ///   - requirements: the range of beans that must exist before, among all dependencies.
  ///   - arguments: the range of the factory's arguments.
  ///   - injected: the range of property values.
  ///   - properties: the properties to set, in the order of `injected`.
  func connect(
    requirements: Range<Int> = 0..<0, arguments: Range<Int>, injected: Range<Int>, properties: [BeanCode.Property]
  ) {
    (self.requirements, self.arguments, self.injected) = (requirements, arguments, injected)
    self.properties = properties
  }

  // MARK: properties

  /// Finds the setters of properties that are given by name, and the injections of the class. Returns the faults found.
  func bindProperties() -> [EnvironmentError] {
    let isInjected = traits.contains(.injected) || DescribedClasses.contains(type)
    if !isInjected, spec.properties.isEmpty { return [] }
    let given = isProduct || maker != nil ? [] : spec.properties
    var (faults, bound): ([EnvironmentError], [PropertyInjection]) = ([], [])
    for property in given {
      do { bound.append(try property.bound(to: type)) } catch { faults.append(fault(error, at: property.value.origin)) }
    }
    self.given = bound
    guard isInjected, let type = type as? AnyClass else { return faults }
    do {
      // The declaration overrides the injections of the class.
      injections = try ClassInjection.all(of: type).filter { injection in
        !given.contains { $0.sets(injection) == true }
      }
    } catch { faults.append(fault(error)) }
    return faults
  }

  private func fault(_ error: any Error, at origin: EnvironmentError.Origin? = nil) -> EnvironmentError {
    let cause = error as? EnvironmentError
    return fault(cause?.cause ?? .invalidDeclaration, cause?.message ?? "\(error)", at: origin)
  }

  // MARK: values

  /// Collects the values of the declaration. Runs also where no recipe exists yet because the scope opens elsewhere.
  func collectValues() {
    if !spec.hasValues, injections.isEmpty { return }
    if !isProduct, maker == nil {
      for (index, value) in spec.arguments where factory.parameters.indices.contains(index) {
        // A seed cannot be pinned. The resolver reports that.
        if case .seed = factory.parameters[index].kind { continue }
        _ = self.value(value, as: factory.parameters[index], at: .parameter(index))
      }
    }
    for property in given {
      guard let setter = property.setter else { continue }
      _ = value(property.value, as: setter.parameter, at: .property(property.name))
    }
    for injection in injections {
      guard case .configuration(let inject) = injection.source else { continue }
      _ = value(.configuration(inject), injection.setter.parameter, at: injection.point)
    }
  }

  /// Returns the value if it needs no bean; nil if it needs one or does not fit. Its faults are located at `origin`, if
  /// given.
  func value(
    _ value: BeanValue, as parameter: Parameter, at point: InjectionPoint,
    origin: EnvironmentError.Origin? = nil
  ) -> BoundValue? {
    switch value {
    case .value(let value):
      // Compared first, because a cast of each value is slow.
      if Swift.type(of: value) == ConfigurationSection.self, let section = value as? ConfigurationSection {
        return self.value(.section(section), parameter, at: point, origin)
      }
      return self.value(.value(value), parameter, at: point, origin)
    case .text(let text): return self.value(.text(text), parameter, at: point, origin)
    case .declared(let value, let origin): return self.value(value, as: parameter, at: point, origin: origin)
    case .merged(let value): return self.value(value, as: parameter, at: point, origin: origin)
    case .id(let id): return self.value(.value(id), parameter, at: point, origin)
    case .null:
      let null = Any?.none as Any
      return parameter.given(null) == nil ? nil : self.value(.value(null), parameter, at: point, origin)
    case .list, .map:
      guard let collection = value.collection(as: parameter) else { return nil }
      let parts = value.parts(of: collection, at: point)
      // Every part is visited, so that every part is bound.
      let values = parts.compactMap { self.value($0.value, as: $0.parameter, at: $0.point, origin: origin) }
      return values.count == parts.count ? self.value(.parts(values, collection), parameter, at: point, origin) : nil
    case .reference, .bean, .inject: return nil
    }
  }

  /// Returns the value for a parameter, a property or an element. All recipes of this bean share the value.
  func value(
    _ given: BoundValue.Given, _ parameter: Parameter, at point: InjectionPoint,
    _ origin: EnvironmentError.Origin? = nil
  ) -> BoundValue {
    let name = point.description
    if let known = valuesByPoint[name] { return known }
    let value = BoundValue(given, for: parameter, at: point, origin)
    valuesByPoint[name] = value
    values = values + [value]
    return value
  }
}

extension BeanDefinition.Dependency {
  /// Calls `body` with every bean that must exist before.
  ///
  /// - Parameter includesDeferred: whether beans that are built later follow, too.
  @inline(__always)
  func forEachBean(includesDeferred: Bool = false, _ body: (DefinedBean) -> Void) {
    if parameter.isDeferred, !includesDeferred { return }
    if case .resolved(.bean(let bean)) = source { return body(bean) }
    forEachOfSeveral(includesDeferred: includesDeferred, body)
  }

  private func forEachOfSeveral(includesDeferred: Bool, _ body: (DefinedBean) -> Void) {
    switch source {
    case .resolved(.all(let beans, _)): beans.forEach(body)
    case .composed(let parts, _): for part in parts { part.forEachBean(includesDeferred: includesDeferred, body) }
    case .resolved(.bean), .resolved(.computed), .value, .injection, .products: break
    }
  }
}

extension PropertyInjection {
  fileprivate func bound(to type: Any.Type) throws -> PropertyInjection {
    guard case .text(let text) = name, setter == nil else { return self }
    return PropertyInjection(name, value, try PropertySetter.named(text, of: type))
  }
}

extension EnvironmentError {
  /// Returns this error with the path extended by a bean that depends on the erroneous one.
  func within(_ taker: BeanDefinition) -> EnvironmentError {
    within(taker.label, declaredAt: taker.spec.location.origin)
  }
}
