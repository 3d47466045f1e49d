import Beans

// MARK: - beans

/// The outcome of a scenario.
struct Outcome {
  var lines: [String] = []
  /// For each operation, the beans that it created, in order.
  var orders: [[Creation]] = [[]]

  /// One bean, as far as it is distinguished from others.
  enum Creation: Hashable {
    /// The bean of a number, or the prototype that it keeps.
    case made(Int)
    case prototype
    /// The next bean owns beans that were created at these positions, itself or by prototypes that it has taken.
    case owned(made: [Int])
    /// A lookup or a provider has found a bean; `made` as in `owned`.
    case found(made: [Int])
    case threw(declaration: Int)
    /// A declaration's decorator around the object of that name.
    case decorated(declaration: Int, inner: String)
  }

  /// Ends an operation. The comparison ignores the order in which prototypes were created and other beans were
  /// forwarded, and after a failure also their number.
  static func end(_ lines: inout [String], _ prototypes: inout [String]) {
    let hasFailed = lines.reversed().prefix { !$0.hasPrefix("operation") }.contains { $0.hasPrefix("fault") }
    if !hasFailed { lines += prototypes.sorted() }
    prototypes = []
  }
}

/// Records the reports of a scenario's beans, and its counters.
final class Recorder: @unchecked Sendable {  // used by one thread
  private(set) var outcome = Outcome()
  var live = 0
  let rules: ReferenceRules
  private let prototypes: Set<Int>
  private var prototypeLines: [String] = []
  private var made = 0
  private var calls: [Int: Int] = [:]
  private var environments: [ObjectIdentifier: Int] = [:]

  init(_ scenario: Scenario) {
    rules = ReferenceRules(scenario)
    prototypes = Set(rules.beans.joined().filter(\.isPrototype).map(\.number))
  }

  func note(_ line: String) { outcome.lines.append(line) }

  private func add(_ creation: Outcome.Creation) { outcome.orders[outcome.orders.count - 1].append(creation) }

  /// Adds a bean, and the beans that it owns.
  private func add(_ creation: Outcome.Creation, _ given: [Given]) {
    let owned = owned(given)
    if !owned.isEmpty { add(.owned(made: owned)) }
    add(creation)
  }

  /// Returns the positions at which owned beans were created, in the order of parameters.
  private func owned(_ given: [Given]) -> [Int] {
    func owned(by bean: Node) -> [Int] { bean.isPrototype && !bean.isKept ? self.owned(bean.given) : [] }
    return given.flatMap { value -> [Int] in
      switch value {
      case .owned(let get, _): (try? get()).map { [$0.position] + owned(by: $0) } ?? []
      case .bean(let bean): bean.map { owned(by: $0) } ?? []
      case .beans(let beans): beans.flatMap { owned(by: $0) }
      case .provider, .lazy, .seed, .environment: []
      }
    }
  }

  /// Begins the next operation.
  func begin(_ operation: String) {
    Outcome.end(&outcome.lines, &prototypeLines)
    outcome.orders.append([])
    note(operation)
  }

  /// Notes the call of a factory; throws if the declaration plans a failure.
  func call(_ declaration: Int, failures: Int, _ given: [Given]) throws {
    calls[declaration, default: 0] += 1
    guard calls[declaration]! <= failures else { return }
    note("d\(declaration) throws")
    add(.threw(declaration: declaration), given)
    throw PlannedFailure()
  }

  /// Returns the fault of the declaration in a line.
  func fault(_ code: String, line: Int?) -> Fault {
    let declaration: Int? =
      switch code {
      case EnvironmentError.Code.cyclicDependency.description: line.map { rules.circle(of: $0) }
      case EnvironmentError.Code.creationFailed.description: line.map { rules.factory(of: $0) }
      default: line
      }
    return Fault(code: code, declaration: declaration)
  }

  /// Returns the name of a new bean. That of a prototype contains its arguments; it must have one holder.
  func name(_ bean: Node) -> String {
    let given = bean.given.map { " \(take($0))" }.joined()
    bean.isPrototype = bean.decorated.map { $0.isPrototype && !$0.isKept } ?? prototypes.contains(bean.declaration)
    if bean.isPrototype {
      let name = "d\(bean.declaration){\(given)}"
      prototypeLines.append(name + " by d\(bean.factory)")
      place(bean)
      return name
    }
    made += 1
    note("#\(made) is d\(bean.declaration) by d\(bean.factory)\(given)")
    if let inner = bean.decorated {
      add(.decorated(declaration: bean.declaration, inner: inner.name), bean.given)
    } else {
      add(.made(bean.declaration), bean.given)
    }
    return "#\(made)"
  }

