/// The results and faults of lookups by the contract, as plainly as possible: each lookup searches anew.
struct ReferenceRules {
  let scenario: Scenario
  /// The beans of each level, in order of definition.
  private(set) var beans: [[ReferenceBean]] = []
  /// The decorators of each level, the outermost of a bean last.
  private(set) var decorators: [[ReferenceBean]] = []
  /// The faults of the declarations of each level by themselves.
  private(set) var faults: [Set<Fault>] = []
  /// The circles of templates that chains of a level lead into, by level.
  private var circles: [Set<Set<Int>>] = []
  private let memory = Memory()

  init(_ scenario: Scenario) {
    self.scenario = scenario
    for level in scenario.levels.indices {
      beans.append([])
      faults.append([])
      circles.append([])
      for declaration in scenario.levels[level].declarations { merge(declaration, level) }
      for (index, declaration) in scenario.levels[level].declarations.enumerated() {
        let earlier = scenario.levels[level].declarations[..<index]
        if let id = declaration.id, earlier.contains(where: { $0.id == id }) {
          faults[level].insert(Fault(code: "duplicateId", declaration: declaration.number))
        }
      }
    }
    decorators = beans.map { _ in [] }
    for level in scenario.levels.indices {
      for declaration in scenario.levels[level].declarations where declaration.isDecorator {
        decorate(declaration, level)
      }
    }
  }

  private mutating func decorate(_ declaration: Declaration, _ level: Int) {
    let found = undecorated(declaration.kind!, from: level)
    if found.isEmpty { faults[level].insert(Fault(code: "unknownBean", declaration: declaration.number)) }
    for bean in found {
      let inner = decorated(bean, as: declaration.kind!, from: level)
      var scope = bean.scope
      // A decorator of a bean further out lives at most as long as its own environment.
      if bean.level != level, let name = scope, isOuter(name, level) { scope = nil }
      let number = 10_000 + decorators.joined().count
      decorators[level].append(
        ReferenceBean(of: bean, around: inner, declaration, level, scope: scope, number: number))
    }
  }

  private mutating func merge(_ declaration: Declaration, _ level: Int) {
    func refuse(_ code: String) { faults[level].insert(Fault(code: code, declaration: declaration.number)) }
    // The names of templates, like references, are looked up from the level of the bean.
    var chain = [declaration]
    var isBroken = false
    while let id = chain[chain.count - 1].template {
      let asker = chain[chain.count - 1]
      guard let next = template(of: asker, from: level) else {
        if asker.id != id {
          refuse("unknownBean")
        } else if circles[level].insert([asker.number]).inserted {
          faults[level].insert(Fault(code: "cyclicDependency", declaration: asker.number))
        }
        isBroken = true
        break
      }
      if let start = chain.firstIndex(of: next) {
        // A circle is one fault, at the first chain of the level that leads into it.
        if circles[level].insert(Set(chain[start...].map(\.number))).inserted {
          faults[level].insert(Fault(code: "cyclicDependency", declaration: next.number))
        }
        isBroken = true
        break
      }
      chain.append(next)
    }
    if declaration.isAbstract || declaration.isDecorator { return }
    let hasOwnScope = scenario.chain(from: level).contains { scenario.levels[$0].registersScope }
    if declaration.isFactoryBean { return merge(factoryBean: declaration, level, hasOwnScope: hasOwnScope) }
    // Properties that a broken template would have given are not missed as well.
    let known = isBroken ? [declaration] : chain
    guard let bean = ReferenceBean(known, level, hasOwnScope: hasOwnScope, isBroken: isBroken) else {
      return isBroken ? () : refuse("invalidDeclaration")
    }
    let hasFactory = chain.contains { $0.parameters != nil }
    let isOtherFactory = !isBroken && hasFactory && bean.factory.kind.map { !$0.isA(bean.kind) } == true
    if !isBroken, !hasFactory { refuse("invalidDeclaration") }
    // Inherited callbacks take beans of the class that their declaration names.
    let callbacks = chain.first { $0.number == bean.callbacks }?.kind
    if isOtherFactory || !isBroken && !bean.kind.isA(callbacks ?? bean.kind) { refuse("typeMismatch") }
    let isUnknown = bean.scope.map { !bean.isPrototype && !bean.isOfOwnScope && !isKnown($0, level) } == true
    if isUnknown { refuse("unknownScope") }
    if let scope = bean.scope, isOuter(scope, level) { refuse("invalidDeclaration") }
    let kept =
      isOtherFactory || isUnknown
      ? ReferenceBean(
        known, level, hasOwnScope: hasOwnScope, isAtFault: true, lacksFactory: isOtherFactory, isUnknown: isUnknown)
      : bean
    if let kept { beans[level].append(kept) }
  }

