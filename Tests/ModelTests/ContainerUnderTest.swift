import Beans

/// The file of all declarations, whose lines are their numbers: a fault with another place is one of a call.
private let declarationFile: StaticString = "d"

/// A factory of any seed.
private enum Opener {
  case tenant(EnvironmentFactory<Tenant>)
  case session(EnvironmentFactory<Session>)
  case request(EnvironmentFactory<Request>)
  case job(EnvironmentFactory<Job>)

  init(_ scope: Scope, in environment: Environment, _ configure: (Environment) throws -> Void) throws {
    let name = scope.rawValue
    switch scope {
    case .tenant: self = .tenant(try environment.childFactory(name, seed: Tenant.self, configure: configure))
    case .session: self = .session(try environment.childFactory(name, seed: Session.self, configure: configure))
    case .request: self = .request(try environment.childFactory(name, seed: Request.self, configure: configure))
    case .job: self = .job(try environment.childFactory(name, seed: Job.self, configure: configure))
    }
  }

  init(_ scope: Scope, in outer: Opener, _ configure: (Environment) throws -> Void) throws {
    func nest<Seed>(_ outer: EnvironmentFactory<Seed>) throws -> Opener {
      let name = scope.rawValue
      switch scope {
      case .tenant: return .tenant(try outer.childFactory(name, seed: Tenant.self, configure: configure))
      case .session: return .session(try outer.childFactory(name, seed: Session.self, configure: configure))
      case .request: return .request(try outer.childFactory(name, seed: Request.self, configure: configure))
      case .job: return .job(try outer.childFactory(name, seed: Job.self, configure: configure))
      }
    }
    switch outer {
    case .tenant(let factory): self = try nest(factory)
    case .session(let factory): self = try nest(factory)
    case .request(let factory): self = try nest(factory)
    case .job(let factory): self = try nest(factory)
    }
  }

  func build(_ number: Int, in parent: Environment) throws -> Environment {
    switch self {
    case .tenant(let factory): try factory.build(Tenant(number: number), in: parent)
    case .session(let factory): try factory.build(Session(number: number), in: parent)
    case .request(let factory): try factory.build(Request(number: number), in: parent)
    case .job(let factory): try factory.build(Job(number: number), in: parent)
    }
  }
}

/// Runs a scenario in the container.
struct ContainerUnderTest {
  let scenario: Scenario
  private let recorder: Recorder
  private var environments: [Opened?] = []

  private struct Opened {
    let environment: Environment
    let level: Int
    /// The environment created by hand that declares this one's factory, or this one.
    let owner: Int
    var openers: [Int: Opener] = [:]
    var scope: AbstractBeanScope?
    /// The ready instances that have been declared here and further out.
    var instances: [Int: Node] = [:]
  }

  private init(_ scenario: Scenario) {
    self.scenario = scenario
    recorder = Recorder(scenario)
  }

  /// Runs the scenario, and returns its outcome.
  static func run(_ scenario: Scenario) -> Outcome {
    var container = ContainerUnderTest(scenario)
    let recorder = container.recorder
    container.runAll()
    container.environments = []
    recorder.note("\(recorder.live) alive")
    return recorder.outcome
  }

  private mutating func runAll() {
    open(level: 0, parent: nil, starts: false)
    for (index, operation) in scenario.operations.enumerated() {
      recorder.begin("operation \(index)")
      run(operation)
    }
    guard let root = environments.first ?? nil else { return }
    recorder.begin("end")
    attempt { try root.environment.shutdown() }
    for count in root.environment.statistics().sorted(by: { $0.scope < $1.scope }) {
      recorder.note(
        "\(count.scope): opened \(count.opened) finished \(count.finished) "
          + "created \(count.created) released \(count.released)")
    }
  }

