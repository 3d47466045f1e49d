/// What a scenario can show, by name: the kinds of declarations and operations, and of what comes of them.
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
        "released by a scope",
      ])
  }()

  static func features(of scenario: Scenario) -> Set<String> {
    var found: Set<String> = []
    for level in scenario.levels { add(level, scenario, &found) }
    for operation in scenario.operations { add(operation, scenario, &found) }
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
      if line.hasSuffix("is released") {
        found.insert("released")
        if case .finishScope = operation { found.insert("released by a scope") }
      }
    }
  }
}