  /// Adds a factory bean and its product. Products that are created anew come from one factory bean.
  private mutating func merge(factoryBean declaration: Declaration, _ level: Int, hasOwnScope: Bool) {
    if let scope = declaration.scope, isOuter(scope, level) {
      faults[level].insert(Fault(code: "invalidDeclaration", declaration: declaration.number))
    }
    var own = declaration
    (own.kind, own.id) = (.mill, nil)
    if own.scope == "prototype" { own.scope = nil }
    guard let maker = ReferenceBean([own], level, hasOwnScope: hasOwnScope) else { return }
    beans[level] += [maker, ReferenceBean(productOf: maker, declaration)]
  }

  /// Refuses a provider that can never find a bean.
  func check(provider kind: Kind, _ id: String?, from level: Int) throws(Fault) {
    do { _ = try select(kind, id, from: level) } catch {
      // A hidden bean is missed when the provider is called.
      let seen = scenario.family(of: level).flatMap { scenario.chain(from: $0) }
      let isSomewhere = seen.contains { beans[$0].contains { $0.kind.isA(kind) } }
      if error.code == "typeMismatch" || error.code == "unknownBean" && !isSomewhere { throw error }
    }
  }

  /// Returns the bean that a provider finds from a level. A bean that only levels further in declare is not open there.
  func find(_ kind: Kind, _ id: String?, from level: Int) throws(Fault) -> ReferenceBean {
    do { return try select(kind, id, from: level) } catch {
      if error.code != "unknownBean" { throw error }
      func hasId(_ level: Int) -> Bool { scenario.levels[level].declarations.contains { $0.id == id } }
      let isFurtherIn = scenario.family(of: level).contains { inner in
        if inner == level { return false }
        return id == nil ? beans[inner].contains { $0.kind.isA(kind) } : hasId(inner)
      }
      // An id of a template hides those further in.
      let isHere = id != nil && scenario.chain(from: level).contains(where: hasId)
      throw isFurtherIn && !isHere ? Fault(code: "scopeNotActive", declaration: nil) : error
    }
  }

  /// Returns the template of a declaration, seen from a level. The template may have the same id, further out.
  private func template(of asker: Declaration, from level: Int) -> Declaration? {
    scenario.chain(from: level).lazy.map { scenario.levels[$0].declarations }
      .filter { asker.id != asker.template || !$0.contains { $0.number == asker.number } }
      .compactMap { $0.first { $0.id == asker.template } }.first
  }

  /// Returns whether a scope encloses the environments of a level, whose beans it would outlive.
  private func isOuter(_ scope: String, _ level: Int) -> Bool {
    scenario.chain(from: level).dropFirst().contains { scenario.levels[$0].scope?.rawValue == scope }
  }

  func isKnown(_ scope: String, _ level: Int) -> Bool {
    // The scopes of a server are known everywhere, even without a factory.
    ["session", "request"].contains(scope)
      || (scenario.chain(from: level) + scenario.family(of: level))
        .contains { scenario.levels[$0].scope?.rawValue == scope }
  }

  // MARK: lookups

  /// Returns the selected bean, seen from a level.
  func select(_ kind: Kind, _ id: String?, from level: Int) throws(Fault) -> ReferenceBean {
    let (chain, from) = (scenario.chain(from: level), level)
    if let id {
      for level in chain where scenario.levels[level].declarations.contains(where: { $0.id == id }) {
        guard let bean = bean(id, level) else { break }
        if !bean.kind.isA(kind) { throw Fault(code: "typeMismatch", declaration: nil) }
        return decorated(bean, as: kind, from: from)
      }
      throw Fault(code: "unknownBean", declaration: nil)
    }
    let all = undecorated(kind, from: level)
    guard let first = all.first else { throw Fault(code: "unknownBean", declaration: nil) }
    let candidates = all.prefix { $0.level == first.level }
    let exact = candidates.filter { $0.kind == kind }
    let nearest = exact.isEmpty ? Array(candidates) : exact
    let primary = nearest.filter(\.declaration.isPrimary)
    if nearest.count == 1 { return decorated(nearest[0], as: kind, from: level) }
    if primary.count == 1 { return decorated(primary[0], as: kind, from: level) }
    throw Fault(code: "ambiguousBean", declaration: nil)
  }

