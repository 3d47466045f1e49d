/// What a reference may get wrong on purpose, to prove that the comparison notices.
enum Mistake: CaseIterable {
  case releasesInOrderOfCreation, buildsSingletonsTwice, forgetsPrimary, ignoresEndOfScope
}

/// A deliberately naive container: no plan, everything is looked for when it is needed.
final class ReferenceContainer {
  private let scenario: Scenario
  private let rules: ReferenceRules
  private let mistake: Mistake?
  private var lines: [String] = []
  private var environments: [Place?] = []
  private var prototypeLines: [String] = []
  private var made = 0
  private let orders: [[Int]]
  /// Where the container has built a bean within the operation, by its declaration. The contract leaves the order of what
  /// does not depend on each other to the container; the reference follows it, where it may.
  private var rank: [Int: Int] = [:]
  private var calls: [Int: Int] = [:]

  /// An environment.
  private final class Place {
    enum State {
      case new, started, finished
      case failed([Fault])
    }

    let number: Int
    let level: Int
    let parent: Place?
    /// Those that have started.
    var children: [Place] = []
    var state = State.new
    var beans: [Int: Object] = [:]
    /// The scope that the environment has registered.
    var scope: OwnScope?
    var log: [Object] = []
    var created = 0
    var released = 0

    init(_ number: Int, _ level: Int, _ parent: Place?) {
      self.number = number
      self.level = level
      self.parent = parent
    }

    var isUnusable: Bool {
      switch state {
      case .failed, .finished: true
      case .new, .started: false
      }
    }
    var isFinished: Bool { if case .finished = state { true } else { parent?.isFinished ?? false } }
    var isEnded: Bool { if case .finished = state { true } else { false } }
    var chain: [Place] { [self] + (parent?.chain ?? []) }
    var subtree: [Place] { [self] + children.flatMap(\.subtree) }
  }

  /// A scope that is registered, and keeps what it has been asked for.
  private final class OwnScope {
    var isFinished = false
    var kept: [(bean: ReferenceBean, object: Object, home: Place)] = []
  }

  private final class Object {
    let name: String
    let given: [Value]
    init(_ name: String, _ given: [Value]) {
      self.name = name
      self.given = given
    }
  }

  private enum Value {
    case bean(Object?)
    case beans([Object])
    case provider(Kind, String?, Place)
    case seed(Int)
    case environment(Int)

    var text: String {
      switch self {
      case .bean(let bean): bean?.name ?? "nil"
      case .beans(let beans): "[" + beans.map(\.name).joined(separator: " ") + "]"
      case .provider: "provider"
      case .seed(let number): "seed \(number)"
      case .environment(let number): "environment \(number)"
      }
    }
  }

  private struct Faults: Error { let faults: [Fault] }

  private init(_ scenario: Scenario, _ orders: [[Int]], _ mistake: Mistake?) {
    self.orders = orders
    self.scenario = scenario
    self.mistake = mistake
    var scenario = scenario
    if mistake == .forgetsPrimary {
      for level in scenario.levels.indices {
        for index in scenario.levels[level].declarations.indices {
          scenario.levels[level].declarations[index].isPrimary = false
        }
      }
    }
    rules = ReferenceRules(scenario)
  }

  /// What the scenario has to lead to, line by line.
  static func run(_ scenario: Scenario, orders: [[Int]], mistake: Mistake? = nil) -> [String] {
    let reference = ReferenceContainer(scenario, orders, mistake)
    reference.runAll()
    return reference.lines
  }

  private func runAll() {
    open(level: 0, parent: nil, starts: false)
    for (index, operation) in scenario.operations.enumerated() {
      begin("operation \(index)", index + 1)
      run(operation)
    }
    begin("end", orders.count - 1)
    let root = environments[0]!
    finish(root)
    let groups = Dictionary(grouping: root.subtree) { name(of: $0) }
    for (name, places) in groups.sorted(by: { $0.key < $1.key }) {
      let (created, released) = (places.reduce(0) { $0 + $1.created }, places.reduce(0) { $0 + $1.released })
      lines.append(
        "\(name): opened \(places.count) finished \(places.count) created \(created) released \(released)")
    }
    lines.append("0 alive")
    letGo()
  }

