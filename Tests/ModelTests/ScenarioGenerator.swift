import TestSupport

extension SplitMix64 {
  /// Returns whether an event of this probability in percent happens.
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &self)! }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// Generates the scenario of a seed.
struct ScenarioGenerator {
  private var random: SplitMix64
  private var scenario = Scenario(levels: [Level()], operations: [])
  private var count = 0
  /// Whether several declarations have one object, and beans own others.
  private var hasOwners = false
  /// Whether beans take others lazily, and own none: the contract leaves open when an owned bean of one that is taken
  /// lazily is created.
  private var isLazy = false

  static func scenario(seed: UInt64) -> Scenario {
    var generator = ScenarioGenerator(random: SplitMix64(seed: seed))
    generator.hasOwners = generator.random.chance(60)
    generator.isLazy = generator.random.chance(40)
    generator.addLevels()
    generator.addDeclarations()
    // Most scenarios can start; the faults of the others are left in them.
    generator.spare()
    if generator.random.chance(80) { generator.repair() }
    generator.plant()
    generator.close()
    generator.spare()
    generator.addOperations()
    generator.spareFinishedScopes()
    return generator.scenario
  }

  private init(random: SplitMix64) { self.random = random }

  // MARK: levels

  private mutating func addLevels() {
    for _ in 0..<random.pick([0, 0, 1, 1, 2, 2, 3, 3, 4, 6]) {
      let parents = scenario.levels.indices.filter { scenario.chain(from: $0).count < 4 }
      let parent = random.pick(parents)
      let taken = scenario.chain(from: parent).compactMap { scenario.levels[$0].scope }
      let free = Scope.allCases.filter { !taken.contains($0) }
      scenario.levels.append(Level(parent: parent, scope: random.chance(60) && !free.isEmpty ? random.pick(free) : nil))
    }
    for level in scenario.levels.indices where scenario.levels[level].scope == nil {
      let isRegistered = scenario.chain(from: level).contains { scenario.levels[$0].registersScope }
      if !isRegistered && random.chance(30) { scenario.levels[level].registersScope = true }
    }
  }

  // MARK: declarations

  private mutating func addDeclarations() {
    let size = random.pick([3, 5, 5, 8, 8, 12, 12, 16, 20, random.chance(3) ? 200 : 30])
    for _ in 0..<random.number(size / 2 + 1...size) {
      let level = random.chance(40) ? 0 : random.number(0...scenario.levels.count - 1)
      count += 1
      scenario.levels[level].declarations.append(declaration(level))
    }
  }

  private mutating func declaration(_ level: Int) -> Declaration {
    var new = Declaration(number: count)
    new.kind = random.pick(Kind.classes)
    new.isLazy = random.chance(25)
    new.isPrimary = random.chance(20)
    let own = scenario.levels[level].declarations
    if random.chance(65) { new.id = "b\(count)" }
    if random.chance(10) {
      let shared = random.pick(["x", "y", "z"])
      if !own.contains(where: { $0.id == shared }) { new.id = shared }
    }
    if random.chance(35) { new.scope = scope(level) }
    new.failures = random.chance(2) ? random.number(1...2) : 0
    new.hasCallbacks = random.chance(10)
    if hasOwners, random.chance(25), let owning = owning(new, level) { return owning }
    if random.chance(12) {
      new.isAbstract = true
      new.id = "t\(count)"
      if random.chance(40) { new.kind = nil }
    }
    let templates = scenario.chain(from: level).flatMap { scenario.levels[$0].declarations }
      .filter { $0.isAbstract || random.chance(5) }.filter { $0.id != nil && $0.role == .bean }
    if !templates.isEmpty && random.chance(35) {
      let template = random.pick(templates)
      new.template = template.id
      if inherited(template, level, \.kind) != nil {
        new.kind = random.chance(50) && new.id != nil ? nil : inherited(template, level, \.kind)
      }
      // Arguments are inherited with their factory.
      if inherited(template, level, \.parameters) != nil { return new }
    }
    if new.kind == nil {
      if !new.isAbstract { new.kind = random.pick(Kind.classes) } else { return new }
    }
    if new.isAbstract && random.chance(40) && new.template == nil { return new }
    new.parameters = parameters(level, [0, 0, 1, 1, 2, 2, 3, 4, 7])
    if random.chance(8), let target = target(level) {
      if let id = target.id { new.requirements.append(.id(id)) } else { new.requirements.append(.kind(target.kind!)) }
    }
    return new
  }

