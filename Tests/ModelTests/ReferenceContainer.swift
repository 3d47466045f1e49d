/// A deliberate error of the reference, to prove that the comparison finds it.
enum Mistake: CaseIterable {
  case releasesInOrderOfCreation, buildsSingletonsTwice, forgetsPrimary, ignoresEndOfScope
  case ownsFaces, ownsBeanAlone
}

/// A deliberately naive container: it has no plan and looks up each bean when it is needed.
final class ReferenceContainer {
  private let scenario: Scenario
  private let rules: ReferenceRules
  private let mistake: Mistake?
  private var lines: [String] = []
  private var environments: [Place?] = []
  private var prototypeLines: [String] = []
  private var made = 0
  private let orders: [[Outcome.Creation]]
  /// The beans that the container has built within the operation. The contract leaves the order of independent beans
  /// to the container; the reference follows it, if it may.
  private var order: [Outcome.Creation] = []
  /// The position in that order, except for decorators.
  private var rank: [Outcome.Creation: Int] = [:]
  /// The positions of owned beans, for each bean that the container has found and the reference has not.
  private var found: ArraySlice<[Int]> = []
  /// The positions of decorators that the reference has built.
  private var followed: Set<Int> = []
  private var operation = 0
  private var position = 0
  private var choices: Choices
  private var calls: [Int: Int] = [:]
  /// The prototypes created for an `Owned` so far; nil outside of one.
  private var forOwner: [Part]?

  /// An environment.
  private final class Place {
    enum State {
      case new, started, finished
      case failed([Fault])
    }

    let number: Int
    let level: Int
    let parent: Place?
    /// The children that have started.
    var children: [Place] = []
    var state = State.new
    var beans: [Int: Object] = [:]
    /// The scope that the environment has registered.
    var scope: OwnScope?
    var log: [Tracked] = []
    /// The ready instances that have been declared here and further out.
    var instances: [Int: Object] = [:]
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

  /// A registered scope, which keeps the beans requested from it.
  private final class OwnScope {
    var isFinished = false
    /// The beans that the scope keeps; untracked if the object is another bean's.
    var kept: [(bean: ReferenceBean, object: Object, home: Place, tracked: Tracked?)] = []
  }

  private final class Object {
    var name: String
    let given: [Value]
    /// Whether a slot or a scope keeps it.
    var isKept = false
    let isPrototype: Bool
    init(_ name: String, _ given: [Value], isPrototype: Bool = false) {
      self.name = name
      self.given = given
      self.isPrototype = isPrototype
    }
  }

  /// An entry of the creation log: a bean, or all beans that a taker owns by one `Owned`.
  private final class Tracked {
    /// The operation, and the position in its order of creation.
    let operation: Int
    var position: Int
    /// The parts in order of creation.
    let parts: [Part]
    let home: Place
    let isOwned: Bool

    init(
      _ parts: [Part], in home: Place, _ operation: Int, _ position: Int, isOwned: Bool = false
    ) {
      (self.parts, self.home, self.isOwned) = (parts, home, isOwned)
      (self.operation, self.position) = (operation, position)
    }
  }

  /// A part of an entry of the creation log.
  private enum Part {
    /// An object, with the bean whose declaration releases it.
    case object(Object, ReferenceBean)
    /// What a bean owns in turn, an entry of its own.
    case owned(Tracked)
  }

  /// A bean that is built when it is first needed.
  private final class Deferred {
    let bean: ReferenceBean
    let asking: Place
    var object: Object?

    init(_ bean: ReferenceBean, _ asking: Place) { (self.bean, self.asking) = (bean, asking) }
  }

  private enum Value {
    case bean(Object?)
    case beans([Object])
    case provider(Kind, String?, Place)
    case lazy(Deferred)
    case owned(Object, Tracked)
    case seed(Int)
    case environment(Int)

    var text: String {
      switch self {
      case .bean(let bean): bean?.name ?? "nil"
      case .beans(let beans): "[" + beans.map(\.name).joined(separator: " ") + "]"
      case .provider: "provider"
      case .lazy: "lazy"
      case .owned(let bean, _): "owned \(bean.name)"
      case .seed(let number): "seed \(number)"
      case .environment(let number): "environment \(number)"
      }
    }
  }

  private struct Faults: Error { let faults: [Fault] }