  private mutating func run(_ operation: Operation) {
    switch operation {
    case .start(let number):
      guard let opened = environments[number] else { return }
      attempt { try opened.environment.startup() }
    case .open(let level, let parent, let starts):
      open(level: level, parent: parent, starts: starts)
    case .lookup(let number, let lookup):
      guard let opened = environments[number] else { return }
      let current = lookup.current.flatMap { environments[$0]?.environment }
      Environment.$current.withValue(current) {
        attempt { try look(lookup, in: opened.environment) }
      }
    case .finish(let number):
      environments[number]?.environment.finish()
    case .shutdown(let number):
      guard let opened = environments[number] else { return }
      attempt { try opened.environment.shutdown() }
    case .finishScope(let number): environments[number]?.scope?.finish()
    }
  }

  private func look(_ lookup: Lookup, in environment: Environment) throws {
    let found = try lookup.kind.asked(lookup.form).lookup(environment, lookup.id)
    recorder.find("found", found)
    if lookup.givesBack { giveBack(found) }
    guard lookup.callsProviders, case .bean(let bean?) = found else { return }
    for value in bean.given {
      switch value {
      case .provider(let get): attempt { recorder.find("provided", .bean(try get())) }
      case .lazy(let get): attempt { recorder.find(lazily: try get()) }
      case .bean, .beans, .owned, .seed, .environment: break
      }
    }
  }

  /// Releases a bean that is owned, or all beans that a bean owns.
  private func giveBack(_ found: Given) {
    switch found {
    case .owned(_, let release): attempt(release)
    case .bean(let bean?): for case .owned(_, let release) in bean.given { attempt(release) }
    case .bean, .beans, .provider, .lazy, .seed, .environment: break
    }
  }

