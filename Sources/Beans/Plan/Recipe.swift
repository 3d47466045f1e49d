import BeansErrors
import BeansReflection

/// The compiled, immutable form of one bean, read in place: the function, its operands, the slots that are filled
/// first, the completion and the release.
struct Recipe: Sendable {
  enum Kind: Sendable {
    /// One instance in a slot of the environment.
    case slot
    /// A new instance each time.
    case prototype
    /// A user's scope decides. The slot only records whether the creation log contains the bean.
    case scoped
    /// The product of a factory that `bindFactory` declares.
    case product
  }

  /// The work of building, besides calling the factory with the contents of slots.
  struct Work: OptionSet, Sendable {
    let rawValue: UInt8
    /// An operand of the factory, or a requirement, is computed.
    static let compute = Work(rawValue: 1)
    /// Properties, callbacks or other completing steps follow.
    static let complete = Work(rawValue: 2)
    /// The environment logs each bean.
    static let trace = Work(rawValue: 4)
    /// The bean cannot be built here; see `BeanCode.refusal`.
    static let refuse = Work(rawValue: 8)
    /// The bean is created asynchronously: a build finds it, or fails because it does not exist yet.
    static let await = Work(rawValue: 16)
    /// A test observes the bean's end.
    static let observe = Work(rawValue: 32)
    /// The bean has a release, so its build checks whether the object already belongs to another bean.
    static let own = Work(rawValue: 64)
  }

  /// The work of releasing an object of class `identity`, besides dropping the reference.
  enum Ending: UInt8, Sendable {
    case nothing
    /// A call of `preDestroy` or of callbacks, none of which has to be awaited.
    case call
    /// Any work that a release may need.
    case care
  }

  // The fields that a request reads of every bean come first.
  let function: Unretained<FactoryFunction>
  let operands: FrozenSlice<Operand>
  /// The class of the object that the factory makes, if startup can know it; `unknownClass` otherwise.
  let identity: ObjectIdentifier
  let work: Work
  let ending: Ending
  let kind: Kind
  let slot: Int32
  let number: Int32
  /// The beans that are built for this one, dependencies first, and the bean itself as the last if it has a slot.
  let steps: FrozenSlice<Step>
  /// The operands that must be filled before the first of these steps: `own` and `outer` operands.
  let needs: FrozenSlice<Operand>
  // The fields that few beans use.
  let code: Unretained<BeanCode>
  /// The operands that are evaluated before the factory is called, only for their effect.
  let requirements: FrozenSlice<Operand>
  /// One operand for each property that has one, in the order of `BeanCode.properties`.
  let properties: FrozenSlice<Operand>
  /// Whether post processors see the bean; they do not see infrastructure.
  let isProcessed: Bool
  let aware: ExistentialLayout?
  let bean: ExistentialLayout?
  let disposable: ExistentialLayout?
  /// The bean, which the directory of its environment retains.
  let node: Unretained<BeanDefinition>
  let traits: BeanTraits
  let isLazy: Bool
  let isSeed: Bool
  /// Whether the bean, or one that must exist before it, is created asynchronously.
  let awaits: Bool
  /// The class of the object in the slot, where that is a class and startup can know it.
  let slotIdentity: ObjectIdentifier?

  /// The identity of a class without instances. No optional, so that a request compares identities in one step.
  static var unknownClass: ObjectIdentifier { ObjectIdentifier(UnknownClass.self) }

  private final class UnknownClass {}

  /// Whether an operand of the factory or of a property is read from a slot further out.
  func takes(_ slot: Slot) -> Bool {
    operands.contains { $0.names(slot) } || properties.contains { $0.names(slot) }
  }

  /// The bean, for faults and paths.
  @inline(never)
  var definition: BeanDefinition { node.object }

  /// Returns the bean as seen from an environment.
  ///
  /// - Parameters:
  ///   - hops: the distance of the environment to the one that holds the bean.
  ///   - slots: the slots of the environment that holds the bean, if that is no child of a factory.
  func located(hops: Int32, _ slots: Slots?) -> LocatedBean {
    LocatedBean(
      definition: node, kind: kind, number: number, slot: slot, hops: hops, slots: slots, slotIdentity: slotIdentity)
  }
}

