import BeansReflection

/// The origin of an argument, a property or the result of a lookup, as the resolver finds it.
///
/// `Bean` is a bean as seen from one environment: while startup compiles it, or as a plan contains it.
enum Source<Bean> {
  /// One bean.
  case bean(Bean)
  /// Several beans, with their ids if the parameter requests a dictionary.
  case all([Bean], ids: [String])
  /// A value that needs no search for a bean.
  indirect case computed(Computation, Reading)

  /// Returns the source with each bean replaced.
  func map<Other, Failure: Error>(_ body: (Bean) throws(Failure) -> Other) throws(Failure) -> Source<Other> {
    switch self {
    case .bean(let bean): return .bean(try body(bean))
    case .all(let beans, let ids): return .all(try beans.map(body), ids: ids)
    case .computed(let computation, let reading): return .computed(computation, reading)
    }
  }
}

/// A bean that has a recipe, as seen from one environment. Arguments at startup and results of lookups are compiled from
/// it by the same functions.
struct LocatedBean {
  /// The bean; its environment is not further in, and retains it.
  let definition: Unretained<BeanDefinition>
  let kind: Recipe.Kind
  /// The number of the recipe in the environment that holds the bean.
  let number: Int32
  /// The number of the slot in the environment that holds the bean, or -1.
  let slot: Int32
  /// The distance to the environment that holds the bean: 0 for the environment that sees it.
  let hops: Int32
  /// The slots of the environment that holds the bean, if that is no child of a factory.
  let slots: Slots?
  /// The class of the object in the slot, where that is a class and startup can know it.
  let slotIdentity: ObjectIdentifier?

  /// Returns the reading of the bean as the type of a parameter; nil where a value of another type must be made from
  /// the bean.
  func reading(for parameter: Parameter) -> Reading? {
    let (type, isClass) = definition.with { ($0.type, $0.isClass) }
    if parameter.isReference, isClass { return .reference }
    // The box of a struct or existential has exactly the declared type, which is the wanted one.
    if type == parameter.wanted { return .boxed }
    guard case .one = parameter.kind, isClass, let slotIdentity else { return nil }
    return ExistentialLayout.of(parameter.element, for: slotIdentity).map { Reading($0) }
  }

  /// The place from which an operand reads the bean; nil if the bean must be computed.
  var place: Operand.Place? {
    guard case .slot = kind else { return nil }
    if let slots { return .outer(slots[slot]) }
    return if hops == 0 { .own(slot: slot) } else { nil }
  }

  /// Returns the operand that reads the bean from a slot; nil if the bean, or a value made from it, must be computed.
  func operand(for parameter: Parameter) -> Operand? {
    guard !parameter.isWrapped, let reading = reading(for: parameter) else { return nil }
    return place.map { Operand($0, reading) }
  }

  /// The computation that finds or builds the bean.
  var computation: Computation {
    switch kind {
    case .slot: slots.map { .slot($0[slot]) } ?? .outer(hops: hops, slot: slot)
    case .scoped: .scoped(number, hops: hops)
    case .prototype, .product: .prototype(number)
    }
  }
}

extension Source<LocatedBean> {
  /// Returns the computation of the value, and the reading of its result.
  func computation(for parameter: Parameter) -> (computation: Computation, reading: Reading) {
    switch self {
    case .computed(let computation, let reading) where !parameter.isLazy: return (computation, reading)
    case .bean(let bean) where !parameter.isWrapped:
      if let reading = bean.reading(for: parameter) { return (bean.computation, reading) }
    case .computed, .bean, .all: break
    }
    return (boxed(for: parameter), parameter.assembled == nil ? .boxed : .assembled)
  }

  /// Returns the computation of an object that has the type of the parameter, or of its box.
  private func boxed(for parameter: Parameter) -> Computation {
    if case .lazy(let inner) = parameter.kind {
      let (computation, reading) = computation(for: inner)
      return .deferred(computation, reading, parameter)
    }
    switch self {
    case .computed(let computation, _): return computation
    case .bean(let bean):
      if case .owned = parameter.kind { return bean.computation.delivered(as: parameter) }
      return .collected([bean.computation.delivered(as: parameter.each)], ids: [], parameter)
    case .all(let beans, let ids):
      return .collected(beans.map { $0.computation.delivered(as: parameter.each) }, ids: ids, parameter)
    }
  }
}

/// The compiled form of a source that no plan contains: the result of a lookup, kept for the next one.
final class Retrieval: Sendable {
  /// The operand that reads the same value from a slot, where that is possible.
  let operand: Operand?
  /// The computation of the value, and the reading of its result.
  let computed: (computation: Computation, reading: Reading)

  init(_ source: Source<LocatedBean>, for parameter: Parameter) {
    operand = if case .bean(let bean) = source { bean.operand(for: parameter) } else { nil }
    computed = source.computation(for: parameter)
  }
}
