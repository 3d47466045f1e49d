import BeansReflection

/// The origin of an argument, a property or the result of a lookup, as the resolver finds it.
///
/// `Bean` identifies a bean as seen from one environment: by its definition while startup compiles it, by its recipe
/// afterwards. Both are compiled by the functions below, so a lookup gets its beans as an argument does.
enum Source<Bean> {
  /// One bean.
  case bean(Bean)
  /// Several beans, with their ids if the parameter requests a dictionary.
  case all([Bean], ids: [String])
  /// A value that needs no search for a bean.
  indirect case computed(Computation, Reading)
}

/// A bean as seen from one environment.
protocol LocatedBean {
  var kind: Recipe.Kind { get }
  /// The number of the recipe in the environment that holds the bean.
  var number: Int32 { get }
  /// The number of the slot in the environment that holds the bean, or -1.
  var slot: Int32 { get }
  /// The distance to the environment that holds the bean: 0 for the environment that sees it.
  var hops: Int32 { get }
  /// Returns the reading of the bean as the type of a parameter; nil where a value of another type must be made from
  /// the bean.
  func reading(for parameter: Parameter) -> Reading?
}

extension LocatedBean {
  /// Returns the place from which an operand reads the bean; nil if the bean must be computed.
  ///
  /// - Parameter outer: the bean's slot, if its environment is no child of a factory.
  func place(_ outer: Slot?) -> Operand.Place? {
    guard case .slot = kind else { return nil }
    if let outer { return .outer(outer) }
    return hops == 0 ? .own(slot: slot) : nil
  }

  /// Returns the computation that finds or builds the bean.
  ///
  /// - Parameter outer: the bean's slot, if its environment is no child of a factory.
  func computation(_ outer: Slot?) -> Computation {
    switch kind {
    case .slot: outer.map { .slot($0) } ?? .outer(hops: hops, slot: slot)
    case .scoped: .scoped(number, hops: hops)
    case .prototype, .product: .prototype(number)
    }
  }
}

extension Source where Bean: LocatedBean {
  /// Returns the operand that reads the value from a slot; nil if the value must be computed.
  ///
  /// - Parameters:
  ///   - parameter: the request.
  ///   - outer: returns the slot of a bean whose environment is no child of a factory; nil for other beans.
  func operand(for parameter: Parameter, _ outer: (Bean) -> Slot?) -> Operand? {
    guard case .bean(let bean) = self, !parameter.isWrapped, let reading = bean.reading(for: parameter) else {
      return nil
    }
    return bean.place(outer(bean)).map { Operand($0, reading) }
  }

  /// Returns the computation of the value, and the reading of its result.
  ///
  /// - Parameters:
  ///   - parameter: the request.
  ///   - outer: returns the slot of a bean whose environment is no child of a factory; nil for other beans.
  func computation(for parameter: Parameter, _ outer: (Bean) -> Slot?) -> (computation: Computation, reading: Reading) {
    switch self {
    case .computed(let computation, let reading) where !parameter.isLazy: return (computation, reading)
    case .bean(let bean) where !parameter.isWrapped:
      if let reading = bean.reading(for: parameter) { return (bean.computation(outer(bean)), reading) }
    case .computed, .bean, .all: break
    }
    return (boxed(for: parameter, outer), parameter.isArrayOfObjects ? .assembled : .boxed)
  }

  /// Returns the computation of an object that has the type of the parameter, or of its box.
  private func boxed(for parameter: Parameter, _ outer: (Bean) -> Slot?) -> Computation {
    if case .lazy(let inner) = parameter.kind {
      let (computation, reading) = computation(for: inner, outer)
      return .deferred(computation, reading, parameter)
    }
    switch self {
    case .computed(let computation, _): return computation
    case .bean(let bean):
      let found = bean.computation(outer(bean))
      if case .owned = parameter.kind { return found.delivered(as: parameter) }
      return .collected([found.delivered(as: parameter.each)], ids: [], parameter)
    case .all(let beans, let ids):
      return .collected(beans.map { $0.computation(outer($0)).delivered(as: parameter.each) }, ids: ids, parameter)
    }
  }
}

/// A bean of a compiled plan.
struct PlannedBean: LocatedBean {
  /// The plan of the environment that holds the bean. The environment that sees the bean retains it.
  let plan: Unretained<Plan>
  let number: Int32
  let hops: Int32

  var recipe: FrozenReference<Recipe> { plan.with { $0.recipe(number) } }
  var kind: Recipe.Kind { recipe.value.kind }
  var slot: Int32 { recipe.value.slot }

  func reading(for parameter: Parameter) -> Reading? {
    let entry = recipe.value.entry
    return Reading(
      parameter, of: entry.type, isClass: entry.traits.contains(.object), recipe.value.slotIdentity)
  }
}

/// The compiled form of a source that no plan contains: the result of a lookup, kept for the next one.
final class Retrieval: Sendable {
  /// The operand that reads the value from a slot; nil if the value is computed.
  let operand: Operand?
  /// The computation of the value, and the reading of its result.
  let computed: (computation: Computation, reading: Reading)

  init<Bean: LocatedBean>(_ source: Source<Bean>, for parameter: Parameter, _ outer: (Bean) -> Slot?) {
    operand = source.operand(for: parameter, outer)
    computed = source.computation(for: parameter, outer)
  }
}
