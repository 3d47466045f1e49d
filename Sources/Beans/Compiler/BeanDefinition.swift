import BeansConfiguration
import BeansReflection

/// One bean while the graph is compiled, as seen from one environment: its spec with templates merged, then what it is made
/// of. Gone when startup has ended.
final class BeanDefinition {
  let spec: BeanSpec
  let type: Any.Type
  let lifetime: Lifetime
  let traits: BeanTraits
  let factory: FactoryFunction
  /// In the directory of the environment that declares it; for a product, that of its factory.
  let entry: Int32
  /// The factory bean that makes this one.
  let maker: BeanDefinition?
  /// The module that declares it.
  let module: ObjectIdentifier?
  /// What it stands before: its first argument.
  let decorated: ValueBox<BeanDirectory.Decorated>?
  /// Whether it is what a factory makes from a seed, which no lookup finds.
  let isProduct: Bool
  /// What declares it, which somebody else keeps.
  let home: Unretained<DeclaredBeans>
  /// Properties of the declaration, each with its setter.
  private(set) var given: [PropertyInjection] = []
  /// What the class itself has injections for, as far as the declaration is silent.
  private(set) var injections: [ClassInjection] = []
  /// Values that the declaration gives, by what faults call their places, in the order found.
  private(set) var values: [BoundValue] = []
  private var valuesByPoint: [String: BoundValue] = [:]
  var hasValues: Bool { !values.isEmpty }

  // MARK: as seen from one environment

  private var place: Unretained<EnvironmentGraph>?
  private(set) var kind = Recipe.Kind.slot
  /// The slot, or -1.
  private(set) var slot: Int32 = -1
  /// Among the recipes of its environment; where there is a slot, that.
  var number: Int32 = -1
  /// Among all definitions that are being sorted.
  var position = 0
  /// What has to be there before, what the factory takes, and what properties are set to: where that stands among the
  /// dependencies that its resolver has found.
  private(set) var requirements = 0..<0
  private(set) var arguments = 0..<0
  private(set) var injected = 0..<0
  private(set) var properties: [BeanCode.Property] = []
  /// What a factory makes from a seed. Its dependencies count as the factory's.
  var product: BeanDefinition?
  /// Whether post processors leave it alone, because one of them is made of it.
  var isInfrastructure = false
  /// Whether its declaration is at fault. Its factory may be missing or its lifetime unknown, and what depends on it is not
  /// judged for that.
  var isAtFault = false
  /// Whether something that is certain to be built needs it.
  var isNeeded = false
  /// Whether the bean, or one that has to be there before it, is created asynchronously.
  var awaits = false
  /// Why the bean cannot be built from here, although nothing is wrong with it elsewhere.
  var refusal: ValueBox<EnvironmentError>?
  var faults: [EnvironmentError] = []
  var layout = Layout()

  /// Where the parts of its recipe stand in the arrays of the plan.
  struct Layout {
    var operands = 0..<0
    var requirements = 0..<0
    var properties = 0..<0
    var needs = 0..<0
    var steps = 0..<0
  }

  /// One dependency, resolved.
  struct Dependency {
    let parameter: Parameter
    let binding: Binding
  }

  /// Where one dependency comes from, before it is an operand.
  enum Binding {
    case bean(Target)
    case all([Target], ids: [String] = [])
    /// What is evaluated when it is asked for, and so need not be there before.
    indirect case deferred(Dependency)
    /// What no bean is looked for.
    indirect case computed(Computation, Reading)
    case value(BoundValue)
    case composed([Dependency], any CollectionType.Type)
    case injection(Inject, PropertyDescriptor)
    case products(BeanDefinition)
  }

  /// A bean that has been found: of the graph that is compiled now, or of an ancestor that was compiled before.
  ///
  /// Graphs keep their definitions, and declarations at fault may name each other in a circle.
  enum Target {
    case defined(Unretained<BeanDefinition>, hops: Int32)
    case compiled(Unretained<Plan>, Int32, hops: Int32)
  }