  /// Notes the error that the body throws.
  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch let error as EnvironmentError {
      let faults = error.code == .startupFailed ? error.underlying.map { $0 as! EnvironmentError } : [error]
      recorder.note(Fault.text(faults.map(fault)))
    } catch { recorder.note("unexpected \(error)") }
  }

  private func fault(_ error: EnvironmentError) -> Fault {
    let origin = error.origin.flatMap { $0.file == "\(declarationFile)" ? $0 : nil }
    return recorder.fault(error.code.description, line: origin?.line)
  }

  private mutating func open(level: Int, parent: Int?, starts: Bool) {
    let outer = parent.flatMap { environments[$0] }
    environments.append(nil)
    if parent != nil && outer == nil { return }
    let number = environments.count - 1
    var opened: Opened?
    attempt {
      opened = try make(number, level: level, outer: outer)
      if starts || outer?.environment.isFinished == true { try opened?.environment.startup() }
    }
    environments[number] = opened
  }

  private func make(_ number: Int, level: Int, outer: Opened?) throws -> Opened {
    if scenario.levels[level].scope != nil, let outer {
      let opener = environments[outer.owner]!.openers[level]!
      let opened = Opened(
        environment: try opener.build(number, in: outer.environment), level: level, owner: outer.owner,
        instances: outer.instances)
      recorder.add(opened.environment, number)
      return opened
    }
    let environment = try Environment(name: "level \(level)", parent: outer?.environment)
    recorder.add(environment, number)
    var opened = Opened(environment: environment, level: level, owner: number)
    if scenario.levels[level].registersScope {
      let scope = AbstractBeanScope(name: Level.ownScope)
      opened.scope = scope
      try environment.registerScope(scope)
    }
    opened.instances = outer?.instances ?? [:]
    for declaration in scenario.levels[level].declarations {
      if case .instance(let number) = declaration.role, opened.instances[number] == nil {
        opened.instances[number] = declaration.kind!.make(recorder, number, [])
      }
      try define(declaration, in: environment, opened.instances)
    }
    for inner in scenario.family(of: level).dropFirst() {
      let declared = scenario.levels[inner]
      let configure: (Environment) throws -> Void = { child in
        for declaration in declared.declarations { try define(declaration, in: child, [:]) }
      }
      if declared.parent == level {
        opened.openers[inner] = try Opener(declared.scope!, in: environment, configure)
      } else {
        opened.openers[inner] = try Opener(declared.scope!, in: opened.openers[declared.parent!]!, configure)
      }
    }
    return opened
  }

  // MARK: declaring

  private func define(
    _ declaration: Declaration, in environment: Environment, _ instances: [Int: Node]
  ) throws {
    let bean = bean(declaration, environment, instances)
    if !declaration.isAbstract, !declaration.isDecorator,
      declaration.kind?.isProtocol != true || declaration.isFactoryBean
    {
      bean.property("declaration", value: declaration.number)
    }
    if let id = declaration.id { bean.id(id) }
    if let template = declaration.template { bean.parent(template) }
    if declaration.isAbstract { bean.abstract() } else if declaration.kind == nil { bean.abstract(false) }
    if declaration.isLazy { bean.lazy() }
    if declaration.isPrimary { bean.primary() }
    if let scope = declaration.scope { bean.scope(scope) }
    for (index, parameter) in (declaration.parameters ?? []).enumerated() {
      let index = declaration.isDecorator ? index + 1 : index
      if let reference = parameter.reference { bean.argument(index, ref: reference) }
    }
    for requirement in declaration.requirements {
      switch requirement {
      case .id(let id): bean.requires(id: id)
      case .kind(let kind): bean.requires(kind.type)
      }
    }
    if declaration.isFactoryBean, let target = declaration.kind?.type { _ = bean.target(target) }
    try environment.define(bean)
  }

  private func bean(
    _ declaration: Declaration, _ environment: Environment, _ instances: [Int: Node]
  ) -> BeanDeclaration {
    let making = Making(recorder: recorder, declaration: declaration)
    guard let kind = declaration.kind else {
      return environment.template(declaration.id ?? "", file: declarationFile, line: making.line)
    }
    if case .instance(let number) = declaration.role {
      return making.completed(environment.bean(instances[number]!, file: declarationFile, line: making.line))
    }
    let type = (declaration.isFactoryBean ? .mill : kind).asked(.one)
    guard let parameters = declaration.parameters else { return making.plain(type, environment) }
    let asked = parameters.map(\.wish.asked)
    if declaration.isDecorator { return making.decorator(type, asked[...], environment) }
    switch asked.count {
    case 0: return making.bean(type, environment)
    case 1: return making.bean(type, asked[0], environment)
    case 2: return making.bean(type, asked[0], asked[1], environment)
    default: return making.bean(type, asked[...], environment)
    }
  }
}

/// The factory of one declaration, for any parameters.
private struct Making: Sendable {
  let recorder: Recorder
  let declaration: Declaration
  var line: UInt { UInt(declaration.number) }

  private func make<T>(_ type: T.Type, _ given: [Given]) throws -> T { try make(given) as! T }

  private func make(_ given: [Given]) throws -> Node {
    let number = declaration.number
    try recorder.call(number, failures: declaration.failures, given)
    let kind = declaration.kind!
    switch declaration.role {
    case .forwarding, .decorator(returnsInner: true):
      return hand(on: given, by: number)
    case .decorator:
      let node = kind.make(recorder, number, given)
      node.belong(to: number, around: given[0])
      return node
    case .factoryBean(let returnsTaken):
      let mill = Mill(recorder, number, given)
      let product = ReferenceBean.product(of: number)
      mill.make = { [recorder] given in
        if returnsTaken { return hand(on: given, by: product) }
        let node = kind.make(recorder, number, [])
        node.belong(to: product)
        return node
      }
      return mill
    case .bean, .instance: return kind.make(recorder, number, given)
    }
  }

  private func hand(on given: [Given], by number: Int) -> Node {
    guard case .bean(let bean?) = given[0] else { return Node(recorder, number, []) }
    return recorder.hand(on: bean, given, by: number, isDecorator: declaration.isDecorator)
  }

