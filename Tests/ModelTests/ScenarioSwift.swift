/// Prints a scenario as a program that needs nothing but `Beans`.
enum ScenarioSwift {
  static func source(_ scenario: Scenario) -> String {
    let scopes = Scope.allCases.filter { scope in scenario.levels.contains { $0.scope == scope } }
    let body = declarations(scenario) + operations(scenario)
    let lines =
      ["import Beans", ""] + types(scenario) + scopes.map { "struct \($0.seed) { let number: Int }" } + [
        "", "func attempt(_ body: () throws -> Void) { do { try body() } catch { print(error) } }", "",
        "func scenario() throws {",
      ] + body.map { "  " + $0 } + ["}", "", "try scenario()"]
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
    let protocols = used.sorted().filter(\.isProtocol).map { "protocol \($0.name) {}" }
    let node = [
      "class Node: DisposableBean {", "  let name: Int", "  let given: [Any?]",
      "  init(_ name: Int, _ given: Any?...) {", "    (self.name, self.given) = (name, given)",
      "    print(\"d\\(name) makes a bean\")", "  }", "  func preDestroy() { print(\"d\\(name) is released\") }", "}",
    ]
    let classes = used.sorted().filter { !$0.isProtocol }.map { kind in
      let isRoot = !kind.supertypes.contains { !$0.isProtocol }
      return "class \(kind.name): " + ((isRoot ? ["Node"] : []) + kind.supertypes.map(\.name)).joined(separator: ", ")
        + " {}"
    }
    return protocols + node + classes
      + (scenario.levels.flatMap(\.declarations).contains { $0.failures > 0 }
        ? ["struct Failure: Error {}", "nonisolated(unsafe) var calls: [Int: Int] = [:]"] : [])
  }

  private static func type(_ kind: Kind, _ form: Parameter.Form = .one) -> String {
    let name = kind.isProtocol ? "any \(kind.name)" : kind.name
    switch form {
    case .one: return name
    case .optional: return kind.isProtocol ? "(\(name))?" : "\(name)?"
    case .all: return "[\(name)]"
    case .provider: return "Provider<\(name)>"
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

  /// A function for each level made by hand, which makes an environment and the factories inside.
  private static func declarations(_ scenario: Scenario) -> [String] {
    var lines: [String] = []
    for (level, declared) in scenario.levels.enumerated() where declared.scope == nil {
      let inner = scenario.family(of: level).dropFirst()
      let results = ["Environment"] + inner.map { "EnvironmentFactory<\(scenario.levels[$0].scope!.seed)>" }
      lines.append("func level\(level)(_ parent: Environment?) throws -> (\(results.joined(separator: ", "))) {")
      lines.append("  let environment = try Environment(name: \"level \(level)\", parent: parent)")
      lines += declared.declarations.map { "  \(define($0, "environment"))" }
      for inner in inner {
        let declared = scenario.levels[inner]
        let outer = declared.parent == level ? "environment" : "factory\(declared.parent!)"
        let head =
          "  let factory\(inner) = try \(outer).childFactory(\"\(declared.scope!)\", seed: \(declared.scope!.seed).self"
        if declared.declarations.isEmpty {
          lines.append(head + ")")
        } else {
          lines.append(head + ", configure: { environment in")
          lines += declared.declarations.map { "    \(define($0, "environment"))" } + ["  })"]
        }
      }
      lines += ["  return (\((["environment"] + inner.map { "factory\($0)" }).joined(separator: ", ")))", "}"]
    }
    return lines
  }

  private static func define(_ declaration: Declaration, _ environment: String) -> String {
    var text = "\(environment).template(\"\(declaration.id ?? "")\")"
    if let kind = declaration.kind {
      text = "\(environment).bean(\(kind.name).self" + (declaration.id.map { ", id: \"\($0)\"" } ?? "")
      if let parameters = declaration.parameters {
        let names = parameters.indices.map { "p\($0)" }
        let list = zip(names, parameters).map { "\($0): \(type($1.wish))" }.joined(separator: ", ")
        var body = "\(kind.name)(\((["\(declaration.number)"] + names).joined(separator: ", ")))"
        if declaration.failures > 0 {
          body =
            "calls[\(declaration.number), default: 0] += 1; "
            + "if calls[\(declaration.number)]! <= \(declaration.failures) { throw Failure() }; return \(body)"
        }
        text += ", factory: { \(parameters.isEmpty ? "" : "(\(list)) in ")\(body) }"
      }
      text += ")"
    }
    if let template = declaration.template { text += ".parent(\"\(template)\")" }
    if declaration.isAbstract { text += ".abstract()" } else if declaration.kind == nil { text += ".abstract(false)" }
    if declaration.isLazy { text += ".lazy()" }
    if declaration.isPrimary { text += ".primary()" }
    if let scope = declaration.scope { text += ".scope(\"\(scope)\")" }
    for (index, parameter) in (declaration.parameters ?? []).enumerated() {
      if let reference = parameter.reference { text += ".argument(\(index), ref: \"\(reference)\")" }
    }
    for requirement in declaration.requirements {
      switch requirement {
      case .id(let id): text += ".requires(id: \"\(id)\")"
      case .kind(let kind): text += ".requires(\(metatype(type(kind))))"
      }
    }
    return "try environment.define(\(text))  // d\(declaration.number)"
  }

  // MARK: operations

  private static func operations(_ scenario: Scenario) -> [String] {
    /// The level of each environment, and the one whose function has made its factory.
    var opened: [(level: Int, owner: Int)] = [(0, 0)]
    var lines = made(scenario, 0, level: 0, parent: "nil")
    for operation in scenario.operations {
      let name = "e\(operation.environment)"
      switch operation {
      case .start: lines.append("attempt { try \(name).startup() }")
      case .finish: lines.append("\(name).finish()")
      case .shutdown: lines.append("attempt { try \(name).shutdown() }")
      case .open(let level, let parent, let starts):
        let number = opened.count
        if let scope = scenario.levels[level].scope {
          let owner = opened[parent].owner
          opened.append((level, owner))
          lines.append(
            "let e\(number) = try e\(owner)factory\(level).build(\(scope.seed)(number: \(number)), in: \(name))")
        } else {
          opened.append((level, number))
          lines += made(scenario, number, level: level, parent: name)
          if starts { lines.append("attempt { try e\(number).startup() }") }
        }
      case .lookup(_, let lookup):
        var call = "print(try \(name).getBean(\(metatype(type(lookup.kind, lookup.form)))"
        call += (lookup.id.map { ", byId: \"\($0)\"" } ?? "") + ")" + (lookup.form == .provider ? ".get()" : "") + ")"
        if lookup.callsProviders { call += "  // and calls the providers given to it" }
        if let current = lookup.current { call += "  // while e\(current) is Environment.current" }
        lines += ["attempt {", "  " + call, "}"]
      }
    }
    return lines + ["attempt { try e0.shutdown() }", "print(e0.statistics())"]
  }

  private static func made(_ scenario: Scenario, _ number: Int, level: Int, parent: String) -> [String] {
    let names = ["e\(number)"] + scenario.family(of: level).dropFirst().map { "e\(number)factory\($0)" }
    return [
      "let \(names.count == 1 ? names[0] : "(" + names.joined(separator: ", ") + ")") = try level\(level)(\(parent))"
    ]
  }
}

extension Scope {
  /// The name of the type of its seeds.
  var seed: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}