  /// Returns all beans of a type, nearest level first.
  func all(_ kind: Kind, from level: Int) -> [ReferenceBean] {
    let key = level * Kind.allCases.count + kind.rawValue
    if let known = memory.all[key] { return known }
    let all = undecorated(kind, from: level).map { decorated($0, as: kind, from: level) }
    memory.all[key] = all
    return all
  }

  private func undecorated(_ kind: Kind, from level: Int) -> [ReferenceBean] {
    let key = level * Kind.allCases.count + kind.rawValue
    if let known = memory.undecorated[key] { return known }
    let chain = scenario.chain(from: level)
    let all = chain.flatMap { beans[$0].filter { $0.kind.isA(kind) && !isHidden($0, from: chain) } }
    memory.undecorated[key] = all
    return all
  }

  /// Returns the outermost decorator of a bean as one type, seen from a level, or the bean.
  private func decorated(_ bean: ReferenceBean, as kind: Kind, from level: Int) -> ReferenceBean {
    for level in scenario.chain(from: level) {
      let outermost = decorators[level].last { decorator in
        if case .decorator(let inside, _) = decorator.part { inside === bean && decorator.kind == kind } else { false }
      }
      if let outermost { return outermost }
      if level == bean.level { break }
    }
    return bean
  }

  /// Returns whether a nearer declaration has the id.
  private func isHidden(_ bean: ReferenceBean, from chain: [Int]) -> Bool {
    guard let id = bean.declaration.id else { return false }
    return chain.prefix { $0 != bean.level }.contains { level in
      scenario.levels[level].declarations.contains { $0.id == id }
    }
  }

  /// Returns the level whose environment holds the bean, seen from a requesting one; nil if its scope is not active
  /// there.
  func place(_ bean: ReferenceBean, from level: Int) -> Int? {
    guard let scope = bean.scope, !bean.isOfOwnScope, !bean.isOfUnknownScope else { return bean.level }
    if bean.isPrototype { return level }
    // A bean that would outlive its declaring level has no environment.
    let around = scenario.chain(from: bean.level).prefix { scenario.levels[$0].scope != nil }
    if isOuter(scope, bean.level), !around.contains(where: { scenario.levels[$0].scope?.rawValue == scope }) {
      return nil
    }
    return scenario.chain(from: level).first { scenario.levels[$0].scope?.rawValue == scope }
  }

  // MARK: faults

  /// Returns all faults that the startup of an environment of this level reports.
  func faults(of level: Int) -> Set<Fault> {
    let family = scenario.family(of: level)
    var found = family.reduce(into: Set<Fault>()) { $0.formUnion(faults[$1]) }
    var graph = Graph()
    for inner in family {
      for bean in kept(in: inner) where !bean.isOfUnknownScope { visit(bean, inner, &graph, isNeeded: true) }
      for bean in declared(in: inner) where isOuter(bean.scope ?? "", inner) {
        if let home = place(bean, from: inner) { visit(bean, home, &graph, isNeeded: true) }
      }
    }
    judgeUnknownScopes(family, &graph)
    for inner in family {
      for bean in declared(in: inner)
      where bean.isPrototype && !graph.judged.contains(Place(bean: bean.number, level: inner)) {
        // A prototype that works only further in is refused by lookups where it does not work.
        let worksFurtherIn = inner == level && family.dropFirst().contains { works(bean, in: $0) }
        visit(bean, inner, &graph, isNeeded: !worksFurtherIn, isTop: true)
      }
    }
    found.formUnion(graph.faults)
    for circle in circles(in: family, &graph) {
      found.insert(Fault(code: "cyclicDependency", declaration: self.circle(of: line(circle.first!.bean))))
    }
    return found
  }

  /// Returns the circles of a graph and of the prototypes that levels see: each level builds its own.
  private func circles(in family: [Int], _ graph: inout Graph) -> [Set<Place>] {
    for inner in family {
      for bean in scenario.chain(from: inner).flatMap({ declared(in: $0) }) where bean.isPrototype {
        visit(bean, inner, &graph, isNeeded: false)
      }
    }
    return graph.circles()
  }

