/// Prints a scenario as a program that needs only `Beans`, and that prints the lines of `Outcome`.
enum ScenarioSwift {
  static func source(_ scenario: Scenario) -> String {
    let lines =
      ["import Beans", ""] + types(scenario) + ["", support(scenario), ""] + levels(scenario)
      + ["", "func scenario() {"] + operations(scenario).map { "  " + $0 }
      + ["}", "", "scenario()", "environments = []", "print(\"\\(live) alive\")", ""]
    return lines.joined(separator: "\n")
  }

  // MARK: types

  private static func types(_ scenario: Scenario) -> [String] {
    var used: Set<Kind> = []
    for declaration in scenario.levels.flatMap(\.declarations) {
      if let kind = declaration.kind { used.formUnion(kind.all) }
      for case .bean(let kind, _) in (declaration.parameters ?? []).map(\.wish) { used.formUnion(kind.all) }
      for case .kind(let kind) in declaration.requirements { used.formUnion(kind.all) }
    }
    for case .lookup(_, let lookup) in scenario.operations { used.formUnion(lookup.kind.all) }
    // Decorators and products of a protocol are new objects of a class.
    used.formUnion(used.flatMap { $0.made.all })
    used.remove(.mill)
    let protocols = used.sorted().filter(\.isProtocol).map { "protocol \($0.name) {}" }
    let classes = used.sorted().filter { !$0.isProtocol }.map { kind in
      let isRoot = !kind.supertypes.contains { !$0.isProtocol }
      return "class \(kind.name): " + ((isRoot ? ["Node"] : []) + kind.supertypes.map(\.name)).joined(separator: ", ")
        + " {}"
    }
    let scopes = Scope.allCases.filter { scope in scenario.levels.contains { $0.scope == scope } }
    return protocols + classes + scopes.map { "struct \($0.seed): Seed { let number: Int }" }
  }

  private static func type(_ kind: Kind, _ form: Parameter.Form = .one) -> String {
    let name = kind.isProtocol ? "any \(kind.name)" : kind.name
    switch form {
    case .one: return name
    case .optional: return kind.isProtocol ? "(\(name))?" : "\(name)?"
    case .all: return "[\(name)]"
    case .provider: return "Provider<\(name)>"
    case .owned: return "Owned<\(name)>"
    case .lazy: return "Lazy<\(name)>"
    }
  }

  private static func metatype(_ name: String) -> String { name.hasPrefix("any ") ? "(\(name)).self" : "\(name).self" }

  private static func type(_ wish: Parameter.Wish) -> String {
    switch wish {
    case .bean(let kind, let form): type(kind, form)
    case .seed(let scope): scope.seed
    case .environment: "Environment"
    }
  }

  // MARK: declarations

  /// Returns a type for each level created by hand: an environment, and the factories inside.
  private static func levels(_ scenario: Scenario) -> [String] {
    var lines: [String] = []
    for (level, declared) in scenario.levels.enumerated() where declared.scope == nil {
      let inner = scenario.family(of: level).dropFirst()
      lines += ["struct Level\(level) {", "  let environment: Environment"]
      lines += inner.map { "  let factory\($0): EnvironmentFactory<\(scenario.levels[$0].scope!.seed)>" }
      if declared.registersScope { lines.append("  let scope = AbstractBeanScope(name: \"\(Level.ownScope)\")") }
      let instances = declared.declarations.compactMap { declaration -> String? in
        guard case .instance(let number) = declaration.role, let kind = declaration.kind else { return nil }
        return "    if instances[\(number)] == nil { instances[\(number)] = \(kind.name)(\(number)) }"
      }
      lines += [
        "  /// The ready instances that have been declared here and further out.", "  var instances: [Int: Node]",
      ]
      lines += [
        "", "  init(in parent: Environment?, sharing outer: [Int: Node] = [:]) throws {", "    instances = outer",
      ]
      lines += instances
      lines.append("    environment = try Environment(name: \"level \(level)\", parent: parent)")
      if declared.registersScope { lines.append("    try environment.registerScope(scope)") }
      lines += declared.declarations.map { "    \(define($0, "environment"))" }
      for inner in inner {
        let declared = scenario.levels[inner]
        let outer = declared.parent == level ? "environment" : "factory\(declared.parent!)"
        let head =
          "    factory\(inner) = try \(outer).childFactory(\"\(declared.scope!)\", seed: \(declared.scope!.seed).self"
        if declared.declarations.isEmpty {
          lines.append(head + ")")
        } else {
          lines.append(head + ") { environment in")
          lines += declared.declarations.map { "      \(define($0, "environment"))" } + ["    }"]
        }
      }
      lines += ["  }", "}"]
    }
    return lines
  }

  private static func define(_ declaration: Declaration, _ environment: String) -> String {
    let isNumbered =
      !declaration.isAbstract && !declaration.isDecorator
      && (declaration.kind?.isProtocol != true || declaration.isFactoryBean)
    var text = bean(declaration, environment)
    if declaration.hasCallbacks, declaration.kind != nil {
      let number = declaration.number
      text += ".postConstruct { complete($0, by: \(number)) }.onDestroy { letGo(of: $0, by: \(number)) }"
    }
    if isNumbered { text += ".property(\"declaration\", value: \(declaration.number))" }
    if declaration.isFactoryBean, let kind = declaration.kind { text += ".target(\(metatype(type(kind))))" }
    if let template = declaration.template { text += ".parent(\"\(template)\")" }
    if declaration.isAbstract { text += ".abstract()" } else if declaration.kind == nil { text += ".abstract(false)" }
    if declaration.isLazy { text += ".lazy()" }
    if declaration.isPrimary { text += ".primary()" }
    if let scope = declaration.scope { text += ".scope(\"\(scope)\")" }
    for (index, parameter) in (declaration.parameters ?? []).enumerated() {
      let index = declaration.isDecorator ? index + 1 : index
      if let reference = parameter.reference { text += ".argument(\(index), ref: \"\(reference)\")" }
    }
    for requirement in declaration.requirements {
      switch requirement {
      case .id(let id): text += ".requires(id: \"\(id)\")"
      case .kind(let kind): text += ".requires(\(metatype(type(kind))))"
      }
    }
    return "try environment.define(\(text))"
  }

