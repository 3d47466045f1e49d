/// A scenario: the declarations of each level, and the operations on the environments created from the levels.
struct Scenario: Equatable {
  var levels: [Level]
  var operations: [Operation]

  /// The level, then those around it, nearest first.
  func chain(from level: Int) -> [Int] {
    var chain = [level]
    while let parent = levels[chain[chain.count - 1]].parent { chain.append(parent) }
    return chain
  }

  /// The level, then the levels of factories that are declared in it, directly or inside each other.
  func family(of level: Int) -> [Int] {
    var family = [level]
    for (index, other) in levels.enumerated() where other.scope != nil {
      if let parent = other.parent, family.contains(parent) { family.append(index) }
    }
    return family
  }

  var declarationCount: Int { levels.reduce(0) { $0 + $1.declarations.count } }
}

/// The declarations of one environment, or of all children of one factory.
struct Level: Equatable {
  /// The level around this one, which comes earlier; nil for the root alone.
  var parent: Int?
  /// The scope of the factory whose children these are; nil for an environment created by hand.
  var scope: Scope?
  /// Whether each environment registers a scope, which is called `ownScope`.
  var registersScope = false
  var declarations: [Declaration] = []

  /// The name that declarations use for the registered scope of an environment.
  static let ownScope = "shift"
}

/// The scopes of factories, each with a seed type of its own.
enum Scope: String, CaseIterable {
  case tenant, session, request, job
}

/// One declaration.
struct Declaration: Equatable {
  /// The number, also the line of its origin, which identifies the declaration in a fault.
  var number: Int
  /// The type; nil for a template without a class.
  var kind: Kind?
  var id: String?
  var template: String?
  var isAbstract = false
  var isLazy = false
  var isPrimary = false
  var scope: String?
  /// The parameters of its own factory; nil if it has none.
  var parameters: [Parameter]?
  var requirements: [Requirement] = []
  /// The number of first calls of its own factory that throw.
  var failures = 0
  var role = Role.bean
  /// Whether it has a `.postConstruct { }` and an `.onDestroy { }`.
  var hasCallbacks = false

  /// The object that a declaration leads to.
  enum Role: Hashable {
    /// A new object.
    case bean
    /// The bean that the factory takes first.
    case forwarding
    /// A new object around each bean of the kind, or that bean itself.
    case decorator(returnsInner: Bool)
    /// The product of a factory bean: a new object, or the bean that the factory bean takes first.
    case factoryBean(returnsTaken: Bool)
    /// A ready instance. Declarations of one number share it, in an environment and those inside.
    case instance(Int)
  }

  var isDecorator: Bool { if case .decorator = role { true } else { false } }
  var isFactoryBean: Bool { if case .factoryBean = role { true } else { false } }

  /// Whether its object is a bean that it takes or decorates.
  var returnsAnother: Bool {
    switch role {
    case .forwarding, .decorator(returnsInner: true), .factoryBean(returnsTaken: true): true
    case .bean, .decorator, .factoryBean, .instance: false
    }
  }

  /// Changes the role to that of a new object if it takes no bean that it could return.
  mutating func settle() {
    var canReturn = false
    if case .bean(let taken, .one)? = parameters?.first?.wish, let kind { canReturn = taken.isA(kind) }
    if role == .forwarding, !canReturn { role = .bean }
    if role == .factoryBean(returnsTaken: true), !canReturn { role = .factoryBean(returnsTaken: false) }
    if role == .bean { kind = kind?.made }
  }
}

/// One parameter of a factory.
struct Parameter: Equatable {
  enum Form: String, CaseIterable { case one, optional, all, provider, lazy, owned }

  enum Wish: Equatable {
    case bean(Kind, Form)
    case seed(Scope)
    case environment
  }

  var wish: Wish
  /// Whether the bean may be built after the one that takes it.
  var isDeferred: Bool { if case .bean(_, .lazy) = wish { true } else { false } }
  /// The id that it is pinned to.
  var reference: String?
}

/// A dependency that has to be built before a declaration.
enum Requirement: Equatable {
  case id(String)
  case kind(Kind)
}

/// One step of a scenario. Environment 0 is the root; each `open` creates the next one.
enum Operation: Equatable {
  case start(Int)
  case open(level: Int, parent: Int, starts: Bool)
  case lookup(Int, Lookup)
  case finish(Int)
  case shutdown(Int)
  /// Ends the scope that the environment has registered.
  case finishScope(Int)
}

/// One lookup.
struct Lookup: Equatable {
  var kind: Kind
  var form: Parameter.Form
  var id: String?
  /// Whether the providers received by the found beans are called as well.
  var callsProviders = false
  /// Whether the bean is released, if it is `Owned`; else all beans that it owns.
  var givesBack = false
  /// The current environment during the lookup.
  var current: Int?
}

/// The types as which beans are declared and requested.
enum Kind: Int, CaseIterable, Comparable {
  case animal, cat, lion, dog, ash, beech, cedar, elm, fir, gum, holly, ivy, juniper, larch, maple, oak
  case red, green, blue
  /// The class of factory beans.
  case mill

  static let classes = allCases.filter { $0 < .red }

  static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }

  /// The name of the type in Swift.
  var name: String { "\(self)".prefix(1).uppercased() + "\(self)".dropFirst() }

  var isProtocol: Bool { (.red ... .blue).contains(self) }

  /// The class of new objects of the kind.
  var made: Kind { isProtocol ? Kind.classes.first { $0.isA(self) }! : self }

  /// The superclass and the protocols that the class names itself.
  var supertypes: [Kind] {
    switch self {
    case .cat: [.animal, .red]
    case .lion: [.cat]
    case .dog: [.animal, .green]
    case .ash: [.red]
    case .beech: [.red, .green]
    case .cedar: [.green]
    case .elm: [.blue]
    case .fir: [.blue, .red]
    default: []
    }
  }

  /// Whether an instance of this type is one of the other.
  func isA(_ other: Kind) -> Bool { Kind.table[rawValue][other.rawValue] }

  private static let table = allCases.map { kind in allCases.map { kind.inherits($0) } }

  private func inherits(_ other: Kind) -> Bool { self == other || supertypes.contains { $0.inherits(other) } }

  /// The type itself and all its supertypes.
  var all: [Kind] { Kind.allCases.filter { isA($0) } }
}