  private init(_ scenario: Scenario, _ orders: [[Outcome.Creation]], _ mistake: Mistake?, _ choices: Choices) {
    self.choices = choices
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

  /// Returns the expected outcome of the scenario, line by line.
  static func run(
    _ scenario: Scenario, orders: [[Outcome.Creation]], mistake: Mistake? = nil, _ choices: inout Choices
  ) -> [String] {
    let reference = ReferenceContainer(scenario, orders, mistake, choices)
    reference.runAll()
    choices = reference.choices
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

  /// Breaks the reference cycles of parents and children, and of environments and beans with providers.
  private func letGo() {
    for place in environments.compactMap({ $0 }) {
      (place.children, place.beans, place.log, place.scope, place.instances) = ([], [:], [], nil, [:])
    }
  }

  private func begin(_ operation: String, _ index: Int) {
    Outcome.end(&lines, &prototypeLines)
    lines.append(operation)
    order = index < orders.count ? orders[index] : []
    rank = [:]
    followed = []
    found = []
    (self.operation, position) = (index, order.count)
    for (position, creation) in order.enumerated() {
      switch creation {
      case .found(let positions): found.append(positions)
      case .prototype, .owned: break
      case .made, .threw, .decorated: rank[creation] = position
      }
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
    place.instances = outer?.instances ?? [:]
    for case .instance(let number) in scenario.levels[level].declarations.map(\.role)
    where place.instances[number] == nil {
      place.instances[number] = Object("?", [])
    }
    attempt {
      // A child of an unusable environment is not created at all.
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
    case .one, .lazy: value = .bean(try instance(try rules.select(lookup.kind, lookup.id, from: place.level), place))
    case .provider:
      try rules.check(provider: lookup.kind, lookup.id, from: place.level)
      value = .bean(try provided(lookup.kind, lookup.id, place, lookup.current))
    case .optional: value = .bean(try optional(lookup.kind, lookup.id, place))
    case .owned:
      let parameter = Parameter(wish: .bean(lookup.kind, .owned), reference: lookup.id)
      value = try owned(rules.targets(of: .parameter(parameter), from: place.level)[0], place)
    case .all: value = .beans(try instances(rules.all(lookup.kind, from: place.level), place))
    }
    find("found", value)
    if lookup.givesBack {
      if case .owned(_, let tracked) = value { giveBack(tracked) }
      if case .bean(let bean?) = value { for case .owned(_, let tracked) in bean.given { giveBack(tracked) } }
    }
    guard lookup.callsProviders, case .bean(let bean?) = value else { return }
    for value in bean.given {
      switch value {
      case .provider(let kind, let id, let home):
        attempt { find("provided", .bean(try provided(kind, id, home, lookup.current))) }
      case .lazy(let deferred): attempt { lines.append("lazily \(try object(of: deferred).name)") }
      case .bean, .beans, .owned, .seed, .environment: break
      }
    }
  }

  /// Returns the object of a lazily taken bean, the same one each time.
  private func object(of deferred: Deferred) throws -> Object {
    if let object = deferred.object { return object }
    let object = try instance(deferred.bean, deferred.asking)
    deferred.object = object
    return object
  }

  private func find(_ word: String, _ value: Value) {
    lines.append("\(word) \(value.text)")
    if let positions = found.popFirst() { move(owned(by: [value]), to: positions) }
  }

  /// Returns the object of a provider that was injected for an environment.
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

  /// Starts the environment if it has not started; throws if it is unusable.
  private func use(_ place: Place) throws {
    if case .failed(let faults) = place.state { throw Faults(faults: faults) }
    // One that has never started has the error of the nearest unusable environment around it.
    if case .new = place.state {} else if place.isFinished { throw Fault(code: "finished", declaration: nil) }
    if case .started = place.state { return }
    do {
      if let parent = place.parent { try use(parent) }
      let faults = rules.faults(of: place.level)
      if !faults.isEmpty { throw Faults(faults: Array(faults)) }
      place.parent?.children.append(place)
      place.state = .started
      _ = try instances(rules.declared(in: place.level).filter { $0.scope == nil && !$0.isLazy }, place)
    } catch {
      release(place)
      place.state = .failed((error as? Faults)?.faults ?? [error as! Fault])
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
    for tracked in order { release(tracked) }
    (place.log, place.beans) = ([], [:])
    place.scope?.isFinished = true
    for outer in place.chain { outer.scope?.kept.removeAll { $0.home === place } }
  }

  /// Releases the objects of an entry, and what they own unless that is released in its own place.
  private func release(_ tracked: Tracked, withOwned: Bool = false) {
    for part in tracked.parts.reversed() {
      switch part {
      case .object(let object, let bean):
        lines.append("\(object.name) is released")
        if let callbacks = bean.callbacks { lines.append("d\(callbacks) lets go of \(object.name)") }
      case .owned(let owned): if withOwned { giveBack(owned) }
      }
    }
    if !tracked.isOwned { tracked.home.released += 1 }
  }

  private func giveBack(_ tracked: Tracked) {
    guard tracked.home.log.contains(where: { $0 === tracked }) else { return }
    tracked.home.log.removeAll { $0 === tracked }
    release(tracked, withOwned: true)
  }

  /// Releases the beans of the scope, in whichever environment they were built.
  private func finish(_ scope: OwnScope) {
    if mistake == .ignoresEndOfScope { return }
    scope.isFinished = true
    while let last = scope.kept.popLast() {
      if let tracked = last.tracked { giveBack(tracked) }
    }
  }

  // MARK: building

  /// Returns the beans as an environment gets them.
  private func instances(_ beans: [ReferenceBean], _ asking: Place) throws -> [Object] {
    var missing: [Missing] = []
    var seen: Set<[Int]> = []
    for bean in beans { collect(bean, asking, &missing, &seen) }
    try follow(order, missing)
    if let closed = beans.first(where: { rules.place($0, from: asking.level) == nil }) {
      throw Fault(code: "scopeNotActive", declaration: closed.line)
    }
    for bean in beans where bean.isOfOwnScope {
      if let inactive = rules.inactive(bean, asking.level) {
        throw Fault(code: "scopeNotActive", declaration: inactive.holder)
      }
    }
    for bean in beans where bean.isPrototype {
      let faults = rules.faults(ofPrototype: bean, from: asking.level)
      // The bean's own faults precede those of its dependencies; unknown beans precede inactive scopes.
      let own = faults.filter { $0.declaration == bean.line }
      func isLast(_ fault: Fault) -> Bool { fault.code == "scopeNotActive" }
      let ordered = [own, faults].flatMap { group in group.filter { !isLast($0) } + group.filter(isLast) }
      guard let first = ordered.first else { continue }
      // One of several beans may have been created before, with others that it owns.
      if beans.count > 1, rules.hasOwners { choices.isUndecided = true }
      throw first
    }
    return try beans.map { try made($0, home(of: $0, from: asking)!) }
  }

  /// Builds missing beans in the order in which the container has built them.
  private func follow(_ order: [Outcome.Creation], _ missing: [Missing]) throws {
    if missing.isEmpty { return }
    let ranked = Dictionary(grouping: missing) { next -> Int in
      rank[.made(next.bean.number)] ?? rank[.threw(declaration: next.bean.factory.number)] ?? -1
    }
    let decorators = missing.filter { if case .decorator = $0.bean.part { true } else { false } }
    let outer = position
    defer { position = outer }
    for (position, creation) in order.enumerated() {
      self.position = position
      for next in ranked[position] ?? [] { _ = try made(next.bean, next.home) }
      guard case .decorated(let declaration, let name) = creation, !followed.contains(position) else { continue }
      // No record identifies the first of several decorators around one object.
      let candidates = decorators.filter { next in
        guard next.bean.line == declaration, existing(next.bean, next.home) == nil,
          case .decorator(_, let inner) = next.bean.part
        else { return false }
        return foreseen(inner, next.home)?.name == name
      }
      if candidates.isEmpty { continue }
      followed.insert(position)
      let next = candidates[candidates.count == 1 ? 0 : choices.choose(candidates.count)]
      _ = try made(next.bean, next.home)
    }
  }

  /// Returns the object that a bean has, or will have: that of another bean.
  private func foreseen(_ bean: ReferenceBean, _ asking: Place) -> Object? {
    guard let home = home(of: bean, from: asking) else { return nil }
    if let object = existing(bean, home) { return object }
    if case .instance(let number) = bean.factory.role { return home.instances[number] }
    guard bean.factory.returnsAnother else { return nil }
    switch bean.part {
    case .decorator(_, let inner): return foreseen(inner, home)
    case .product(let maker):
      guard let first = maker.parameters.first, let makerHome = self.home(of: maker, from: home),
        let target = try? rules.targets(of: .parameter(first), from: makerHome.level).first
      else { return nil }
      return foreseen(target, makerHome)
    case .only:
      guard let first = bean.parameters.first,
        let target = try? rules.targets(of: .parameter(first), from: home.level).first
      else { return nil }
      return foreseen(target, home)
    }
  }

  /// Returns the scope that keeps a bean of an environment; nil if that is the environment itself.
  private func ownScope(of bean: ReferenceBean, _ home: Place) -> OwnScope? {
    bean.isOfOwnScope ? home.chain.lazy.compactMap(\.scope).first : nil
  }

  /// Returns the existing object of a bean. Children of a factory share their declarations, and so the objects that a
  /// scope further out keeps for them.
  private func existing(_ bean: ReferenceBean, _ home: Place) -> Object? {
    guard let scope = ownScope(of: bean, home) else { return home.beans[bean.number] }
    return scope.kept.first { $0.bean === bean && owner(of: $0.home) === owner(of: home) }?.object
  }

  /// Returns the environment created by hand whose declarations contain those of an environment.
  private func owner(of place: Place) -> Place { place.chain.first { scenario.levels[$0.level].scope == nil }! }

  private func instance(_ bean: ReferenceBean, _ asking: Place) throws -> Object { try instances([bean], asking)[0] }

  private func home(of bean: ReferenceBean, from asking: Place) -> Place? {
    rules.place(bean, from: asking.level).flatMap { level in asking.chain.first { $0.level == level } }
  }

  private struct Missing {
    let bean: ReferenceBean
    let home: Place
  }

  /// Collects the missing beans that have to be built for a bean.
  private func collect(
    _ bean: ReferenceBean, _ asking: Place, _ missing: inout [Missing], _ seen: inout Set<[Int]>
  ) {
    guard let home = home(of: bean, from: asking), existing(bean, home) == nil,
      seen.insert([bean.number, home.number]).inserted
    else { return }
    if !bean.isPrototype { missing.append(Missing(bean: bean, home: home)) }
    for need in bean.needs where !need.isDeferred {
      for target in (try? rules.targets(of: need, from: home.level)) ?? [] { collect(target, home, &missing, &seen) }
    }
  }

  /// Returns the bean in the environment that it belongs to.
  private func made(_ bean: ReferenceBean, _ home: Place) throws -> Object {
    let scope = ownScope(of: bean, home)
    if scope?.isFinished == true { throw Fault(code: "finished", declaration: nil) }
    if let object = existing(bean, home), mistake != .buildsSingletonsTwice { return object }
    // A bean that is kept keeps the prototypes that it takes.
    let forOwner = forOwner
    if !bean.isPrototype { self.forOwner = nil }
    defer { if !bean.isPrototype { self.forOwner = forOwner } }
    let (object, given, isNew) = try object(of: bean, home)
    let isBean = !isNew && isBean(object, home)
    if bean.isPrototype {
      if isNew { self.forOwner?.append(.object(object, bean)) }
      return object
    }
    let position = rank[.made(bean.number)] ?? position
    move(owned(by: given), before: position)
    object.isKept = true
    var tracked: Tracked?
    if !isBean || mistake == .ownsFaces {
      tracked = Tracked([.object(object, bean)], in: home, operation, position)
      home.log.append(tracked!)
      home.created += 1
    }
    if let scope {
      scope.kept.append((bean, object, home, tracked))
    } else {
      home.beans[bean.number] = object
    }
    return object
  }

  /// Returns whether an object is a bean already of an environment, or of one further out.
  private func isBean(_ object: Object, _ home: Place) -> Bool {
    home.chain.contains { place in
      place.beans.values.contains { $0 === object } || place.scope?.kept.contains { $0.object === object } == true
    }
  }

  /// Returns the object of a missing bean, the arguments of its factory, and whether the object has been completed for
  /// this bean.
  private func object(
    of bean: ReferenceBean, _ home: Place
  ) throws -> (object: Object, given: [Value], isNew: Bool) {
    for precedent in rules.precedents(of: bean, in: home.level) {
      // The container does not create a ready instance.
      if case .instance = precedent.factory.role { continue }
      if let place = self.home(of: precedent, from: home), existing(precedent, place) == nil {
        lines.append("d\(bean.name) is built before d\(precedent.name), which it takes lazily")
      }
    }
    let given = try given(to: bean, home)
    let factory = bean.factory
    if !bean.isProduct {
      calls[factory.number, default: 0] += 1
      if calls[factory.number]! <= factory.failures {
        lines.append("d\(factory.number) throws")
        move(owned(by: given), before: rank[.threw(declaration: factory.number)])
        throw Fault(code: "creationFailed", declaration: factory.number)
      }
    }
    if factory.returnsAnother, bean.kind != .mill {
      guard case .bean(let taken?) = given.first else { throw Fault(code: "nothing to return", declaration: bean.line) }
      prototypeLines.append("d\(bean.name) returns \(taken.name)")
      return (taken, given, false)
    }
    if case .instance(let number) = factory.role {
      let instance = home.instances[number]!
      if isBean(instance, home) { return (instance, [], false) }
      instance.name = complete(bean, "d\(number)", [])
      return (instance, [], true)
    }
    let own = bean.isProduct ? [] : given
    let name = complete(bean, "d\(factory.number)", own)
    return (Object(name, own, isPrototype: bean.isPrototype), own, true)
  }

  /// Notes the completion of a new object, and returns its name.
  private func complete(_ bean: ReferenceBean, _ factory: String, _ given: [Value]) -> String {
    let text = given.map { " \($0.text)" }.joined()
    var name = "d\(bean.name){\(text)}"
    if bean.isPrototype {
      prototypeLines.append("\(name) by \(factory)")
    } else {
      made += 1
      name = "#\(made)"
      lines.append("\(name) is d\(bean.name) by \(factory)\(text)")
    }
    if let callbacks = bean.callbacks {
      let line = "d\(callbacks) completes \(name)"
      if bean.isPrototype { prototypeLines.append(line) } else { lines.append(line) }
    }
    return name
  }

  /// Builds a prototype for an owner, with the prototypes that it takes.
  private func owned(_ bean: ReferenceBean, _ asking: Place) throws -> Value {
    var outer = forOwner
    forOwner = []
    defer { forOwner = outer }
    let object = try instance(bean, asking)
    let parts = mistake == .ownsBeanAlone ? Array(forOwner!.suffix(1)) : forOwner!
    let tracked = Tracked(parts, in: asking, operation, position, isOwned: true)
    asking.log.append(tracked)
    outer?.append(.owned(tracked))
    return .owned(object, tracked)
  }

  /// Returns the owned beans among arguments, and those of prototypes among these, in the order of parameters.
  private func owned(by given: [Value]) -> [Tracked] {
    func owned(by bean: Object) -> [Tracked] { bean.isPrototype && !bean.isKept ? self.owned(by: bean.given) : [] }
    return given.flatMap { value -> [Tracked] in
      switch value {
      case .owned(let bean, let tracked): [tracked] + owned(by: bean)
      case .bean(let bean): bean.map { owned(by: $0) } ?? []
      case .beans(let beans): beans.flatMap { owned(by: $0) }
      case .provider, .lazy, .seed, .environment: []
      }
    }
  }

  /// Moves owned beans to the positions at which the container created them: it may have built arguments behind them
  /// since.
  ///
  /// - Parameters:
  ///   - owned: the beans.
  ///   - end: the position of the bean that owns them.
  private func move(_ owned: [Tracked], before end: Int?) {
    if let end, end > 0, end <= order.count, case .owned(let made) = order[end - 1] { move(owned, to: made) }
  }

  private func move(_ owned: [Tracked], to positions: [Int]) {
    for (tracked, position) in zip(owned, positions) {
      let home = tracked.home
      guard let index = home.log.firstIndex(where: { $0 === tracked }) else { continue }
      home.log.remove(at: index)
      tracked.position = position
      let later = home.log.firstIndex { $0.operation == operation && $0.position > position }
      home.log.insert(tracked, at: later ?? home.log.endIndex)
    }
  }

  private func given(to bean: ReferenceBean, _ home: Place) throws -> [Value] {
    do {
      for requirement in bean.requirements {
        _ = try instances(rules.targets(of: .requirement(requirement), from: home.level), home)
      }
      let first: [Value] =
        switch bean.part {
        case .only: []
        case .decorator(_, let inner): [.bean(try instance(inner, home))]
        case .product(let maker): Array(try instance(maker, home).given.prefix(1))
        }
      return try first + bean.parameters.map { try value($0, home) }
    } catch let fault as Fault where fault.code == "finished" && fault.declaration == nil {
      // The fault of an ended scope names the declaration that needs its bean.
      throw Fault(code: fault.code, declaration: bean.line)
    }
  }

  private func value(_ parameter: Parameter, _ home: Place) throws -> Value {
    switch parameter.wish {
    case .environment: return .environment(home.number)
    case .seed(let scope): return .seed(home.chain.first { scenario.levels[$0.level].scope == scope }!.number)
    case .bean(let kind, .provider): return .provider(kind, parameter.reference, home)
    case .bean(_, .lazy):
      return .lazy(Deferred(try rules.targets(of: .parameter(parameter), from: home.level)[0], home))
    case .bean(_, .owned):
      return try owned(rules.targets(of: .parameter(parameter), from: home.level)[0], home)
    case .bean(_, let form):
      let objects = try instances(rules.targets(of: .parameter(parameter), from: home.level), home)
      return form == .all ? .beans(objects) : .bean(objects.first)
    }
  }
}