  /// Returns a declaration whose object is, or may be, another bean's: one that forwards a bean, a decorator, a factory
  /// bean, a ready instance.
  private mutating func owning(_ plain: Declaration, _ level: Int) -> Declaration? {
    var new = plain
    if new.id != nil { new.id = "b\(count)" }
    switch random.number(0...9) {
    case ..<5:
      guard let first = returned(level), case .bean(let kind, _) = first.wish else { return nil }
      new.role = .forwarding
      new.kind = random.chance(50) ? kind : random.pick(kind.all)
      new.parameters = [first] + parameters(level, [0, 0, 0, 1, 2])
    case ..<7:
      guard let target = target(level) else { return nil }
      new = Declaration(number: count, kind: target.kind!)
      new.kind = random.pick(target.kind!.all)
      new.role = .decorator(returnsInner: random.chance(40))
      new.parameters = parameters(level, [0, 0, 0, 1, 2])
      new.hasCallbacks = plain.hasCallbacks
    case ..<9:
      let returned = random.chance(50) ? returned(level) : nil
      new.role = .factoryBean(returnsTaken: returned != nil)
      if case .bean(let kind, _)? = returned?.wish { new.kind = random.pick(kind.all) }
      if random.chance(20) { new.kind = random.pick(new.kind!.all) }
      new.parameters = (returned.map { [$0] } ?? []) + parameters(level, [0, 0, 1, 2])
      new.settle()
    default:
      guard scenario.levels[level].scope == nil else { return nil }
      (new.isLazy, new.scope, new.failures, new.parameters) = (false, nil, 0, [])
      let known = scenario.levels.flatMap(\.declarations).filter { if case .instance = $0.role { true } else { false } }
      if let other = known.randomElement(using: &random) {
        (new.role, new.kind) = (other.role, other.kind)
      } else {
        new.role = .instance(count)
      }
    }
    return new
  }

  /// Returns a parameter for a bean that is returned.
  private mutating func returned(_ level: Int) -> Parameter? {
    guard let target = target(level) else { return nil }
    let kind = random.chance(80) ? target.kind! : random.pick(target.kind!.all)
    return Parameter(wish: .bean(kind, .one), reference: random.chance(70) ? target.id : nil)
  }

  private mutating func parameters(_ level: Int, _ counts: [Int]) -> [Parameter] {
    (0..<random.pick(counts)).compactMap { _ in parameter(level) }
  }

  /// Returns a property of a template, its own or inherited.
  private func inherited<Value>(_ template: Declaration, _ level: Int, _ path: KeyPath<Declaration, Value?>) -> Value? {
    var next: Declaration? = template
    // Templates may form a circle.
    var seen: Set<Int> = []
    while let one = next, seen.insert(one.number).inserted {
      if let value = one[keyPath: path] { return value }
      next = scenario.chain(from: level).lazy.flatMap { scenario.levels[$0].declarations }
        .first { $0.id == one.template && one.template != nil && $0 != one }
    }
    return nil
  }

  /// Returns a scope that beans of a level may have: a prototype's, or that of the level or one further in.
  private mutating func scope(_ level: Int) -> String {
    if random.chance(40) { return "prototype" }
    let registers = scenario.chain(from: level).contains { scenario.levels[$0].registersScope }
    if registers && random.chance(50) { return Level.ownScope }
    let owner = scenario.chain(from: level).first { scenario.levels[$0].scope == nil }!
    let scopes = scenario.family(of: owner).filter { scenario.chain(from: $0).contains(level) }
      .compactMap { scenario.levels[$0].scope?.rawValue }
    return scopes.isEmpty ? "prototype" : random.pick(scopes)
  }

  /// Returns a bean that is visible from a level.
  private mutating func target(_ level: Int) -> Declaration? {
    let seen = scenario.chain(from: level).filter { !scenario.levels[$0].declarations.isEmpty }
    guard !seen.isEmpty else { return nil }
    let target = random.pick(scenario.levels[random.pick(seen)].declarations)
    return target.isAbstract || target.kind == nil || target.isDecorator ? nil : target
  }

