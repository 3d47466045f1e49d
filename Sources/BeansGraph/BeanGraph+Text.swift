// Pictures of the graph as text. Beans are coloured by scope; what is no bean, or is asked for later, is dashed.

extension BeanGraph {
  /// The graph in the language of Mermaid: a flowchart, environments as subgraphs.
  public func mermaid() -> String {
    var lines = ["flowchart LR"]
    let numbers = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($0.element.id, "n\($0.offset)") })
    appendClusters(of: nil, indent: "  ") { cluster, depth, isOpening in
      lines.append(
        isOpening
          ? "\(depth)subgraph c\(clusters.firstIndex(of: cluster) ?? 0)[\"\(cluster.title.mermaid)\"]" : "\(depth)end")
    } node: { node, depth in
      let (left, right) = node.flags.contains(.seed) ? ("([", "])") : ("[", "]")
      lines.append("\(depth)\(numbers[node.id] ?? "")\(left)\"\(node.label.mermaid)\"\(right)")
    }
    for edge in edges {
      guard let from = numbers[edge.from], let to = numbers[edge.to] else { continue }
      let text = edge.kind == .parameter ? "" : "|\(edge.kind.rawValue)|"
      lines.append("  \(from) \(edge.kind.isDashed ? "-.->" : edge.kind == .decorates ? "==>" : "-->")\(text) \(to)")
    }
    for (number, scope) in scopes.enumerated() {
      let members = nodes.filter { $0.scope == scope }.compactMap { numbers[$0.id] }
      lines.append("  classDef scope\(number) fill:\(Self.colour(number)),stroke:#57606a,color:#1f2328")
      lines.append("  class \(members.joined(separator: ",")) scope\(number)")
    }
    let dashed = nodes.filter(\.isDashed).compactMap { numbers[$0.id] }
    if !dashed.isEmpty {
      lines += ["  classDef dashed stroke-dasharray:5 4", "  class \(dashed.joined(separator: ",")) dashed"]
    }
    return lines.map { "\($0)\n" }.joined()
  }

  /// The graph in the language of Graphviz, environments as clusters.
  public func dot() -> String {
    var lines = [
      "digraph beans {", "  rankdir=LR;", "  compound=true;",
      "  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\"];", "  edge [fontname=\"sans-serif\"];",
    ]
    let scopes = scopes
    appendClusters(of: nil, indent: "  ") { cluster, depth, isOpening in
      guard isOpening else { return lines.append("\(depth)}") }
      lines.append("\(depth)subgraph \("cluster_\(cluster.id)".quoted) {")
      lines.append("\(depth)  label=\(cluster.title.quoted);")
    } node: { node, depth in
      let colour = Self.colour(scopes.firstIndex(of: node.scope) ?? 0)
      let style = node.isDashed ? ", style=\"filled,rounded,dashed\"" : ""
      lines.append("\(depth)\(node.id.quoted) [label=\(node.label.quoted), fillcolor=\"\(colour)\"\(style)];")
    }
    for edge in edges {
      let label = edge.kind == .parameter ? nil : "label=\(edge.kind.rawValue.quoted)"
      let style = edge.kind.isDashed ? "style=dashed" : edge.kind == .decorates ? "style=bold" : nil
      let attributes = [label, style].compactMap(\.self).joined(separator: ", ")
      lines.append("  \(edge.from.quoted) -> \(edge.to.quoted)\(attributes.isEmpty ? "" : " [\(attributes)]");")
    }
    return (lines + ["}"]).map { "\($0)\n" }.joined()
  }

  /// Walks the clusters in a cluster, or those that stand in none, each with its nodes.
  ///
  /// - Parameters:
  ///   - parent: the id of the cluster around.
  ///   - indent: before each line.
  ///   - cluster: called before what is in a cluster, and after.
  ///   - node: called for each node.
  private func appendClusters(
    of parent: String?, indent: String, cluster: (Cluster, String, _ isOpening: Bool) -> Void,
    node: (Node, String) -> Void
  ) {
    for inner in clusters where inner.parent == parent {
      cluster(inner, indent, true)
      for bean in nodes where bean.environment == inner.id { node(bean, "\(indent)  ") }
      appendClusters(of: inner.id, indent: "\(indent)  ", cluster: cluster, node: node)
      cluster(inner, indent, false)
    }
  }

  /// In the order in which they are met.
  private var scopes: [String] {
    var seen: Set<String> = []
    return nodes.map(\.scope).filter { seen.insert($0).inserted }
  }

  private static func colour(_ number: Int) -> String {
    ["#ddf4ff", "#dafbe1", "#fff8c5", "#ffebe9", "#fbefff", "#eaeef2"][number % 6]
  }
}

extension BeanGraph.Cluster {
  fileprivate var title: String { inactive.map { "\(name) (inactive: \($0))" } ?? name }
}

extension BeanGraph.Node {
  fileprivate var isDashed: Bool { inactive != nil || flags.contains(.template) }
}

extension BeanGraph.Edge.Kind {
  fileprivate var isDashed: Bool {
    switch self {
    case .lazy, .provider, .current, .requirement, .template: true
    case .parameter, .property, .optional, .collection, .owned, .decorates, .factory: false
    }
  }
}

extension String {
  /// As text between quotation marks in Mermaid, where some characters have a meaning.
  fileprivate var mermaid: String {
    var text = ""
    for character in self {
      switch character {
      case "\"", "#", "<", ">", "`", "&": text += character.asciiValue.map { "#\($0);" } ?? ""
      default: text.append(character)
      }
    }
    return text
  }

  /// Between quotation marks, as Graphviz reads it.
  fileprivate var quoted: String {
    var text = "\""
    for character in self {
      if character == "\"" || character == "\\" { text += "\\" }
      text.append(character)
    }
    return text + "\""
  }
}