  /// With the callbacks of the declaration.
  func completed<T>(_ bean: TypedBeanDeclaration<T>) -> BeanDeclaration {
    if !declaration.hasCallbacks { return bean }
    let (recorder, number) = (recorder, declaration.number)
    return
      bean
      .postConstruct { recorder.complete($0 as! Node, by: number) }
      .onDestroy { recorder.note("d\(number) lets go of \(($0 as! Node).name)") }
  }

  func plain<K: Asked>(_: K.Type, _ environment: Environment) -> BeanDeclaration {
    completed(environment.bean(K.Value.self, file: declarationFile, line: line))
  }

  func bean<K: Asked>(_: K.Type, _ environment: Environment) -> BeanDeclaration {
    completed(
      environment.bean(K.Value.self, file: declarationFile, line: line, factory: { try make(K.Value.self, []) }))
  }

  func bean<K: Asked, A: Asked>(_: K.Type, _: A.Type, _ environment: Environment) -> BeanDeclaration {
    completed(
      environment.bean(
        K.Value.self, file: declarationFile, line: line,
        factory: { (a: A.Value) in try make(K.Value.self, [A.given(a)]) }))
  }

  func bean<K: Asked, A: Asked, B: Asked>(
    _: K.Type, _: A.Type, _: B.Type, _ environment: Environment
  ) -> BeanDeclaration {
    completed(
      environment.bean(
        K.Value.self, file: declarationFile, line: line,
        factory: { (a: A.Value, b: B.Value) in try make(K.Value.self, [A.given(a), B.given(b)]) }))
  }

  /// Three and more parameters are gathered one by one, and declared by the form for any number of them.
  func bean<K: Asked, each V>(
    _ type: K.Type, _ rest: ArraySlice<any Asked.Type>, _ environment: Environment,
    _ gathered: repeat @escaping @Sendable (each V) -> Given
  ) -> BeanDeclaration {
    if let next = rest.first { return bean(type, next, rest.dropFirst(), environment, repeat each gathered) }
    return completed(
      environment.bean(
        K.Value.self, file: declarationFile, line: line,
        factory: { (values: repeat each V) in
          var given: [Given] = []
          for one in repeat (each gathered)(each values) { given.append(one) }
          return try make(K.Value.self, given)
        }))
  }

  private func bean<K: Asked, Next: Asked, each V>(
    _ type: K.Type, _ next: Next.Type, _ rest: ArraySlice<any Asked.Type>, _ environment: Environment,
    _ gathered: repeat @escaping @Sendable (each V) -> Given
  ) -> BeanDeclaration {
    bean(type, rest, environment, repeat each gathered, { @Sendable (value: Next.Value) -> Given in Next.given(value) })
  }

  /// Parameters beside the decorated bean are gathered one by one.
  func decorator<K: Asked, each V>(
    _ type: K.Type, _ rest: ArraySlice<any Asked.Type>, _ environment: Environment,
    _ gathered: repeat @escaping @Sendable (each V) -> Given
  ) -> BeanDeclaration {
    if let next = rest.first { return decorator(type, next, rest.dropFirst(), environment, repeat each gathered) }
    return completed(
      environment.decorate(K.Value.self, file: declarationFile, line: line) {
        (inner: K.Value, values: repeat each V) in
        var given = [K.given(inner)]
        for one in repeat (each gathered)(each values) { given.append(one) }
        return try make(K.Value.self, given)
      })
  }

  private func decorator<K: Asked, Next: Asked, each V>(
    _ type: K.Type, _ next: Next.Type, _ rest: ArraySlice<any Asked.Type>, _ environment: Environment,
    _ gathered: repeat @escaping @Sendable (each V) -> Given
  ) -> BeanDeclaration {
    decorator(
      type, rest, environment, repeat each gathered, { @Sendable (value: Next.Value) -> Given in Next.given(value) })
  }
}