  private mutating func parameter(_ level: Int) -> Parameter? {
    if random.chance(4) { return Parameter(wish: .environment) }
    let scopes = scenario.chain(from: level).compactMap { scenario.levels[$0].scope }
    if !scopes.isEmpty && random.chance(20) { return Parameter(wish: .seed(random.pick(scopes))) }
    guard let target = target(level) else { return nil }
    var kind = target.kind!
    if random.chance(30) { kind = random.pick(kind.all) }
    var form = random.pick([.one, .one, .one, .one, .one, .optional, .all, .provider] as [Parameter.Form])
    if hasOwners, !isLazy, target.scope == "prototype", random.chance(35) { form = .owned }
    if isLazy, random.chance(35) { form = .lazy }
    if [.one, .owned, .lazy].contains(form), let id = target.id, random.chance(70) {
      return Parameter(wish: .bean(kind, form), reference: id)
    }
    return Parameter(wish: .bean(kind, form))
  }

  // MARK: faults

  /// Removes the causes of startup faults, parameter by parameter.
  private mutating func repair() {
    for _ in 0..<40 {
      let rules = ReferenceRules(scenario)
      let levels = scenario.levels.indices.filter { scenario.levels[$0].scope == nil }
      let faults = levels.reduce(into: Set<Fault>()) { $0.formUnion(rules.faults(of: $1)) }
      if faults.isEmpty { return }
      let factories = rules.beans.joined().filter { bean in faults.contains { $0.declaration == bean.line } }
      for number in Set(factories.map(\.factory.number) + faults.compactMap(\.declaration)).sorted() {
        scenario.change(number) { declaration in
          if !declaration.requirements.isEmpty { declaration.requirements.removeLast() }
          guard let parameters = declaration.parameters, !parameters.isEmpty else { return }
          declaration.parameters!.remove(at: random.number(0...parameters.count - 1))
        }
      }
    }
  }

  /// Adds, now and then, a certain fault.
  private mutating func plant() {
    guard random.chance(12) else { return }
    let numbers = scenario.levels.flatMap(\.declarations).filter {
      $0.parameters != nil && !$0.isAbstract && [.bean, .forwarding].contains($0.role)
    }.map(\.number)
    guard !numbers.isEmpty else { return }
    for _ in 0..<random.number(1...3) {
      let number = random.pick(numbers)
      let level = scenario.levels.first { $0.declarations.contains { $0.number == number } }!
      let ids = level.declarations.filter { !$0.isAbstract && $0.number < number }.compactMap(\.id)
      let choice = random.number(0...6)
      scenario.change(number) { declaration in
        switch choice {
        case 0: declaration.parameters!.append(Parameter(wish: .bean(.oak, .one), reference: "nowhere"))
        case 1: declaration.scope = "nowhere"
        case 2: declaration.template = "nowhere"
        case 3: declaration.requirements.append(.id("nowhere"))
        case 4: if let id = declaration.id { declaration.requirements.append(.id(id)) }
        case 5: if let id = ids.first { declaration.id = id }
        default: declaration.failures = 1
        }
      }
    }
  }

  /// Adds, now and then, a prototype that takes another one, which a level further in declares and which takes the first.
  private mutating func close() {
    let inner = scenario.levels.indices.dropFirst()
    guard random.chance(5), let level = inner.randomElement(using: &random) else { return }
    let outer = random.pick(Array(scenario.chain(from: level).dropFirst()))
    let (first, last) = (random.pick(Kind.classes), random.pick(Kind.classes))
    let form = random.pick([.one, .optional, .all] as [Parameter.Form])
    for (home, kind, wish) in [
      (outer, first, Parameter.Wish.bean(random.pick(last.all), form)), (level, last, .bean(first, .one)),
    ] {
      count += 1
      scenario.levels[home].declarations.append(
        Declaration(number: count, kind: kind, id: "b\(count)", scope: "prototype", parameters: [Parameter(wish: wish)])
      )
    }
  }

  /// Removes failures of prototypes' factories, because the contract leaves the beans built before one to the
  /// container.
  private mutating func spare() {
    // A registered scope keeps no bean with a dependency that is not open there: the contract leaves to the container
    // how many dependencies of such a bean are judged with it.
    while let bean = beanOutOfReach { scenario.change(bean.line) { $0.scope = "prototype" } }
    while let (declaration, role) = ReferenceRules(scenario).undecided {
      scenario.change(declaration) { $0.role = role }
    }
    for bean in ReferenceRules(scenario).beans.joined() where bean.isPrototype {
      scenario.change(bean.factory.number) { $0.failures = 0 }
    }
    spareOwners()
  }