  /// Notes that a declaration's object is another bean. A declaration that is no prototype's keeps a prototype.
  func hand(on bean: Node, _ given: [Given], by declaration: Int, isDecorator: Bool) -> Node {
    prototypeLines.append("d\(declaration) returns \(bean.name)")
    let isKept = !bean.isPrototype || bean.isKept
    if isDecorator && isKept {
      add(.decorated(declaration: declaration, inner: bean.name), given)
    } else if isDecorator || prototypes.contains(declaration) {
      place(bean)
    } else {
      add(.made(declaration), given)
      bean.isKept = true
    }
    return bean
  }

  /// Places a prototype behind all beans created so far.
  private func place(_ bean: Node) {
    bean.position = outcome.orders[outcome.orders.count - 1].count
    add(.prototype)
  }

  /// Notes a call of `.postConstruct { }`.
  func complete(_ bean: Node, by declaration: Int) {
    let line = "d\(declaration) completes \(bean.name)"
    if bean.isPrototype { prototypeLines.append(line) } else { note(line) }
  }

  func add(_ environment: Environment, _ number: Int) { environments[ObjectIdentifier(environment)] = number }

  /// Notes a bean that has been found.
  func find(_ word: String, _ found: Given) {
    add(.found(made: owned([found])))
    note("\(word) \(take(found))")
  }

  /// Notes the bean of a `Lazy`, which returns the same one each time.
  func find(lazily bean: Node) { note("lazily \(bean.name)") }

  /// Returns the text for a value that is handed over.
  func take(_ given: Given) -> String {
    switch given {
    case .bean(let bean): bean.map(take) ?? "nil"
    case .beans(let beans): "[" + beans.map(take).joined(separator: " ") + "]"
    case .provider: "provider"
    case .lazy: "lazy"
    case .owned(let get, _): "owned " + ((try? get()).map(take) ?? "released")
    case .seed(let number): "seed \(number)"
    case .environment(let environment): "environment \(environments[ObjectIdentifier(environment)] ?? -1)"
    }
  }

  private func take(_ bean: Node) -> String {
    if bean.isPrototype && !bean.isKept && bean.isTaken { note("\(bean.name) is handed out twice") }
    if bean.declaration != bean.owner { note("\(bean.name) of d\(bean.owner) is set by d\(bean.declaration)") }
    bean.isTaken = true
    return bean.name
  }
}

/// The error of a factory whose declaration plans a failure.
struct PlannedFailure: Error {}

/// One value that a factory received, or a lookup found.
enum Given {
  case bean(Node?)
  case beans([Node])
  case provider(() throws -> Node)
  case lazy(() throws -> Node)
  case owned(get: () throws -> Node, release: () throws -> Void)
  case seed(Int)
  case environment(Environment)
}

class Node: Bean, DisposableBean {
  /// The declaration whose factory has created the bean.
  let factory: Int
  /// The declaration of the bean, set by the container; for decorators and products, by their factories.
  fileprivate(set) var declaration = 0
  /// The declaration that has completed the bean.
  fileprivate(set) var owner = 0
  private(set) var name = "?"
  private(set) var given: [Given]
  fileprivate var isTaken = false
  fileprivate var isPrototype = false
  /// The position in the order of creation of its operation, if it is a prototype.
  fileprivate var position = 0
  /// Whether it is a prototype that a slot or a scope keeps.
  fileprivate var isKept = false
  /// The bean that it decorates.
  fileprivate private(set) var decorated: Node?
  fileprivate let recorder: Recorder

  required init(_ recorder: Recorder, _ factory: Int, _ given: [Given]) {
    self.recorder = recorder
    self.factory = factory
    self.given = given
    recorder.live += 1
  }

  /// Sets the declaration if the container cannot.
  func belong(to declaration: Int, around inner: Given? = nil) {
    self.declaration = declaration
    if case .bean(let inner)? = inner { decorated = inner }
  }

  func postConstruct() {
    if name != "?" { recorder.note("\(name) is completed again") }
    name = recorder.name(self)
    owner = declaration
    // An environment that its own beans hold would not be deallocated with its last outer reference.
    given.removeAll { if case .environment = $0 { true } else { false } }
  }

  func preDestroy() { recorder.note("\(name) is released") }

  deinit { recorder.live -= 1 }
}

/// A factory bean.
final class Mill: Node, FactoryBean {
  /// Makes the product from the arguments of the factory bean.
  var make: (([Given]) throws -> Node)?

  func create() throws -> AnyObject { try make!(given) }
}

