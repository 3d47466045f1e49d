import BeansConfiguration
import BeansReflection

/// One bean while the graph is compiled: its spec with templates merged. Gone when startup has ended.
final class BeanDefinition {
  let spec: BeanSpec
  let type: Any.Type
  let lifetime: Lifetime
  let traits: BeanTraits
  let factory: FactoryFunction
  /// Where it stands among the beans of its environment.
  let directory: () -> BeanDirectory
  var number: Int32
  /// The factory bean that makes this one.
  let maker: BeanDefinition?
  /// What a factory bean makes from a seed.
  var product: BeanDefinition?
  /// Whether it is what a factory makes from a seed, which no lookup finds.
  let isProduct: Bool
  /// The configuration of the environment that declares it.
  let configuration: ConfigurationManager
  /// Properties of the declaration, each with its setter.
  private(set) var properties: [PropertyInjection] = []
  /// What the class itself has injections for, as far as the declaration is silent.
  private(set) var injections: [ClassInjection] = []
  /// What scopes are handed.
  private(set) lazy var declaration: BeanDeclaration = {
    var merged = spec
    merged.type = type
    if maker != nil { merged.onDestroys = [] }
    return BeanDeclaration(merged)
  }()
  /// Values that the declaration gives, by what faults call their places, in the order found.
  private(set) var values: [BoundValue] = []
  private var valuesByPoint: [String: BoundValue] = [:]

  init(
    _ spec: BeanSpec, type: Any.Type, lifetime: Lifetime, factory: FactoryFunction, number: Int32,
    maker: BeanDefinition? = nil, isProduct: Bool = false, configuration: ConfigurationManager,
    directory: @escaping () -> BeanDirectory
  ) {
    self.spec = spec
    self.type = type
    self.lifetime = lifetime
    self.traits = .of(type)
    self.factory = factory
    self.number = number
    self.maker = maker
    self.isProduct = isProduct
    self.configuration = configuration
    self.directory = directory
  }

  var isClass: Bool { type is AnyObject.Type }
  var id: String? { isProduct ? nil : spec.id }
  var labelled: BeanLabel {
    BeanLabel(type: type, id: id, location: spec.location, scopeName: lifetime.name)
  }
  var label: String { labelled.text }

  func fault(_ code: EnvironmentError.Code, _ message: String, path: [String] = []) -> EnvironmentError {
    EnvironmentError(code, message, path: path.isEmpty ? [label] : path, origin: spec.location.origin)
  }

  // MARK: properties

  /// Looks up the properties that are only named, and what the class itself has injections for. Returns what is wrong.
  func bindProperties() -> [EnvironmentError] {
    let isInjected = traits.contains(.injected) || DescribedClasses.contains(type)
    let given = isProduct || maker != nil ? [] : spec.properties
    if given.isEmpty, !isInjected { return [] }
    var faults: [EnvironmentError] = []
    for property in given {
      do { properties.append(try property.bound(to: type)) } catch { faults.append(fault(error)) }
    }
    guard isInjected, let type = type as? AnyClass else { return faults }
    do {
      // The declaration has the last word.
      injections = try ClassInjection.all(of: type).filter { injection in
        !given.contains { $0.sets(injection) == true }
      }
    } catch { faults.append(fault(error)) }
    return faults
  }

  private func fault(_ error: any Error) -> EnvironmentError {
    let cause = error as? EnvironmentError
    return fault(cause?.code ?? .invalidDeclaration, cause?.message ?? "\(error)")
  }

  // MARK: values

  /// Collects the values that the declaration gives: also where no recipe is made yet, because the scope opens elsewhere.
  func collectValues() {
    for (index, value) in isProduct || maker != nil ? [] : spec.arguments.sorted(by: { $0.key < $1.key })
    where factory.parameters.indices.contains(index) {
      // A seed cannot be pinned: the resolver says so.
      if case .seed = factory.parameters[index].kind { continue }
      _ = self.value(value, as: factory.parameters[index], at: .parameter(index))
    }
    for property in properties {
      guard let setter = property.setter else { continue }
      _ = value(property.value, as: setter.parameter, at: .property(property.name))
    }
    for injection in injections {
      guard case .configuration(let inject) = injection.source else { continue }
      _ = value(.configuration(inject), injection.setter.parameter, at: injection.point)
    }
  }

  /// What needs no bean; nil where it does, or where the shape is wrong.
  func value(_ value: BeanValue, as parameter: Parameter, at point: InjectionPoint) -> BoundValue? {
    switch value {
    case .value(let value): return self.value(.value(value), parameter, at: point.description)
    case .text(let text): return self.value(.text(text), parameter, at: point.description)
    case .null:
      let null = Any?.none as Any
      return parameter.given(null) == nil ? nil : self.value(.value(null), parameter, at: point.description)
    case .list, .map:
      guard let collection = value.collection(as: parameter) else { return nil }
      let point = point.description
      let parts = value.parts(of: collection, at: point)
      // All of them are looked at, so that all are bound.
      let values = parts.compactMap { self.value($0.value, as: $0.parameter, at: .other($0.point)) }
      return values.count == parts.count ? self.value(.parts(values, collection), parameter, at: point) : nil
    case .reference, .bean, .inject: return nil
    }
  }

  /// The value for the parameter, property or element that faults call `point`; the same one for every recipe of this bean.
  func value(_ given: BoundValue.Given, _ parameter: Parameter, at point: String) -> BoundValue {
    if let known = valuesByPoint[point] { return known }
    let value = BoundValue(given, for: parameter, at: point)
    valuesByPoint[point] = value
    values.append(value)
    return value
  }
}

extension PropertyInjection {
  fileprivate func bound(to type: Any.Type) throws -> PropertyInjection {
    guard case .text(let name) = name, setter == nil else { return self }
    return PropertyInjection(name, value, try PropertySetter.named(name, of: type))
  }
}

/// What a dependency is for, as faults name it. Put into words only when there is one.
enum InjectionPoint: CustomStringConvertible {
  case parameter(Int)
  case requirement
  case property(PropertyInjection.Name)
  case other(String)

  var description: String {
    switch self {
    case .parameter(let index): "parameter \(index)"
    case .requirement: "requires"
    case .property(let name): "\(name)"
    case .other(let text): text
    }
  }
}
