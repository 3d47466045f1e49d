import BeansConfiguration
import BeansErrors
import BeansReflection

/// The setters and the values of one bean. Each compilation binds them anew: the configuration may have changed, and an
/// environment that places the bean again has places of its own for its values.
final class BeanBinding {
  let definition: BeanDefinition
  /// The configuration and the directory of the environment that declares the bean.
  let home: DeclaredBeans
  /// The values of the factory's parameters, by index.
  let arguments: [Int: BoundValue]
  /// Properties of the declaration, each with its setter.
  let given: [PropertyInjection]
  /// The values of these properties.
  let properties: [BoundValue?]
  /// The injections of the class itself, without those that the declaration overrides, with the values of those that
  /// read the configuration.
  let injections: [(injection: ClassInjection, value: BoundValue?)]
  /// The values that need no bean, in the order in which they were found.
  let values: [BoundValue]
  /// The faults of properties without a setter.
  let faults: [EnvironmentError]

  /// Finds the setters of properties that are given by name and the injections of the class, and binds all values.
  fileprivate init(_ definition: BeanDefinition, _ home: DeclaredBeans, isInjected: Bool) {
    let (type, spec) = (definition.type, definition.spec.object)
    var (values, faults): ([BoundValue], [EnvironmentError]) = ([], [])
    func note(_ error: any Error, at origin: EnvironmentError.Origin? = nil) {
      let cause = error as? EnvironmentError
      faults.append(
        definition.fault(cause?.cause ?? .invalidDeclaration, cause?.message ?? "\(error)", at: origin))
    }
    var given: [PropertyInjection] = []
    for property in spec.properties {
      do { given.append(try property.bound(to: type)) } catch { note(error, at: property.value.origin) }
    }
    var injections: [ClassInjection] = []
    if isInjected, let type = type as? AnyClass {
      do {
        // The declaration overrides the injections of the class.
        injections = try ClassInjection.all(of: type).filter { injection in
          !spec.properties.contains { $0.sets(injection) == true }
        }
      } catch { note(error) }
    }
    let parameters = definition.factory.with { $0.parameters }
    var arguments = [Int: BoundValue]()
    for (index, value) in spec.arguments where parameters.indices.contains(index) {
      // The caller supplies the seed of a product, which cannot be pinned. The resolver reports that.
      if case .seed = parameters[index].kind, definition.product != nil { continue }
      arguments[index] = .bind(value, as: parameters[index], at: .parameter(index), &values)
    }
    properties = given.map { property in
      property.setter.map { .bind(property.value, as: $0.parameter, at: .property(property.name), &values) }
    }
    self.injections = injections.map { injection in
      guard case .configuration(let request) = injection.source else { return (injection, nil) }
      let value = BoundValue(.configuration(request), for: injection.setter.parameter, at: injection.point)
      values.append(value)
      return (injection, value)
    }
    (self.definition, self.home, self.arguments, self.given) = (definition, home, arguments, given)
    (self.values, self.faults) = (values, faults)
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
    if byBean.isEmpty { nil } else { byBean[ObjectIdentifier(definition)] }
  }

  /// Returns the binding of a bean that is placed and not declared here; nil if there is nothing to bind.
  ///
  /// - Parameter home: the declarations of the environment that declares the bean.
  func binding(of definition: BeanDefinition, _ home: DeclaredBeans) -> BeanBinding? {
    if let known = known(definition) { return known }
    guard let binding = bind(definition, home) else { return nil }
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
