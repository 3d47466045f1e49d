import BeansReflection

/// Compiles the sources of dependencies and lookups to operands.
struct OperandCompiler {
  /// The slots of the outermost graph's environment.
  private let slots: Slots
  /// Returns the slots of an environment further out that has started, if it is no child of a factory.
  private let startedSlots: (Plan) -> Slots?
  /// Whether slot 0 is that of a seed, which exists before any step.
  private let hasSeed: Bool
  /// The computations to which operands refer, in the order of their numbers.
  private(set) var computations: [Computation] = []

  init(_ block: SlotBlock, _ input: CompilerInput, hasSeed: Bool) {
    (slots, startedSlots, self.hasSeed) = (block.slots, input.slots, hasSeed)
  }

  /// Returns the place from which the dependency is read; nil if the dependency must be computed.
  ///
  /// - Parameters:
  ///   - dependency: the dependency of an argument, a property or a requirement.
  ///   - isCounted: whether a step retains a bean of the same environment for this operand.
  func directPlace(of dependency: BeanDefinition.Dependency, _ isCounted: Bool) -> Operand.Place? {
    switch dependency.source {
    case .value(let value): value.place.map { .outer($0) }
    case .resolved(let source):
      source.operand(for: dependency.parameter) { outerSlot(of: $0) }.map { isCounted ? counted($0).place : $0.place }
    case .composed, .injection, .products: nil
    }
  }

  /// Returns the operand of a dependency; see `directPlace(of:_:)`.
  mutating func operand(_ dependency: BeanDefinition.Dependency, _ isCounted: Bool) -> Operand {
    let parameter = dependency.parameter
    switch dependency.source {
    case .resolved(let source):
      let operand = operand(source, for: parameter)
      return isCounted ? counted(operand) : operand
    case .value(let value):
      // Every value has been assigned a place.
      return value.place.map { Operand(.outer($0), parameter.givenReading) } ?? computed(.absent(parameter), .boxed)
    case .composed(let parts, let type):
      return computed(.composed(parts.map { operand($0, false) }, type, parameter), parameter.givenReading)
    case .injection(let inject, let property):
      return computed(.injection(inject, property, parameter), parameter.givenReading)
    case .products(let product): return computed(.products(product.number), .boxed)
    }
  }

  /// Returns the operand of a source that the resolver has found for a parameter.
  mutating func operand(_ source: Source<DefinedBean>, for parameter: Parameter) -> Operand {
    if let operand = source.operand(for: parameter, { outerSlot(of: $0) }) { return operand }
    let (computation, reading) = source.computation(for: parameter) { outerSlot(of: $0) }
    return computed(computation, reading)
  }

  /// Returns the operand of a bean that is delivered as it is.
  mutating func operand(_ bean: DefinedBean, _ reading: Reading) -> Operand {
    let outer = outerSlot(of: bean)
    return bean.place(outer).map { Operand($0, reading) } ?? computed(bean.computation(outer), reading)
  }

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

  /// Returns the slot of a bean whose environment is no child of a factory; nil for other beans.
  private func outerSlot(of bean: DefinedBean) -> Slot? {
    switch bean {
    case .definition(let definition, _):
      definition.with { $0.graph.isPlain && $0.kind == .slot ? slots[$0.slot] : nil }
    case .planned(let bean):
      bean.kind == .slot ? bean.plan.with { startedSlots($0) }.map { $0[bean.slot] } : nil
    }
  }
}