protocol Red {}
protocol Green {}
protocol Blue {}
class Animal: Node {}
class Cat: Animal, Red {}
final class Lion: Cat {}
final class Dog: Animal, Green {}
final class Ash: Node, Red {}
final class Beech: Node, Red, Green {}
final class Cedar: Node, Green {}
final class Elm: Node, Blue {}
final class Fir: Node, Blue, Red {}
final class Gum: Node {}
final class Holly: Node {}
final class Ivy: Node {}
final class Juniper: Node {}
final class Larch: Node {}
final class Maple: Node {}
final class Oak: Node {}

/// The seeds of the scopes.
struct Tenant { let number: Int }
struct Session { let number: Int }
struct Request { let number: Int }
struct Job { let number: Int }

// MARK: - types

/// A form in which a parameter or a lookup requests a type.
protocol Asked: SendableMetatype {
  associatedtype Value
  static func given(_ value: Value) -> Given
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given
}

enum One<T>: Asked {
  static func given(_ value: T) -> Given { .bean((value as! Node)) }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    given(try environment.getBean(T.self, byId: id))
  }
}

enum Maybe<T>: Asked {
  static func given(_ value: T?) -> Given { .bean(value.map { $0 as! Node }) }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    given(try environment.getBean(T?.self, byId: id))
  }
}

enum All<T>: Asked {
  static func given(_ value: [T]) -> Given { .beans(value.map { $0 as! Node }) }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    given(try environment.getBeansByType(T.self))
  }
}

enum Later<T>: Asked {
  static func given(_ value: Provider<T>) -> Given { .provider { try value.get() as! Node } }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    .bean((try environment.getBean(Provider<T>.self).get() as! Node))
  }
}

enum Deferred<T>: Asked {
  static func given(_ value: Lazy<T>) -> Given { .lazy { try value.get() as! Node } }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    .bean((try environment.getBean(Lazy<T>.self, byId: id).get() as! Node))
  }
}

enum Own<T>: Asked {
  static func given(_ value: Owned<T>) -> Given {
    func release() throws { try value.release() }
    return .owned(get: { try value.get() as! Node }, release: release)
  }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    given(try environment.getBean(Owned<T>.self, byId: id))
  }
}

enum SeedOf<T>: Asked {
  static func given(_ value: T) -> Given {
    switch value {
    case let seed as Tenant: .seed(seed.number)
    case let seed as Session: .seed(seed.number)
    case let seed as Request: .seed(seed.number)
    case let seed as Job: .seed(seed.number)
    default: .bean(nil)
    }
  }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    given(try environment.getBean(T.self))
  }
}

enum Around: Asked {
  static func given(_ value: Environment) -> Given { .environment(value) }
  static func lookup(_ environment: Environment, _ id: String?) throws -> Given {
    given(try environment.getBean(Environment.self))
  }
}

/// One type in all its forms.
struct Forms: Sendable {
  let type: Any.Type
  let forms: [Parameter.Form: any Asked.Type]

  init<T>(_ type: T.Type) {
    self.type = type
    forms = [
      .one: One<T>.self, .optional: Maybe<T>.self, .all: All<T>.self, .provider: Later<T>.self, .owned: Own<T>.self,
      .lazy: Deferred<T>.self,
    ]
  }
}

extension Kind {
  private static let types: [Forms] = [
    Forms(Animal.self), Forms(Cat.self), Forms(Lion.self), Forms(Dog.self), Forms(Ash.self), Forms(Beech.self),
    Forms(Cedar.self), Forms(Elm.self), Forms(Fir.self), Forms(Gum.self), Forms(Holly.self), Forms(Ivy.self),
    Forms(Juniper.self), Forms(Larch.self), Forms(Maple.self), Forms(Oak.self),
    Forms((any Red).self), Forms((any Green).self), Forms((any Blue).self), Forms(Mill.self),
  ]

  private static let constructors: [Node.Type] = [
    Animal.self, Cat.self, Lion.self, Dog.self, Ash.self, Beech.self, Cedar.self, Elm.self, Fir.self, Gum.self,
    Holly.self, Ivy.self, Juniper.self, Larch.self, Maple.self, Oak.self,
  ]

  var type: Any.Type { Kind.types[rawValue].type }

  /// Returns a new object of the kind.
  func make(_ recorder: Recorder, _ factory: Int, _ given: [Given]) -> Node {
    let type = self == .mill ? Mill.self : Kind.constructors[made.rawValue]
    return type.init(recorder, factory, given)
  }

  func asked(_ form: Parameter.Form) -> any Asked.Type { Kind.types[rawValue].forms[form]! }
}

extension Parameter.Wish {
  var asked: any Asked.Type {
    switch self {
    case .bean(let kind, let form): kind.asked(form)
    case .seed(.tenant): SeedOf<Tenant>.self
    case .seed(.session): SeedOf<Session>.self
    case .seed(.request): SeedOf<Request>.self
    case .seed(.job): SeedOf<Job>.self
    case .environment: Around.self
    }
  }
}