  /// Whether a circle leads through beans that different levels declare.
  var hasCircleOverLevels: Bool {
    let homes = beans.indices.flatMap { level in declared(in: level).map { ($0.number, level) } }
    let level = Dictionary(uniqueKeysWithValues: homes)
    var graph = Graph()
    return circles(in: Array(scenario.levels.indices), &graph).contains { Set($0.map { level[$0.bean]! }).count > 1 }
  }

  /// Judges declarations of an unknown scope, which are faulty. Prototypes that they take are judged with them if a
  /// sound bean takes the declaration; otherwise, only the declaration itself is reported.
  private func judgeUnknownScopes(_ family: [Int], _ graph: inout Graph) {
    var rest = family.flatMap { level in kept(in: level).filter(\.isOfUnknownScope).map { (bean: $0, level: level) } }
    while let next = rest.firstIndex(where: { graph.takes(Place(bean: $0.bean.number, level: $0.level)) }) {
      let (bean, level) = rest.remove(at: next)
      visit(bean, level, &graph, isNeeded: true)
    }
    for (bean, level) in rest { visit(bean, level, &graph, isNeeded: true, isTop: true) }
  }

  /// Returns the beans and the decorators that a level declares.
  func declared(in level: Int) -> [ReferenceBean] { beans[level] + decorators[level] }

  /// Returns the beans that the environments of a level keep.
  private func kept(in level: Int) -> [ReferenceBean] {
    let scope = scenario.levels[level].scope?.rawValue
    var kept = declared(in: level).filter {
      $0.scope == nil || $0.scope == scope || $0.isOfOwnScope || $0.isOfUnknownScope
    }
    if let scope {
      for outer in scenario.chain(from: level).dropFirst() { kept += declared(in: outer).filter { $0.scope == scope } }
    }
    return kept
  }

  /// Returns whether all dependencies of a prototype are found from a level.
  private func works(_ bean: ReferenceBean, in level: Int) -> Bool {
    var graph = Graph()
    visit(bean, level, &graph, isNeeded: true, isTop: true)
    // Also of a bean with a fault of its own, which `inactive` does not judge.
    return graph.faults.isEmpty && inactive(takenBy: bean, level) == nil
  }

  /// Returns the faults of a prototype that is requested from a level.
  func faults(ofPrototype bean: ReferenceBean, from level: Int) -> [Fault] {
    var graph = Graph()
    graph.followsDeferred = false
    visit(bean, level, &graph, isNeeded: true)
    if let inactive = inactive(bean, level) {
      graph.note(Fault(code: "scopeNotActive", declaration: inactive.holder))
    }
    return graph.ordered
  }

  /// One bean in the environment in which it is built.
  private struct Place: Hashable {
    let bean: Int
    let level: Int
  }

  /// The dependencies that have been visited so far.
  private struct Graph {
    var edges: [Place: [Place]] = [:]
    /// The edges to beans that are taken lazily, which are in no circle.
    var deferred: [Place: [Place]] = [:]
    /// Whether lazily taken prototypes are judged with their takers: by startup, not by a lookup, which does not build
    /// them.
    var followsDeferred = true
    /// The places whose faults are reported.
    var judged: Set<Place> = []
    private(set) var faults: Set<Fault> = []
    /// The faults in the order in which they were found.
    private(set) var ordered: [Fault] = []

    /// Returns whether a judged bean takes a bean.
    func takes(_ place: Place) -> Bool {
      [edges, deferred].contains { $0.contains { judged.contains($0.key) && $0.value.contains(place) } }
    }

    mutating func note(_ fault: Fault) { if faults.insert(fault).inserted { ordered.append(fault) } }

    /// Returns the circles; those that meet are one.
    func circles() -> [Set<Place>] {
      // A place without a remaining dependency is in no circle.
      var left = edges
      while true {
        let kept = left.filter { $0.value.contains { left[$0] != nil } }
        if kept.count == left.count { break }
        left = kept
      }
      let places = Array(left.keys)
      let numbers = Dictionary(uniqueKeysWithValues: zip(places, places.indices))
      let next = places.map { left[$0]!.compactMap { numbers[$0] } }
      let reached = places.indices.map { start -> [Bool] in
        var seen = [Bool](repeating: false, count: places.count)
        var open = next[start]
        while let place = open.popLast() {
          if seen[place] { continue }
          seen[place] = true
          open += next[place]
        }
        return seen
      }
      var found: [Set<Place>] = []
      for start in places.indices where reached[start][start] && !found.contains(where: { $0.contains(places[start]) })
      {
        found.append(Set(places.indices.filter { reached[start][$0] && reached[$0][start] }.map { places[$0] }))
      }
      return found
    }
  }

