import Foundation

// Prints the public declarations in symbol graphs, a sorted line for each. See `check-api`.

/// The parts of a symbol graph that a program which uses the module depends on.
private struct Graph: Decodable {
  struct Module: Decodable { let name: String }
  struct Fragment: Decodable { let spelling: String }
  struct Constraint: Decodable {
    let kind: String
    let lhs: String
    let rhs: String

    var text: String { "\(lhs) \(kind == "sameType" ? "==" : ":") \(rhs)" }
  }
  struct Availability: Decodable {
    let isUnconditionallyDeprecated: Bool?
    let deprecated: Version?
    struct Version: Decodable {}
  }

  struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Kind: Decodable { let identifier: String }
    struct Extension: Decodable { let constraints: [Constraint]? }

    let identifier: Identifier
    let kind: Kind
    let pathComponents: [String]
    let declarationFragments: [Fragment]?
    let swiftExtension: Extension?
    let availability: [Availability]?
  }

  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    let targetFallback: String?
    let swiftConstraints: [Constraint]?
  }

  let module: Module
  let symbols: [Symbol]
  let relationships: [Relationship]
}

extension Graph.Symbol {
  fileprivate var path: String { pathComponents.joined(separator: ".") }

  /// The declaration in one line, with the constraints of its extension and whether it is deprecated.
  fileprivate var declaration: String {
    let text = (declarationFragments ?? []).map(\.spelling).joined()
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let deprecated = (availability ?? []).contains { $0.isUnconditionallyDeprecated == true || $0.deprecated != nil }
    return (deprecated ? "deprecated " : "") + words + Self.text(swiftExtension?.constraints)
  }

  fileprivate static func text(_ constraints: [Graph.Constraint]?) -> String {
    // Those of every type that does not suppress them.
    let implied = ["Copyable", "Escapable"]
    let all = Set((constraints ?? []).filter { !implied.contains($0.rhs) }.map(\.text)).sorted()
    return all.isEmpty ? "" : " [extension where \(all.joined(separator: ", "))]"
  }
}

private func graphs(in folder: String) throws -> [Graph] {
  let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
  return try files.sorted().filter { $0.hasSuffix(".symbols.json") }.map { name in
    let data = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name))
    return try JSONDecoder().decode(Graph.self, from: data)
  }
}

private let all = try CommandLine.arguments.dropFirst().flatMap { try graphs(in: $0) }
private var paths: [String: String] = [:]
for graph in all {
  for symbol in graph.symbols { paths[symbol.identifier.precise] = "\(graph.module.name).\(symbol.path)" }
}

private var lines: Set<String> = []
for graph in all {
  let requirements = Set(graph.relationships.lazy.filter { $0.kind == "requirementOf" }.map(\.source))
  let defaults = Set(graph.relationships.lazy.filter { $0.kind == "defaultImplementationOf" }.map(\.target))
  let own = Dictionary(graph.symbols.map { ($0.identifier.precise, $0) }, uniquingKeysWith: { first, _ in first })
  for symbol in graph.symbols where symbol.kind.identifier != "swift.extension" {
    let id = symbol.identifier.precise
    // A new one breaks each type that conforms, or each `switch` over the enum.
    let mark =
      symbol.kind.identifier == "swift.enum.case"
      ? " [case]" : requirements.contains(id) && !defaults.contains(id) ? " [requirement]" : ""
    lines.insert("\(graph.module.name)\t\(symbol.path): \(symbol.declaration)\(mark)")
  }
  for relationship in graph.relationships where ["conformsTo", "inheritsFrom"].contains(relationship.kind) {
    guard let source = own[relationship.source]?.path ?? paths[relationship.source],
      let target = relationship.targetFallback ?? paths[relationship.target], target != "Swift.SendableMetatype"
    else { continue }
    let verb = relationship.kind == "conformsTo" ? "conforms to" : "inherits from"
    let constraints = Graph.Symbol.text(relationship.swiftConstraints)
    lines.insert("\(graph.module.name)\t\(source) \(verb) \(target)\(constraints)")
  }
}
for line in lines.sorted() { print(line) }
