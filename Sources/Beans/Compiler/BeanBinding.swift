import BeansConfiguration
import BeansErrors
import BeansReflection

/// The setters and the values of one bean. Each compilation binds them anew: the configuration may have changed, and an
/// environment that places the bean again has places of its own for its values.
final class BeanBinding {
  let definition: BeanDefinition
  /// The configuration and the directory of the environment that declares the bean.
  let home: DeclaredBeans
  /// Properties of the declaration, each with its setter.
  private(set) var given: [PropertyInjection] = []
  /// The injections of the class itself, without those that the declaration overrides.
  private(set) var injections: [ClassInjection] = []
  /// The values that the declaration contains, in the order in which they were found.
  private(set) var values: [BoundValue] = []
  private var valuesByPoint = [String: BoundValue]()
  /// The faults of properties without a setter.
  private(set) var faults: [EnvironmentError] = []

  /// Finds the setters of properties that are given by name, and the injections of the class.
  fileprivate init(_ definition: BeanDefinition, _ home: DeclaredBeans, isInjected: Bool) {
    let (type, spec) = (definition.type, definition.spec.object)
    (self.definition, self.home) = (definition, home)
    for property in spec.properties {
      do { given.append(try property.bound(to: type)) } catch { note(error, at: property.value.origin) }
    }
    guard isInjected, let type = type as? AnyClass else { return }
    do {
      // The declaration overrides the injections of the class.
      injections = try ClassInjection.all(of: type).filter { injection in
        !spec.properties.contains { $0.sets(injection) == true }
      }
    } catch { note(error) }
  }

  private func note(_ error: any Error, at origin: EnvironmentError.Origin? = nil) {
    let cause = error as? EnvironmentError
    faults.append(
      definition.fault(cause?.cause ?? .invalidDeclaration, cause?.message ?? "\(error)", at: origin))
  }

  /// Collects the values of the declaration. Runs also where no recipe exists yet because the scope opens elsewhere.
  func collectValues() {
    let parameters = definition.factory.with { $0.parameters }
    for (index, value) in definition.spec.with({ $0.arguments }) where parameters.indices.contains(index) {
      // A seed cannot be pinned. The resolver reports that.
      if case .seed = parameters[index].kind { continue }
      _ = self.value(value, as: parameters[index], at: .parameter(index))
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

/// The bindings of one compilation, each made once.
final class BeanBindings {
  private var byBean = [ObjectIdentifier: BeanBinding]()
  /// The bindings of products of assisted factories, and of beans that environments have declared which have started:
  /// these have reported the faults.
  private(set) var others: [BeanBinding] = []

  /// Binds a bean. Returns nil for a bean that has nothing to bind.
  func bind(_ definition: BeanDefinition, _ home: DeclaredBeans) -> BeanBinding? {
    let isInjected = definition.traits.contains(.injected) || DescribedClasses.contains(definition.type)
    if !isInjected, definition.spec.with({ !$0.hasValues }) { return nil }
    let binding = BeanBinding(definition, home, isInjected: isInjected)
    // Moved out and back: a change in place would check each access at run time.
    var all = [ObjectIdentifier: BeanBinding]()
    swap(&all, &byBean)
    all[ObjectIdentifier(definition)] = binding
    swap(&all, &byBean)
    return binding
  }

  /// Returns the binding of a bean that has been bound; nil for a bean that had nothing to bind.
  func known(_ definition: BeanDefinition) -> BeanBinding? {
    byBean.isEmpty ? nil : byBean[ObjectIdentifier(definition)]
  }

  /// Returns the binding of a bean that is placed and not declared here; nil if there is nothing to bind.
  ///
  /// - Parameter home: the declarations of the environment that declares the bean.
  func binding(of definition: BeanDefinition, _ home: DeclaredBeans) -> BeanBinding? {
    if let known = known(definition) { return known }
    guard let binding = bind(definition, home) else { return nil }
    binding.collectValues()
    others.append(binding)
    return binding
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
  func within(_ taker: PlacedBean) -> EnvironmentError {
    within(taker.definition.label, declaredAt: taker.definition.location.origin)
  }
}