  private static func bean(_ declaration: Declaration, _ environment: String) -> String {
    let line = "file: \"d\", line: \(declaration.number)"
    let id = declaration.id.map { ", id: \"\($0)\"" } ?? ""
    guard let kind = declaration.kind else {
      return "\(environment).template(\"\(declaration.id ?? "")\", \(line))"
    }
    if case .instance(let number) = declaration.role {
      return "\(environment).bean(instances[\(number)]!\(id), \(line))"
    }
    let own = declaration.isFactoryBean ? "Mill" : type(kind)
    let text = "\(environment).\(declaration.isDecorator ? "decorate" : "bean")(\(metatype(own))\(id), \(line)"
    guard let parameters = declaration.parameters else { return text + ")" }
    var list = parameters.enumerated().map { "p\($0): \(type($1.wish))" }
    if declaration.isDecorator { list.insert("inner: \(own)", at: 0) }
    var body = object(declaration, kind, parameters.indices.map { "p\($0)" })
    if declaration.failures > 0 {
      body = "try fail(\(declaration.number), first: \(declaration.failures)); return \(body)"
    }
    return text + ", factory: { \(list.isEmpty ? "" : "(\(list.joined(separator: ", "))) -> \(own) in ")\(body) })"
  }

  /// The result of a factory.
  private static func object(_ declaration: Declaration, _ kind: Kind, _ parameters: [String]) -> String {
    let number = declaration.number
    func new(_ type: String, _ given: [String]) -> String {
      "\(type)(\((["\(number)"] + given).joined(separator: ", ")))"
    }
    switch declaration.role {
    case .bean, .instance: return new(kind.name, parameters)
    case .forwarding: return "hand(on: p0, by: \(number))"
    case .decorator(returnsInner: true): return "hand(on: inner, by: \(number), isDecorator: true)"
    case .decorator:
      return new(kind.made.name, ["inner"] + parameters) + ".belonging(to: \(number), around: inner)"
    case .factoryBean(let returnsTaken):
      let product = ReferenceBean.product(of: number)
      let made =
        returnsTaken
        ? "hand(on: $0[0] as! Node, by: \(product))"
        : "_ in " + new(kind.made.name, []) + ".belonging(to: \(product))"
      return new("Mill", parameters) + ".making { \(made) }"
    }
  }

  // MARK: operations

  private static func operations(_ scenario: Scenario) -> [String] {
    /// The environment whose level has created the factory, for each environment.
    var owners = [0]
    var lines = ["let made0 = attempt { try Level0(in: nil) }", "environments.append(made0?.environment)"]
    for (index, operation) in scenario.operations.enumerated() {
      lines.append("print(\"operation \(index)\")")
      let environment = "environments[\(operation.environment)]"
      switch operation {
      case .start: lines.append("attempt { try \(environment)?.startup() }")
      case .finish: lines.append("\(environment)?.finish()")
      case .shutdown: lines.append("attempt { try \(environment)?.shutdown() }")
      case .finishScope(let number): lines.append("made\(number)?.scope.finish()")
      case .open(let level, let parent, let starts):
        let number = owners.count
        if let scope = scenario.levels[level].scope {
          owners.append(owners[parent])
          let build = "try made\(owners[parent])?.factory\(level).build(\(scope.seed)(number: \(number)), in: $0)"
          lines.append("environments.append(attempt { try \(environment).flatMap { \(build) } })")
        } else {
          owners.append(number)
          let made = "try Level\(level)(in: $0, sharing: made\(owners[parent])?.instances ?? [:])"
          lines.append("let made\(number) = attempt { try \(environment).map { \(made) } }")
          lines.append("environments.append(made\(number)?.environment)")
        }
        let start = "attempt { try environments[\(number)]?.startup() }"
        lines.append(starts ? start : "if \(environment)?.isFinished == true { \(start) }")
      case .lookup(_, let lookup):
        let current = lookup.current.map { ", whileCurrent: environments[\($0)]" } ?? ""
        let providers = lookup.callsProviders ? ", callsProviders: true" : ""
        let givesBack = lookup.givesBack ? ", givesBack: true" : ""
        lines.append("look(in: \(environment)\(current)\(providers)\(givesBack)) { try \(call(lookup)) }")
      }
    }
    return lines + [
      "print(\"end\")", "attempt { try environments[0]?.shutdown() }", "printStatistics()",
    ]
  }

  private static func call(_ lookup: Lookup) -> String {
    let id = lookup.id.map { ", byId: \"\($0)\"" } ?? ""
    switch lookup.form {
    case .one, .optional, .owned: return "$0.getBean(\(metatype(type(lookup.kind, lookup.form)))\(id))"
    case .all: return "$0.getBeansByType(\(metatype(type(lookup.kind))))"
    case .provider: return "$0.getBean(\(metatype(type(lookup.kind, lookup.form)))).get()"
    case .lazy: return "$0.getBean(\(metatype(type(lookup.kind, lookup.form)))\(id)).get()"
    }
  }
}

extension Scope {
  /// The name of the type of its seeds.
  var seed: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}
