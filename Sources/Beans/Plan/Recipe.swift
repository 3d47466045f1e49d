import BeansReflection

/// How one bean is built and released: what to call, with which operands, which slots first. The compiled, immutable form
/// of a bean, read in place.
struct Recipe: Sendable {
  enum Kind: Sendable {
    /// One instance in a slot of the environment.
    case slot
    /// A new instance each time.
    case prototype
    /// A user's scope decides. The slot only says whether the creation log names the bean.
    case scoped
    /// What a factory bean makes.
    case product
  }

  /// What building takes besides calling the factory with what stands in slots.
  struct Work: OptionSet, Sendable {
    let rawValue: UInt8
    /// Some operand of the factory is computed.
    static let compute = Work(rawValue: 1)
    /// Properties, callbacks and the like follow.
    static let complete = Work(rawValue: 2)
    /// Each bean is spoken of in the log.
    static let trace = Work(rawValue: 4)
    /// The bean cannot be built here; see `BeanCode.refusal`.
    static let refuse = Work(rawValue: 8)
    /// The bean is created asynchronously: a build finds it, or has to say that it is not there.
    static let await = Work(rawValue: 16)
    /// A test is told of the bean's end.
    static let observe = Work(rawValue: 32)
    /// The object is released in its owner's way: it may be another bean's.
    static let own = Work(rawValue: 64)
  }

  /// What releasing an object of class `identity` takes besides letting go of it.
  enum Ending: UInt8, Sendable {
    case nothing
    /// `preDestroy` or callbacks, none of which has to be awaited.
    case call
    /// Whatever a bean may need.
    case care
  }

  // What a request reads of every bean comes first.
  let function: Unretained<FactoryFunction>
  let operands: FrozenSlice<Operand>
  /// The class of what the factory makes, if startup can know it, or 0.
  let identity: UInt
  let work: Work
  let ending: Ending
  let kind: Kind
  let slot: Int32
  let number: Int32
  /// What is built for the bean, dependencies first, itself last where it stands in a slot.
  let steps: FrozenSlice<Step>
  /// Where something has to stand before the first of these steps: `own` and `outer` operands.
  let needs: FrozenSlice<Operand>
  // What few beans have.
  let code: Unretained<BeanCode>
  /// What has to be evaluated before the factory is called, for its effect alone.
  let requirements: FrozenSlice<Operand>
  /// One operand for each property that has one, in the order of `BeanCode.properties`.
  let properties: FrozenSlice<Operand>
  /// Whether post processors see the bean: not those that serve them.
  let isProcessed: Bool
  let aware: ExistentialLayout?
  let bean: ExistentialLayout?
  let disposable: ExistentialLayout?
  /// The number of the bean's entry in its directory; for a product, of its factory's.
  let entryNumber: Int32
  let directory: Unretained<BeanDirectory>
  let traits: BeanTraits
  let isLazy: Bool
  let isSeed: Bool
  /// Whether the bean, or one that has to be there before it, is created asynchronously.
  let awaits: Bool
  /// The class of what the slot holds, where that is a class and startup can know it.
  let slotIdentity: ObjectIdentifier?

  /// Whether the factory or a property takes what an operand leads to.
  func takes(_ need: Operand) -> Bool {
    var isTaken = false
    for taken in [operands, properties] { taken.forEach { if $0.isSame(as: need) { isTaken = true } } }
    return isTaken
  }

  /// What faults and paths say of the bean.
  var entry: BeanDirectory.Entry {
    let bean = directory.with { $0.entries[Int(entryNumber)] }
    guard case .product = kind, let product = bean.product else { return bean }
    return BeanDirectory.Entry(type: product, lifetime: .prototype, location: bean.location)
  }
}

/// One bean of those that are built together.
struct Step: Sendable {
  let slot: Int32
  /// How many counts the bean gets when it is there: one for each later step that takes it, and for who asked.
  let takers: UInt32
  /// The step whose bean needs this one; -1 for the bean that was asked for.
  let dependent: Int32
}

/// What few beans have: what is the user's beside the factory, and why a bean cannot be built. Environments drop it at their end, because it may hold them.
final class BeanCode: @unchecked Sendable {  // immutable; `declaration` is handed to scopes, which only read it
  struct Property: Sendable {
    /// The bean whose id stands in the object, and how faults name the property; nil where an operand says which bean it is.
    var named: (id: @Sendable (AnyObject) -> String, parameter: Parameter, point: String)?
    let set: @Sendable (AnyObject, Argument) throws -> Void
  }