  /// Removes all failures of factories except that of the only declaration that owns beans: the contract leaves to the
  /// container whether an owned bean has been created before another factory fails.
  private mutating func spareOwners() {
    let owners = scenario.levels.flatMap(\.declarations).filter { declaration in
      declaration.parameters?.contains { if case .bean(_, .owned) = $0.wish { true } else { false } } == true
    }
    if owners.isEmpty { return }
    for declaration in scenario.levels.flatMap(\.declarations) where owners.map(\.number) != [declaration.number] {
      scenario.change(declaration.number) { $0.failures = 0 }
    }
    // The order of prototypes that a bean requires, and of the beans that they own, is not visible.
    for declaration in scenario.levels.flatMap(\.declarations) where !declaration.requirements.isEmpty {
      scenario.change(declaration.number) { $0.requirements = [] }
    }
  }

  // MARK: operations

  private mutating func addOperations() {
    if random.chance(60) { scenario.operations.append(.start(0)) }
    var levels = [0]
    for _ in 0..<random.number(2...14) {
      let environment = random.number(0...levels.count - 1)
      switch random.number(0...99) {
      case ..<30:
        let inner = scenario.levels.indices.filter { scenario.levels[$0].parent == levels[environment] }
        guard !inner.isEmpty else { fallthrough }
        let level = random.pick(inner)
        levels.append(level)
        scenario.operations.append(.open(level: level, parent: environment, starts: random.chance(70)))
      case ..<85:
        let current = random.chance(40) ? random.number(0...levels.count - 1) : nil
        scenario.operations.append(.lookup(environment, lookup(levels[environment], current)))
      case ..<88: scenario.operations.append(.start(environment))
      case ..<94: scenario.operations.append(.finish(environment))
      case ..<97: scenario.operations.append(.shutdown(environment))
      default:
        let registering = levels.indices.filter { scenario.levels[levels[$0]].registersScope }
        if !registering.isEmpty { scenario.operations.append(.finishScope(random.pick(registering))) }
      }
    }
    if random.chance(30) {
      scenario.operations.append(random.chance(50) ? .shutdown(0) : .finish(0))
      let environment = random.number(0...levels.count - 1)
      scenario.operations.append(.lookup(environment, lookup(levels[environment], nil)))
    }
  }

  private var beanOutOfReach: ReferenceBean? {
    let rules = ReferenceRules(scenario)
    return rules.beans.joined().first { $0.isOfOwnScope && rules.inactive($0, $0.level) != nil }
  }

  /// Keeps only ends after the end of a scope: the contract leaves to the container the other beans of a refused
  /// lookup.
  private mutating func spareFinishedScopes() {
    guard let end = scenario.operations.firstIndex(where: { if case .finishScope = $0 { true } else { false } }) else {
      return
    }
    let opened = scenario.operations[..<end].count { if case .open = $0 { true } else { false } }
    let rest = scenario.operations[(end + 1)...].filter {
      switch $0 {
      case .finish(let environment), .shutdown(let environment), .finishScope(let environment): environment <= opened
      case .open, .start, .lookup: false
      }
    }
    scenario.operations.replaceSubrange((end + 1)..., with: rest)
  }

  private mutating func lookup(_ level: Int, _ current: Int?) -> Lookup {
    let target = target(level)
    var kind = target?.kind ?? random.pick(Kind.allCases)
    if random.chance(30) { kind = random.pick(kind.all) }
    if random.chance(4) { kind = random.pick(Kind.allCases) }
    if target?.isFactoryBean == true, random.chance(15) { kind = .mill }
    var form = random.pick([.one, .one, .one, .one, .optional, .all, .provider] as [Parameter.Form])
    // The contract leaves open whether a prototype has been created for an `Owned` before another factory fails.
    let mayFail = scenario.levels.contains { $0.declarations.contains { $0.failures > 0 } }
    if hasOwners, !isLazy, !mayFail, target?.scope == "prototype", random.chance(35) { form = .owned }
    if isLazy, random.chance(5) { form = .lazy }
    var lookup = Lookup(kind: kind, form: form, callsProviders: random.chance(60), current: current)
    lookup.givesBack = hasOwners && random.chance(30)
    if [.one, .owned].contains(form) && random.chance(50) { lookup.id = random.chance(95) ? target?.id : "nowhere" }
    return lookup
  }
}

extension Scenario {
  /// Changes the declaration of a number.
  mutating func change(_ number: Int, _ body: (inout Declaration) -> Void) {
    for level in levels.indices {
      for index in levels[level].declarations.indices where levels[level].declarations[index].number == number {
        body(&levels[level].declarations[index])
        levels[level].declarations[index].settle()
      }
    }
  }
}
