/// The features that a scenario can show, by name: the kinds of declarations, operations and results.
enum ScenarioFeature {
  static let all: Set<String> = {
    let forms = Parameter.Form.allCases.flatMap { ["parameter: \($0)", "lookup: \($0)"] }
    let scopes = Scope.allCases.flatMap { ["level: \($0)", "scope: \($0)", "seed: \($0)"] }
    return Set(
      forms + scopes + [
        "level: inside a factory's", "environment inside a factory's", "registered scope", "scope: prototype",
        "scope: \(Level.ownScope)", "class without a factory", "template", "template without a class",
        "heir without a class", "heir without an id", "lazy", "primary", "parameter: environment",
        "parameter: protocol", "parameter: reference", "requires an id", "requires a type", "failing factory", "start",
        "open", "open and start", "finish", "shutdown", "finish of a registered scope", "lookup: id",
        "lookup: protocol", "current environment that matters", "prototype made", "provider called", "found nothing",
        "found several", "fault", "factory has thrown", "failing open", "failing build", "released",
        "released by a scope", "forwarding", "forwarding by a prototype", "forwarding by a protocol", "decorator",
        "decorator of a protocol", "decorator that returns its inner", "decorator with parameters", "factory bean",
        "factory bean that returns a bean", "product as a prototype", "lookup: factory bean", "instance",
        "instance declared twice", "callbacks", "given back", "prototype released", "bean returned",
        "circle over levels",
      ])
  }()

  static func features(of scenario: Scenario) -> Set<String> {
    var found: Set<String> = []
    for level in scenario.levels { add(level, scenario, &found) }
    let instances = scenario.levels.flatMap(\.declarations).compactMap { declaration in
      if case .instance(let number) = declaration.role { number } else { nil }
    }
    if Set(instances).count < instances.count { found.insert("instance declared twice") }
    for operation in scenario.operations { add(operation, scenario, &found) }
    if ReferenceRules(scenario).hasCircleOverLevels { found.insert("circle over levels") }
    addOutcome(scenario, &found)
    return found
  }

  private static func add(_ level: Level, _ scenario: Scenario, _ found: inout Set<String>) {
    let isInsideFactory = level.parent.map { scenario.levels[$0].scope != nil } ?? false
    if let scope = level.scope {
      found.insert("level: \(scope)")
      if isInsideFactory { found.insert("level: inside a factory's") }
    } else if isInsideFactory {
      found.insert("environment inside a factory's")
    }
    if level.registersScope { found.insert("registered scope") }
    for declaration in level.declarations { add(declaration, &found) }
  }

  private static func add(_ declaration: Declaration, _ found: inout Set<String>) {
    if declaration.isAbstract { found.insert(declaration.kind == nil ? "template without a class" : "template") }
    if declaration.kind != nil && declaration.parameters == nil { found.insert("class without a factory") }
    if declaration.template != nil {
      if declaration.kind == nil { found.insert("heir without a class") }
      if declaration.id == nil { found.insert("heir without an id") }
    }
    if declaration.isLazy { found.insert("lazy") }
    if declaration.isPrimary { found.insert("primary") }
    if declaration.failures > 0 { found.insert("failing factory") }
    if declaration.hasCallbacks { found.insert("callbacks") }
    switch declaration.role {
    case .bean: break
    case .forwarding:
      found.insert("forwarding")
      if declaration.scope == "prototype" { found.insert("forwarding by a prototype") }
      if declaration.kind?.isProtocol == true { found.insert("forwarding by a protocol") }
    case .decorator(let returnsInner):
      found.insert("decorator")
      if declaration.kind?.isProtocol == true { found.insert("decorator of a protocol") }
      if returnsInner { found.insert("decorator that returns its inner") }
      if declaration.parameters?.isEmpty == false { found.insert("decorator with parameters") }
    case .factoryBean(let returnsTaken):
      found.insert("factory bean")
      if returnsTaken { found.insert("factory bean that returns a bean") }
      if declaration.scope == "prototype" { found.insert("product as a prototype") }
    case .instance: found.insert("instance")
    }
    if let scope = declaration.scope { found.insert("scope: \(scope)") }
    for parameter in declaration.parameters ?? [] {
      if parameter.reference != nil { found.insert("parameter: reference") }
      switch parameter.wish {
      case .bean(let kind, let form):
        found.insert("parameter: \(form)")
        if kind.isProtocol { found.insert("parameter: protocol") }
      case .seed(let scope): found.insert("seed: \(scope)")
      case .environment: found.insert("parameter: environment")
      }
    }
    for requirement in declaration.requirements {
      if case .id = requirement { found.insert("requires an id") } else { found.insert("requires a type") }
    }
  }

  private static func add(_ operation: Operation, _ scenario: Scenario, _ found: inout Set<String>) {
    switch operation {
    case .start: found.insert("start")
    case .open(_, _, let starts): found.insert(starts ? "open and start" : "open")
    case .finish: found.insert("finish")
    case .shutdown: found.insert("shutdown")
    case .finishScope: found.insert("finish of a registered scope")
    case .lookup(_, let lookup):
      found.insert("lookup: \(lookup.form)")
      if lookup.id != nil { found.insert("lookup: id") }
      if lookup.kind.isProtocol { found.insert("lookup: protocol") }
      if lookup.kind == .mill { found.insert("lookup: factory bean") }
    }
  }

  private static func addOutcome(_ scenario: Scenario, _ found: inout Set<String>) {
    let lines = ContainerUnderTest.run(scenario).lines
    var without = scenario
    for (index, operation) in scenario.operations.enumerated() {
      guard case .lookup(let environment, var lookup) = operation else { continue }
      lookup.current = nil
      without.operations[index] = .lookup(environment, lookup)
    }
    if without != scenario, ContainerUnderTest.run(without).lines != lines {
      found.insert("current environment that matters")
    }
    var operation: Operation?
    for line in lines {
      if line.hasPrefix("operation "), let index = Int(line.dropFirst("operation ".count)) {
        operation = scenario.operations[index]
      }
      if line == "end" { operation = nil }
      if line.hasPrefix("fault") {
        found.insert("fault")
        if case .open(let level, _, _) = operation {
          found.insert(scenario.levels[level].scope == nil ? "failing open" : "failing build")
        }
      }
      if line.contains("{") { found.insert("prototype made") }
      if line.hasPrefix("provided") { found.insert("provider called") }
      if line == "found nil" { found.insert("found nothing") }
      if line.hasPrefix("found [#") { found.insert("found several") }
      if line.hasSuffix("throws") { found.insert("factory has thrown") }
      if line.contains(" returns ") { found.insert("bean returned") }
      if line.hasSuffix("is released") {
        found.insert(line.contains("{") ? "prototype released" : "released")
        if case .lookup = operation { found.insert("given back") }
        if case .finishScope = operation { found.insert("released by a scope") }
      }
    }
  }
}
