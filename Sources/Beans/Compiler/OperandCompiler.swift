import BeansReflection

/// Compiles the sources of dependencies and lookups to operands.
struct OperandCompiler {
  /// The slots of the outermost graph's environment.
  private let slots: Slots
  /// The computations to which operands refer, in the order of their numbers.
  private(set) var computations: [Computation] = []
  /// Whether slot 0 is that of a seed, which exists before any step.
  private let hasSeed: Bool

  init(_ slots: Slots, hasSeed: Bool) { (self.slots, self.hasSeed) = (slots, hasSeed) }

  /// Returns the operand that reads the dependency from a slot; nil if the dependency must be computed.
  ///
  /// - Parameters:
  ///   - dependency: the dependency of an argument, a property or a requirement.
  ///   - isCounted: whether a step retains a bean of the same environment for this operand.
  func direct(_ dependency: PlacedBean.Dependency, _ isCounted: Bool) -> Operand? {
    switch dependency.source {
    case .value(let value): value.place.map { Operand(.outer($0), dependency.parameter.givenReading) }
    case .resolved(.bean(let bean)):
      located(bean).operand(for: dependency.parameter).map { if isCounted { counted($0) } else { $0 } }
    case .resolved(.all), .resolved(.computed), .composed, .injection, .products: nil
    }
  }

  /// Returns the operand of a dependency; see `direct(_:_:)`.
  mutating func operand(_ dependency: PlacedBean.Dependency, _ isCounted: Bool) -> Operand {
    if let operand = direct(dependency, isCounted) { return operand }
    let parameter = dependency.parameter
    switch dependency.source {
    case .resolved(let source): return operand(source, for: parameter)
    // Every value has been assigned a place.
    case .value: return computed(.absent(parameter), .boxed)
    case .composed(let parts, let type):
      return computed(.composed(parts.map { operand($0, false) }, type, parameter), parameter.givenReading)
    case .injection(let request, let property):
      return computed(.injection(request, property, parameter), parameter.givenReading)
    case .products(let product): return computed(.products(product.number), .boxed)
    }
  }

  /// Returns the operand of a source that the resolver has found for a parameter.
  mutating func operand(_ source: Source<DefinedBean>, for parameter: Parameter) -> Operand {
    if case .bean(let bean) = source, let operand = located(bean).operand(for: parameter) { return operand }
    let (computation, reading) = source.map { $0.located(slots) }.computation(for: parameter)
    return computed(computation, reading)
  }

  /// Returns the operand of a bean that is delivered as it is.
  mutating func operand(_ bean: DefinedBean, _ reading: Reading) -> Operand {
    let bean = located(bean)
    return bean.place.map { Operand($0, reading) } ?? computed(bean.computation, reading)
  }

  /// Returns the bean's place in compiled plans.
  func located(_ bean: DefinedBean) -> LocatedBean { bean.located(slots) }

  private mutating func computed(_ computation: Computation, _ reading: Reading) -> Operand {
    computations.append(computation)
    return Operand(.computed(Int32(computations.count - 1)), reading)
  }

  /// Returns the operand of a bean that a step has retained for its taker. An object that must be converted is read from
  /// the slot, so no step retains it in advance.
  private func counted(_ operand: Operand) -> Operand {
    guard case .own(let slot) = operand.place, operand.reading.isReference, slot != 0 || !hasSeed else {
      return operand
    }
    return Operand(.counted(slot: slot), operand.reading)
  }
}