  /// Visits a bean and the prototypes that it takes.
  private func visit(
    _ bean: ReferenceBean, _ level: Int, _ graph: inout Graph, isNeeded: Bool, isTop: Bool = false
  ) {
    let place = Place(bean: bean.number, level: level)
    if isNeeded ? !graph.judged.insert(place).inserted : graph.edges[place] != nil { return }
    (graph.edges[place], graph.deferred[place]) = ([], [])
    // One fault of this kind for each bean.
    if !bean.isPrototype, !bean.isOfOwnScope, !bean.isOfUnknownScope, let inactive = inactive(takenBy: bean, level) {
      graph.note(Fault(code: captivity(of: inactive.scope, level), declaration: bean.line))
    }
    // The bean's own faults precede those of its dependencies.
    let taken = bean.needs.map { need -> [ReferenceBean] in
      do throws(Fault) { return try targets(of: need, from: level) } catch {
        if isNeeded { graph.note(Fault(code: code(of: error, need, takenBy: bean, level), declaration: bean.line)) }
        return []
      }
    }
    for (need, targets) in zip(bean.needs, taken) {
      if targets.contains(where: { self.place($0, from: level) == nil }) { continue }
      for target in targets {
        guard let inner = self.place(target, from: level) else { continue }
        let taken = Place(bean: target.number, level: inner)
        if need.isDeferred {
          graph.deferred[place]!.append(taken)
          if !graph.followsDeferred { continue }
        } else {
          graph.edges[place]!.append(taken)
        }
        if target.isPrototype { visit(target, level, &graph, isNeeded: isNeeded && !isTop) }
      }
    }
  }

  /// Returns the code for a need that is not met: a bean that is kept would keep one of children beyond its life.
  private func code(of fault: Fault, _ need: ReferenceBean.Need, takenBy bean: ReferenceBean, _ level: Int) -> String {
    if fault.code != "unknownBean" || bean.isPrototype { return fault.code }
    let isFurtherIn = scenario.family(of: level).dropFirst().contains { inner in
      switch need {
      case .requirement(.kind(let kind)): return beans[inner].contains { $0.kind.isA(kind) }
      case .parameter(let parameter):
        switch parameter.wish {
        case .seed(let scope): return scenario.levels[inner].scope == scope
        case .bean(let kind, _): return parameter.reference == nil && beans[inner].contains { $0.kind.isA(kind) }
        case .environment: return false
        }
      case .bean, .requirement(.id): return false
      }
    }
    return isFurtherIn ? "captiveDependency" : fault.code
  }

  /// Returns the code for a bean of a scope that is held in an environment of a level in which that scope is not
  /// active.
  private func captivity(of scope: String, _ level: Int) -> String {
    let isFurtherIn = scenario.family(of: level).dropFirst().contains { scenario.levels[$0].scope?.rawValue == scope }
    // Siblings do not outlive each other.
    return scenario.levels[level].scope == nil || isFurtherIn ? "captiveDependency" : "scopeNotActive"
  }

  /// A scope that is not active, and its holder: the bean itself, or the prototype that takes it.
  struct Inactive {
    let scope: String
    let holder: Int
  }

  /// Returns the inactive scope of a bean, or of the beans that it takes by prototypes, in a level.
  func inactive(_ bean: ReferenceBean, _ level: Int) -> Inactive? {
    var seen: Set<[Int]> = []
    return inactive(bean, level, &seen)
  }

  /// Returns the inactive scope of the beans that a bean takes, itself or by prototypes.
  private func inactive(takenBy bean: ReferenceBean, _ level: Int) -> Inactive? {
    var seen: Set<[Int]> = []
    return inactive(takenBy: bean, level, &seen)
  }

  private func inactive(_ bean: ReferenceBean, _ level: Int, _ seen: inout Set<[Int]>) -> Inactive? {
    guard let home = place(bean, from: level) else { return Inactive(scope: bean.scope!, holder: bean.line) }
    if bean.isAtFault { return nil }
    // A registered scope is not judged: a lookup of its bean fails, as for a prototype.
    guard bean.isPrototype || bean.isOfOwnScope, seen.insert([bean.number, home]).inserted else { return nil }
    return inactive(takenBy: bean, home, &seen)
  }