  init(
    _ spec: BeanSpec, type: Any.Type, lifetime: Lifetime, traits: BeanTraits? = nil, factory: FactoryFunction,
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

  /// A copy of the bean, to be seen from another environment.
  func copy() -> BeanDefinition {
    let copy = BeanDefinition(
      spec, type: type, lifetime: lifetime, traits: traits, factory: factory, entry: entry, maker: maker,
      decorated: decorated, isProduct: isProduct, home: home)
    (copy.given, copy.injections, copy.values, copy.valuesByPoint) = (given, injections, values, valuesByPoint)
    copy.isAtFault = isAtFault
    return copy
  }

  /// What a factory bean makes from a seed, from the same arguments, as seen from the same environment.
  func makeProduct(_ product: (type: Any.Type, function: FactoryFunction)) -> BeanDefinition {
    let made = BeanDefinition(
      spec, type: product.type, lifetime: .prototype, factory: product.function, entry: entry, isProduct: true,
      home: home)
    made.place = place
    made.kind = .product
    return made
  }

  /// Decides from where the bean is seen, and where its instance stands.
  func place(in graph: EnvironmentGraph, _ kind: Recipe.Kind, slot: Int32) {
    place = Unretained(graph)
    self.kind = kind
    self.slot = slot
  }

  /// Whether its parameters are known, as those of every sound declaration are.
  var hasFactory: Bool {
    !isAtFault || factory !== FactoryFunction.unknown && !spec.faults.contains { $0.cause == .otherSeed }
  }

  /// Whether it is seen from the environment that declares it.
  var isPlaced: Bool { place != nil }

  /// The graph of the environment that it is seen from.
  var graph: EnvironmentGraph {
    guard let place else { preconditionFailure("\(label) is asked for its place before it has one") }
    return place.object
  }

  var directory: BeanDirectory { home.with { $0.directory } }
  var configuration: ConfigurationManager { home.with { $0.configuration } }

  /// What scopes are handed.
  func makeDeclaration() -> BeanDeclaration {
    let merged = BeanSpec(copying: spec)
    merged.type = type
    if maker != nil { merged.onDestroys = [] }
    return BeanDeclaration(merged)
  }

  /// What it does with events, first what its type says. A decorator does only what its declaration says.
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

  /// A fault that stands at `origin`, or where the bean is declared.
  func fault(
    _ cause: FaultCause, _ message: String, steps: [EnvironmentError.Step] = [],
    at origin: EnvironmentError.Origin? = nil
  ) -> EnvironmentError {
    EnvironmentError(
      cause: cause, message, steps: steps.isEmpty ? [step] : steps, origin: origin ?? spec.location.origin)
  }

  /// The bean on the path of a fault of it.
  var step: EnvironmentError.Step { EnvironmentError.Step(label, origin: spec.location.origin) }

  // MARK: dependencies

  /// Calls `body` with every bean of the graph that has to exist first, or before the first product, in order.
  func forEachDependency(in all: [Dependency], _ body: (BeanDefinition) -> Void) {
    forEachOwnDependency(in: all, body)
    product?.forEachDependency(in: all, body)
  }

  /// Calls `body` with every bean of the graph that has to exist first, in order.
  func forEachOwnDependency(in all: [Dependency], _ body: (BeanDefinition) -> Void) {
    forEachOwnTarget(in: all) { if case .defined(let definition, _) = $0 { definition.with(body) } }
  }

  /// Calls `body` with every bean that has to exist first, in order.
  func forEachOwnTarget(in all: [Dependency], _ body: (Target) -> Void) {
    for index in requirements { all[index].binding.forEachTarget(body) }
    for index in arguments { all[index].binding.forEachTarget(body) }
    for index in injected { all[index].binding.forEachTarget(body) }
  }

  /// Calls `body` with every bean of the graph that is named, also where it is built later.
  func forEachNamedDependency(in all: [Dependency], _ body: (BeanDefinition) -> Void) {
    for range in [requirements, arguments, injected] {
      for index in range { all[index].binding.forEachNamedDefinition(body) }
    }
    product?.forEachNamedDependency(in: all, body)
  }

  /// Says what the bean is made of.
  ///
  /// - Parameters:
  ///   - requirements: where what has to be there before stands among all dependencies.
  ///   - arguments: where what the factory takes stands.
  ///   - injected: where what properties are set to stands.
  ///   - properties: what is set, in that order.
  func connect(
    requirements: Range<Int> = 0..<0, arguments: Range<Int>, injected: Range<Int>, properties: [BeanCode.Property]
  ) {
    (self.requirements, self.arguments, self.injected) = (requirements, arguments, injected)
    self.properties = properties
  }

  // MARK: properties

  /// Looks up the properties that are only named, and what the class itself has injections for. Returns what is wrong.
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
      // The declaration has the last word.
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

  /// Collects the values that the declaration gives: also where no recipe is made yet, because the scope opens elsewhere.
  func collectValues() {
    if !spec.hasValues, injections.isEmpty { return }
    if !isProduct, maker == nil {
      for (index, value) in spec.arguments where factory.parameters.indices.contains(index) {
        // A seed cannot be pinned: the resolver says so.
        if case .seed = factory.parameters[index].kind { continue }
        _ = self.value(value, as: factory.parameters[index], at: "parameter \(index)")
      }
    }
    for property in given {
      guard let setter = property.setter else { continue }
      _ = value(property.value, as: setter.parameter, at: "\(property.name)")
    }
    for injection in injections {
      guard case .configuration(let inject) = injection.source else { continue }
      _ = value(.configuration(inject), injection.setter.parameter, at: injection.point)
    }
  }

  /// What needs no bean; nil where it does, or where the shape is wrong. Faults of it stand at `origin`, where there is one.
  func value(
    _ value: BeanValue, as parameter: Parameter, at point: @autoclosure () -> String,
    origin: EnvironmentError.Origin? = nil
  ) -> BoundValue? {
    switch value {
    case .value(let value): return self.value(.value(value), parameter, at: point(), origin)
    case .text(let text): return self.value(.text(text), parameter, at: point(), origin)
    case .declared(let value, let origin): return self.value(value, as: parameter, at: point(), origin: origin)
    case .null:
      let null = Any?.none as Any
      return parameter.given(null) == nil ? nil : self.value(.value(null), parameter, at: point(), origin)
    case .list, .map:
      guard let collection = value.collection(as: parameter) else { return nil }
      let point = point()
      let parts = value.parts(of: collection, at: point)
      // All of them are looked at, so that all are bound.
      let values = parts.compactMap { self.value($0.value, as: $0.parameter, at: $0.point, origin: origin) }
      return values.count == parts.count ? self.value(.parts(values, collection), parameter, at: point, origin) : nil
    case .reference, .bean, .inject: return nil
    }
  }

  /// The value for the parameter, property or element that faults call `point`; the same one for every recipe of this bean.
  func value(
    _ given: BoundValue.Given, _ parameter: Parameter, at point: String, _ origin: EnvironmentError.Origin? = nil
  ) -> BoundValue {
    if let known = valuesByPoint[point] { return known }
    let value = BoundValue(given, for: parameter, at: point, origin)
    valuesByPoint[point] = value
    values = values + [value]
    return value
  }
}

extension BeanDefinition.Binding {
  func forEachDefinition(_ body: (BeanDefinition) -> Void) {
    forEachTarget { if case .defined(let definition, _) = $0 { definition.with(body) } }
  }

  /// Calls `body` with every bean that has to be there before.
  func forEachTarget(_ body: (BeanDefinition.Target) -> Void) {
    switch self {
    case .bean(let target): body(target)
    case .all(let targets, _): targets.forEach(body)
    case .composed(let parts, _): for part in parts { part.binding.forEachTarget(body) }
    case .computed, .value, .injection, .products, .deferred: break
    }
  }

  /// Calls `body` with every bean of the graph that is named, also where it is built later.
  func forEachNamedDefinition(_ body: (BeanDefinition) -> Void) {
    switch self {
    case .deferred(let inner): inner.binding.forEachNamedDefinition(body)
    case .composed(let parts, _): for part in parts { part.binding.forEachNamedDefinition(body) }
    default: forEachDefinition(body)
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
  /// This failure, seen from a bean that takes the one at fault.
  func within(_ taker: BeanDefinition) -> EnvironmentError {
    within(taker.label, declaredAt: taker.spec.location.origin)
  }
}