  /// Parents and children hold each other, and so do environments and beans with providers.
  private func letGo() {
    for place in environments.compactMap({ $0 }) {
      (place.children, place.beans, place.log, place.scope) = ([], [:], [], nil)
    }
  }

  private func begin(_ operation: String, _ index: Int) {
    Outcome.end(&lines, &prototypeLines)
    lines.append(operation)
    rank = [:]
    for (position, declaration) in (index < orders.count ? orders[index] : []).enumerated() {
      rank[declaration] = position
    }
  }

  private func name(of place: Place) -> String {
    scenario.levels[place.level].scope?.rawValue ?? "level \(place.level)"
  }

  // MARK: operations

  private func run(_ operation: Operation) {
    switch operation {
    case .start(let number):
      guard let place = environments[number] else { return }
      attempt { try use(place) }
    case .open(let level, let parent, let starts):
      open(level: level, parent: parent, starts: starts)
    case .lookup(let number, let lookup):
      guard let place = environments[number] else { return }
      attempt { try look(lookup, place) }
    case .finish(let number), .shutdown(let number):
      if let place = environments[number] { finish(place) }
    case .finishScope(let number):
      if let scope = environments[number]?.scope { finish(scope) }
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch let faults as Faults {
      lines.append(Fault.text(faults.faults))
    } catch let faults as FaultAlternatives {
      lines.append(Fault.text(oneOf: faults.faults))
    } catch let fault as Fault {
      lines.append(Fault.text([fault]))
    } catch { lines.append("unexpected \(error)") }
  }

  private func open(level: Int, parent: Int?, starts: Bool) {
    let outer = parent.flatMap { environments[$0] }
    environments.append(nil)
    if parent != nil && outer == nil { return }
    let place = Place(environments.count - 1, level, outer)
    if scenario.levels[level].registersScope { place.scope = OwnScope() }
    attempt {
      // A child of what cannot be used is not even made.
      if let outer, scenario.levels[level].scope != nil || outer.isUnusable { try use(outer) }
      environments[place.number] = place
      if scenario.levels[level].scope != nil {
        place.state = .started
        outer?.children.append(place)
      }
      if starts { try use(place) }
    }
  }

  private func look(_ lookup: Lookup, _ place: Place) throws {
    try use(place)
    let value: Value
    switch lookup.form {
    case .one: value = .bean(try instance(try rules.select(lookup.kind, lookup.id, from: place.level), place))
    case .provider:
      try rules.check(provider: lookup.kind, lookup.id, from: place.level)
      value = .bean(try provided(lookup.kind, lookup.id, place, lookup.current))
    case .optional: value = .bean(try optional(lookup.kind, lookup.id, place))
    case .all: value = .beans(try instances(rules.all(lookup.kind, from: place.level), place))
    }
    lines.append("found \(value.text)")
    guard lookup.callsProviders, case .bean(let bean?) = value else { return }
    for case .provider(let kind, let id, let home) in bean.given {
      attempt { lines.append("provided \(try provided(kind, id, home, lookup.current).name)") }
    }
  }

  /// What a provider gives that was injected for an environment.
  private func provided(_ kind: Kind, _ id: String?, _ home: Place, _ current: Int?) throws -> Object {
    let current = current.flatMap { environments[$0] }
    let place = current?.chain.contains { $0 === home } == true ? current! : home
    try use(place)
    return try instance(try rules.find(kind, id, from: place.level), place)
  }

  private func optional(_ kind: Kind, _ id: String?, _ place: Place) throws -> Object? {
    let bean: ReferenceBean
    do { bean = try rules.select(kind, id, from: place.level) } catch {
      if error.code == "unknownBean" { return nil }
      throw error
    }
    return try instance(bean, place)
  }

  // MARK: life

  /// Starts the environment where that is still to be done; throws where it cannot be used.
  private func use(_ place: Place) throws {
    if case .failed(let faults) = place.state { throw Faults(faults: faults) }
    // One that has never been started says what the nearest around it says that cannot be used.
    if case .new = place.state {} else if place.isFinished { throw Fault(code: "finished", declaration: nil) }
    if case .started = place.state { return }
    do {
      if let parent = place.parent { try use(parent) }
      let faults = rules.faults(of: place.level)
      if !faults.isEmpty { throw Faults(faults: Array(faults)) }
      place.parent?.children.append(place)
      place.state = .started
      _ = try instances(rules.beans[place.level].filter { $0.scope == nil && !$0.isLazy }, place)
    } catch {
      release(place)
      let several = (error as? Faults)?.faults ?? (error as? FaultAlternatives)?.faults
      place.state = .failed(several ?? [error as! Fault])
      throw error
    }
  }

  private func finish(_ place: Place) {
    guard !place.isEnded else { return }
    for child in place.children.reversed() { finish(child) }
    if case .failed = place.state {} else { place.state = .finished }
    release(place)
  }

  private func release(_ place: Place) {
    let order = mistake == .releasesInOrderOfCreation ? place.log : place.log.reversed()
    for object in order { lines.append("\(object.name) is released") }
    place.released += place.log.count
    (place.log, place.beans) = ([], [:])
    place.scope?.isFinished = true
    for place in place.chain { place.scope?.kept.removeAll { kept in order.contains { $0 === kept.object } } }
  }

  /// Releases what the scope keeps, wherever it was built.
  private func finish(_ scope: OwnScope) {
    if mistake == .ignoresEndOfScope { return }
    scope.isFinished = true
    while let (_, object, home) = scope.kept.popLast() {
      lines.append("\(object.name) is released")
      home.released += 1
      home.log.removeAll { $0 === object }
    }
  }

  // MARK: building

  /// The beans as an environment gets them.
  private func instances(_ beans: [ReferenceBean], _ asking: Place) throws -> [Object] {
    var missing: [Missing] = []
    var seen: Set<[Int]> = []
    for bean in beans { collect(bean, asking, &missing, &seen) }
    for next in missing.filter({ $0.rank != nil }).sorted(by: { $0.rank! < $1.rank! }) {
      _ = try made(next.bean, next.home)
    }
    if let closed = beans.first(where: { rules.place($0, from: asking.level) == nil }) {
      throw Fault(code: "scopeNotActive", declaration: closed.number)
    }
    for bean in beans where bean.isOfOwnScope {
      if let inactive = rules.inactive(bean, asking.level) {
        throw Fault(code: "scopeNotActive", declaration: inactive.holder)
      }
    }
    for bean in beans where bean.isPrototype {
      let faults = rules.faults(ofPrototype: bean, from: asking.level)
      // Its own faults come before those of what it takes, and what is not found before what is not open and circles.
      let own = faults.filter { $0.declaration == bean.number }
      func isLast(_ fault: Fault) -> Bool { ["scopeNotActive", "cyclicDependency"].contains(fault.code) }
      let ordered = [own, faults].flatMap { group in group.filter { !isLast($0) } + group.filter(isLast) }
      guard let first = ordered.first else { continue }
      // Which of these two the container meets first depends on the way to them: no contract says which.
      throw isLast(first) ? FaultAlternatives(faults: faults.filter(isLast)) : first
    }
    return try beans.map { try made($0, home(of: $0, from: asking)!) }
  }

  /// The scope that keeps a bean of an environment; nil where that is the environment itself.
  private func ownScope(of bean: ReferenceBean, _ home: Place) -> OwnScope? {
    bean.isOfOwnScope ? home.chain.lazy.compactMap(\.scope).first : nil
  }

  /// What is there already of a bean. Children of a factory have their declarations in common, and so what a scope further
  /// out keeps of them.
  private func existing(_ bean: ReferenceBean, _ home: Place) -> Object? {
    guard let scope = ownScope(of: bean, home) else { return home.beans[bean.number] }
    return scope.kept.first { $0.bean === bean && owner(of: $0.home) === owner(of: home) }?.object
  }

  /// The environment made by hand in whose declarations those of an environment are.
  private func owner(of place: Place) -> Place { place.chain.first { scenario.levels[$0.level].scope == nil }! }

  private func instance(_ bean: ReferenceBean, _ asking: Place) throws -> Object { try instances([bean], asking)[0] }

  private func home(of bean: ReferenceBean, from asking: Place) -> Place? {
    rules.place(bean, from: asking.level).flatMap { level in asking.chain.first { $0.level == level } }
  }

  private struct Missing {
    let bean: ReferenceBean
    let home: Place
    let rank: Int?
  }

  /// Collects what has to be built for a bean and is not there.
  private func collect(
    _ bean: ReferenceBean, _ asking: Place, _ missing: inout [Missing], _ seen: inout Set<[Int]>
  ) {
    guard let home = home(of: bean, from: asking), existing(bean, home) == nil,
      seen.insert([bean.number, home.number]).inserted
    else { return }
    if !bean.isPrototype {
      missing.append(Missing(bean: bean, home: home, rank: rank[bean.number] ?? rank[-bean.factory.number]))
    }
    for need in bean.needs {
      for target in (try? rules.targets(of: need, from: home.level)) ?? [] { collect(target, home, &missing, &seen) }
    }
  }

  /// The bean in the environment that it belongs to.
  private func made(_ bean: ReferenceBean, _ home: Place) throws -> Object {
    let scope = ownScope(of: bean, home)
    if scope?.isFinished == true { throw Fault(code: "finished", declaration: nil) }
    if let object = existing(bean, home), mistake != .buildsSingletonsTwice { return object }
    let given = try given(to: bean, home)
    let factory = bean.factory
    calls[factory.number, default: 0] += 1
    if calls[factory.number]! <= factory.failures {
      lines.append("d\(factory.number) throws")
      throw Fault(code: "creationFailed", declaration: factory.number)
    }
    let text = given.map { " \($0.text)" }.joined()
    if bean.isPrototype {
      let name = "d\(bean.number){\(text)}"
      prototypeLines.append(name + " by d\(factory.number)")
      return Object(name, given)
    }
    made += 1
    lines.append("#\(made) is d\(bean.number) by d\(factory.number)\(text)")
    let object = Object("#\(made)", given)
    home.log.append(object)
    home.created += 1
    if let scope {
      scope.kept.append((bean, object, home))
    } else {
      home.beans[bean.number] = object
    }
    return object
  }

  private func given(to bean: ReferenceBean, _ home: Place) throws -> [Value] {
    do {
      for requirement in bean.requirements {
        _ = try instances(rules.targets(of: .requirement(requirement), from: home.level), home)
      }
      return try bean.parameters.map { try value($0, home) }
    } catch let fault as Fault where fault.code == "finished" && fault.declaration == nil {
      // That a scope has ended is told of what needs its bean.
      throw Fault(code: fault.code, declaration: bean.number)
    }
  }

  private func value(_ parameter: Parameter, _ home: Place) throws -> Value {
    switch parameter.wish {
    case .environment: return .environment(home.number)
    case .seed(let scope): return .seed(home.chain.first { scenario.levels[$0.level].scope == scope }!.number)
    case .bean(let kind, .provider): return .provider(kind, parameter.reference, home)
    case .bean(_, let form):
      let objects = try instances(rules.targets(of: .parameter(parameter), from: home.level), home)
      return form == .all ? .beans(objects) : .bean(objects.first)
    }
  }
}
