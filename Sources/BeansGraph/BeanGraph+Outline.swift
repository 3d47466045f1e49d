import Beans

extension BeanGraph {
  /// Creates the graph of an outline: replaces its numbers by names, and keeps each dependency once.
  init(_ outline: DeclarationOutline) {
    var names = UniqueNames()
    var clusters: [Cluster] = []
    for group in outline.groups {
      let parent = group.parent.map { clusters[$0].id }
      let id = names.unique((parent.map { "\($0)/" } ?? "") + group.name)
      clusters.append(
        Cluster(id: id, name: group.name, parent: parent, scope: group.scopeName, inactive: group.inactive))
    }
    let absent = Dictionary(grouping: outline.absences, by: \.taker).mapValues { $0.map(\.type) }
    let nodes = outline.declarations.enumerated().map { number, declaration in
      let cluster = clusters[declaration.group].id
      let traits = Set(declaration.traits.map(\.rawValue))
      return Node(
        id: names.unique("\(cluster)/\(declaration.label)"), label: declaration.label, beanId: declaration.id,
        type: declaration.type.map { Node.name(of: $0) }, environment: cluster, scope: declaration.scope,
        origin: declaration.origin, flags: Node.Flag.allCases.filter { traits.contains($0.rawValue) },
        inactive: declaration.inactive, absent: absent[number])
    }
    // The outline contains a dependency once for each environment that sees the taker.
    let sorted = outline.dependencies.enumerated().sorted {
      ($0.element.taker, $0.offset) < ($1.element.taker, $1.offset)
    }
    var seen: Set<Edge> = []
    let edges = sorted.map(\.element).compactMap { dependency -> Edge? in
      // The kinds of the outline have the names of those here.
      guard let kind = Edge.Kind(rawValue: dependency.kind.rawValue) else { return nil }
      let edge = Edge(
        from: nodes[dependency.taker].id, to: nodes[dependency.taken].id, kind: kind, label: dependency.place)
      return seen.insert(edge).inserted ? edge : nil
    }
    self.init(clusters: clusters, nodes: nodes, edges: edges)
  }
}

/// A source of ids that are unique in one graph: the later ones of several equal ids get a number.
private struct UniqueNames {
  private var counts: [String: Int] = [:]

  mutating func unique(_ id: String) -> String {
    counts[id, default: 0] += 1
    let count = counts[id] ?? 1
    return count == 1 ? id : unique("\(id) #\(count)")
  }
}

extension BeanGraph.Node {
  /// Returns the name of a type with its module, without the address by which Swift names an enclosing function or
  /// file.
  fileprivate static func name(of type: Any.Type) -> String {
    var (name, rest) = ("", String(reflecting: type)[...])
    while let open = rest.firstIndex(of: "(") {
      name += rest[..<open]
      rest = rest[open...]
      if rest.hasPrefix("(unknown context at "), let end = rest.firstIndex(of: ")") {
        rest = rest[end...].dropFirst().drop { $0 == "." }
      } else {
        name += "("
        rest = rest.dropFirst()
      }
    }
    return name + rest
  }
}