/// One of the beans that are built together.
struct Step: Sendable {
  let slot: Int32
  /// The references added to the bean once it exists: one for each later step that takes it, and one for the caller.
  let takers: UInt32
  /// The step whose bean needs this one; -1 for the requested bean.
  let dependent: Int32
}

/// The rarely used parts of a recipe: user code besides the factory, and the reason why a bean cannot be built. An
/// environment drops this object at its end, because the user code may retain the environment.
final class BeanCode: @unchecked Sendable {  // immutable; scopes receive `declaration` and only read it
  struct Property: Sendable {
    /// The bean whose id the object stores, and the property's name in faults; nil where an operand identifies the
    /// bean.
    var named: (id: @Sendable (AnyObject) -> String, parameter: Parameter, point: String)?
    let set: @Sendable (AnyObject, Argument) throws -> Void
  }

  /// The code of beans that have only a factory.
  static let none = BeanCode()

  /// The properties that the declaration sets.
  let given: [PropertyInjection]
  let properties: [Property]
  let listeners: [EventHandler]
  /// The callbacks and the work of the declaration, and its rules for the release.
  let options: BeanSpec.Options
  let instance: InstanceHolder?
  /// The declaration that user scopes receive.
  let declaration: BeanDeclaration?
  /// The reason why the bean cannot be built from this plan, although its declaration is valid elsewhere.
  let refusal: EnvironmentError?

  init(
    given: [PropertyInjection] = [], properties: [Property] = [], listeners: [EventHandler] = [],
    options: BeanSpec.Options = BeanSpec.Options(), instance: InstanceHolder? = nil,
    declaration: BeanDeclaration? = nil, refusal: EnvironmentError? = nil
  ) {
    self.given = given
    self.properties = properties
    self.listeners = listeners
    self.options = options
    self.instance = instance
    self.declaration = declaration
    self.refusal = refusal
  }
}

/// The evaluation of an operand, repeated for each bean or lookup that takes it.
enum Computation: Sendable {
  /// A bean of a factory's child, so many steps further out.
  case outer(hops: Int32, slot: Int32)
  /// A bean of an environment that is no child of a factory.
  case slot(Slot)
  /// A new instance of the recipe.
  case prototype(Int32)
  /// The object that a user's scope returns for a recipe of the environment so many steps further out.
  case scoped(Int32, hops: Int32)
  /// The value made from beans, with their ids if the parameter wants them: all beans of a type, or one bean that is
  /// wanted as another type.
  indirect case collected([Computation], ids: [String], Parameter)
  /// A value that is evaluated on demand, and then read in that way.
  indirect case deferred(Computation, Reading, Parameter)
  /// A new instance of the recipe, which the taker releases.
  case owned(Int32, Parameter)
  /// An optional without a bean.
  case absent(Parameter)
  /// A provider, and the module whose private beans it finds.
  case provider(Parameter, id: String?, from: ObjectIdentifier?)
  case part(EnvironmentPart)
  /// The value that a provider computes for the property on request.
  case injection(any AnyObject & Sendable, PropertyDescriptor, Parameter)
  /// A collection with at least one bean among its elements: elements, or keys and elements in turn.
  case composed([Operand], any CollectionType.Type, Parameter)
  /// The `ProductBuilder` of a factory's products.
  case products(Int32)

  /// Returns the computation that delivers a bean as `each` requests.
  func delivered(as each: Parameter?) -> Computation {
    guard let each else { return self }
    if case .owned = each.kind, case .prototype(let number) = self { return .owned(number, each) }
    guard case .lazy(let inner) = each.kind else { return .collected([self], ids: [], each) }
    return .deferred(.collected([self], ids: [], inner), inner.givenReading, each)
  }
}

extension Operand {
  /// Whether the operand's place is that slot.
  func names(_ slot: Slot) -> Bool {
    if case .outer(let own) = place { own == slot } else { false }
  }
}
