import Foundation

// Checks in symbol graphs that public symbols are documented as CONTRIBUTING requires. See `check-documentation`.

/// As much of a symbol graph as is looked at.
private struct Graph: Decodable {
  struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Kind: Decodable { let identifier: String }
    struct Comment: Decodable {
      struct Line: Decodable { let text: String }
      let lines: [Line]
    }
    struct Fragment: Decodable { let spelling: String }
    struct Signature: Decodable {
      struct Parameter: Decodable {
        let name: String
        let internalName: String?
      }
      let parameters: [Parameter]?
    }
    struct Location: Decodable {
      struct Position: Decodable { let line: Int }
      let uri: String
      let position: Position
    }

    let identifier: Identifier
    let kind: Kind
    let pathComponents: [String]
    let docComment: Comment?
    let declarationFragments: [Fragment]?
    let functionSignature: Signature?
    let location: Location?
  }

  struct Relationship: Decodable {
    struct Origin: Decodable { let identifier: String }
    let source: String
    let sourceOrigin: Origin?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]
}

extension Graph.Symbol {
  fileprivate var lines: [String] {
    docComment?.lines.map { $0.text.trimmingCharacters(in: .whitespaces) } ?? []
  }

  /// Whether the declaration itself says `throws`: after the parameters, or in an accessor.
  fileprivate var isThrowing: Bool {
    if kind.identifier == "swift.typealias" { return false }
    var depth = 0
    for fragment in declarationFragments ?? [] {
      if fragment.spelling == "throws", depth == 0 { return true }
      depth += fragment.spelling.reduce(0) { $0 + ($1 == "(" ? 1 : $1 == ")" ? -1 : 0) }
    }
    return false
  }

  /// Parameters that the comment says nothing about; none where there are fewer than three.
  fileprivate var undocumentedParameters: [String] {
    let names = functionSignature?.parameters?.map { $0.internalName ?? $0.name } ?? []
    if names.count < 3 { return [] }
    return names.filter { name in
      !lines.contains { $0.hasPrefix("- \(name):") || $0.hasPrefix("- Parameter \(name):") }
    }
  }

  fileprivate var place: String {
    guard let location else { return pathComponents.joined(separator: ".") }
    let path = location.uri.replacingOccurrences(of: "file://", with: "")
    return "\(path.components(separatedBy: "/Sources/").last ?? path):\(location.position.line + 1)"
  }
}

/// The protocol of another module documents its own requirements.
private func isOthers(_ symbol: Graph.Symbol, _ origins: [String: String]) -> Bool {
  origins[symbol.identifier.precise] != nil
}

var complaints: Set<String> = []
var count = 0
for folder in CommandLine.arguments.dropFirst() {
  for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".symbols.json") {
    let data = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name))
    let graph = try JSONDecoder().decode(Graph.self, from: data)
    var origins: [String: String] = [:]
    for relationship in graph.relationships {
      if let origin = relationship.sourceOrigin { origins[relationship.source] = origin.identifier }
    }
    for symbol in graph.symbols where symbol.location != nil && symbol.kind.identifier != "swift.extension" {
      count += 1
      func complain(_ text: String) {
        complaints.insert("\(symbol.place): \(symbol.pathComponents.joined(separator: ".")): \(text)")
      }
      if isOthers(symbol, origins) { continue }
      if symbol.lines.isEmpty {
        complain("is not documented")
        continue
      }
      for parameter in symbol.undocumentedParameters { complain("does not say what '\(parameter)' is") }
      if symbol.isThrowing, !symbol.lines.contains(where: { $0.hasPrefix("- Throws:") }) {
        complain("does not say what it throws")
      }
    }
  }
}
guard complaints.isEmpty, count > 0 else {
  for complaint in complaints.sorted() { print(complaint) }
  print("documentation: \(complaints.count) complaints about \(count) public symbols")
  exit(1)
}
print("documentation: \(count) public symbols are documented")