  /// That of beans which have a factory alone.
  static let none = BeanCode()

  /// Properties that the declaration sets.
  let given: [PropertyInjection]
  let properties: [Property]
  let postConstructs: [BeanCallback]
  let onDestroys: [ReleaseCallback]
  let listeners: [EventHandler]
  /// How long a release may take.
  let releaseLimit: Duration?
  /// Whether somebody else releases the instances.
  let isExternallyOwned: Bool
  let instance: InstanceHolder?
  /// What scopes are handed.
  let declaration: BeanDeclaration?
  /// Why the bean cannot be built from this plan, although nothing is wrong with it elsewhere.
  let refusal: EnvironmentError?

  init(
    given: [PropertyInjection] = [], properties: [Property] = [], postConstructs: [BeanCallback] = [],
    onDestroys: [ReleaseCallback] = [], listeners: [EventHandler] = [], releaseLimit: Duration? = nil,
    isExternallyOwned: Bool = false, instance: InstanceHolder? = nil,
    declaration: BeanDeclaration? = nil, refusal: EnvironmentError? = nil
  ) {
    self.given = given
    self.properties = properties
    self.postConstructs = postConstructs
    self.onDestroys = onDestroys
    self.listeners = listeners
    self.releaseLimit = releaseLimit
    self.isExternallyOwned = isExternallyOwned
    self.instance = instance
    self.declaration = declaration
    self.refusal = refusal
  }
}

/// What has to be evaluated anew for each bean or lookup that takes it.
enum Computation: Sendable {
  /// A bean of a factory's child further out.
  case outer(hops: Int32, slot: Int32)
  /// A new instance of the recipe.
  case prototype(Int32)
  /// What a user's scope answers for a recipe of the environment so many steps further out.
  case scoped(Int32, hops: Int32)
  /// The value that beans are made into: all of a type, or one that is wanted as another type.
  case all([Operand], Parameter)
  /// The value that beans are made into, with their ids where it wants them.
  indirect case collected([Computation], ids: [String], Parameter)
  /// What is evaluated when it is asked for.
  indirect case deferred(Computation, Parameter)
  /// A new instance of the recipe, which the taker gives back.
  case owned(Int32, Parameter)
  /// An optional without a bean.
  case absent(Parameter)
  /// A provider, and the module whose private beans it finds.
  case provider(Parameter, id: String?, from: ObjectIdentifier?)
  case environment
  case configuration
  /// What the `Injection` of that kind computes for the property.
  case injection(Inject, PropertyDescriptor, Parameter)
  /// A collection of which at least one element is a bean: elements, or keys and elements in turn.
  case composed([Operand], any CollectionType.Type, Parameter)
  /// What a factory bean makes its products with.
  case products(Int32)

  /// What a bean is delivered as.
  func delivered(as each: Parameter?) -> Computation {
    guard let each else { return self }
    if case .owned = each.kind, case .prototype(let number) = self { return .owned(number, each) }
    if case .lazy(let inner) = each.kind { return .deferred(.collected([self], ids: [], inner), each) }
    return .collected([self], ids: [], each)
  }

  /// How a bean is got from an environment so many steps further in than the one that has the recipe.
  init(_ kind: Recipe.Kind, number: Int32, slot: Int32, hops: Int32) {
    self =
      switch kind {
      case .slot: .outer(hops: hops, slot: slot)
      case .scoped: .scoped(number, hops: hops)
      case .prototype, .product: .prototype(number)
      }
  }
}

extension Operand {
  /// Whether both lead to the same slot.
  func isSame(as other: Operand) -> Bool {
    switch (place, other.place) {
    case (.outer(let own), .outer(let other)): own == other
    case (.own(let own), .own(let other)), (.counted(let own), .own(let other)): own == other
    default: false
    }
  }

  /// Whether it leads to that slot.
  func names(_ slot: Slot) -> Bool {
    if case .outer(let own) = place { own == slot } else { false }
  }
}

extension FrozenSlice<Operand> {
  var hasComputed: Bool {
    var found = false
    forEach { if case .computed = $0.place { found = true } }
    return found
  }
}