  private func inactive(takenBy bean: ReferenceBean, _ level: Int, _ seen: inout Set<[Int]>) -> Inactive? {
    let taken = bean.needs.flatMap { (try? targets(of: $0, from: level)) ?? [] }
    if let closed = taken.first(where: { place($0, from: level) == nil }) {
      return Inactive(scope: closed.scope!, holder: bean.line)
    }
    for target in taken {
      if let inactive = inactive(target, level, &seen) { return inactive }
    }
    return nil
  }

  func targets(of need: ReferenceBean.Need, from level: Int) throws(Fault) -> [ReferenceBean] {
    switch need {
    case .bean(let bean): return [bean]
    case .requirement(.id(let id)): return [try select(id, from: level)]
    case .requirement(.kind(let kind)): return [try select(kind, nil, from: level)]
    case .parameter(let parameter):
      switch parameter.wish {
      case .environment: return []
      case .seed(let scope):
        if scenario.chain(from: level).contains(where: { scenario.levels[$0].scope == scope }) { return [] }
        throw Fault(code: "unknownBean", declaration: nil)
      case .bean(let kind, let form): return try targets(kind, form, parameter.reference, from: level)
      }
    }
  }

  private func targets(
    _ kind: Kind, _ form: Parameter.Form, _ id: String?, from level: Int
  ) throws(Fault) -> [ReferenceBean] {
    switch form {
    case .one, .lazy: return [try select(kind, id, from: level)]
    case .owned:
      let bean = try select(kind, id, from: level)
      // Its environment releases each other bean.
      if !bean.isPrototype { throw Fault(code: "invalidDeclaration", declaration: nil) }
      return [bean]
    case .optional:
      do { return [try select(kind, id, from: level)] } catch {
        if error.code == "unknownBean" && id == nil { return [] }
        throw error
      }
    case .all: return all(kind, from: level)
    case .provider:
      try check(provider: kind, id, from: level)
      return []
    }
  }

  /// Returns the bean of the first declaration of an id; nil if that is a template.
  private func bean(_ id: String, _ level: Int) -> ReferenceBean? {
    let first = scenario.levels[level].declarations.first { $0.id == id }
    return beans[level].first { $0.line == first?.number && $0.kind != .mill }
  }

  /// Returns the bean of an id, of any type.
  func select(_ id: String, from level: Int) throws(Fault) -> ReferenceBean {
    for level in scenario.chain(from: level) where scenario.levels[level].declarations.contains(where: { $0.id == id })
    {
      guard let bean = bean(id, level) else { break }
      return bean
    }
    throw Fault(code: "unknownBean", declaration: nil)
  }

  /// Returns the declaration of a bean's factory: no record identifies the failed call of several beans with one
  /// factory.
  func factory(of declaration: Int) -> Int {
    beans.lazy.flatMap { $0 }.first { $0.line == declaration }?.factory.number ?? declaration
  }

  /// Returns the first declaration of the circles through a declaration, and through those of it, anywhere in the
  /// scenario.
  func circle(of declaration: Int) -> Int {
    let circles = memory.circles ?? allCircles()
    memory.circles = circles
    var met: Set<Int> = [declaration]
    while let next = circles.first(where: { !$0.isDisjoint(with: met) && !$0.isSubset(of: met) }) {
      met.formUnion(next)
    }
    return met.min()!
  }

  /// The declaration of a bean.
  private func line(_ number: Int) -> Int {
    if number >= 10_000 { return decorators.lazy.flatMap { $0 }.first { $0.number == number }!.line }
    return number % 1_000
  }

  private func allCircles() -> [Set<Int>] {
    var graph = Graph()
    for level in scenario.levels.indices {
      for bean in kept(in: level) + scenario.chain(from: level).flatMap({ declared(in: $0) }).filter(\.isPrototype) {
        visit(bean, level, &graph, isNeeded: true)
      }
    }
    return graph.circles().map { Set($0.map { line($0.bean) }) }
  }

  /// Results that have been computed once.
  private final class Memory {
    var circles: [Set<Int>]?
    var all: [Int: [ReferenceBean]] = [:]
    var undecorated: [Int: [ReferenceBean]] = [:]
  }
}
