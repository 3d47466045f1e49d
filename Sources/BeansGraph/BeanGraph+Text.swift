// Drawings of the graph as text. Beans are coloured by scope. Templates and inactive declarations are dashed, and so
// are lazy, provided, required and inherited dependencies.

extension BeanGraph {
  /// Returns the graph as a Mermaid flowchart, with environments as subgraphs.
  public func mermaid() -> String {
    var lines = ["flowchart LR"]
    let numbers = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($0.element.id, "n\($0.offset)") })
    appendClusters(of: nil, indent: "  ") { cluster, depth, isOpening in
      lines.append(
        isOpening
          ? "\(depth)subgraph c\(clusters.firstIndex(of: cluster) ?? 0)[\"\(cluster.title.mermaid)\"]" : "\(depth)end")
    } node: { node, depth in
      let (left, right) = node.flags.contains(.seed) ? ("([", "])") : ("[", "]")
      lines.append("\(depth)\(numbers[node.id] ?? "")\(left)\"\(node.text.mermaid)\"\(right)")
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

  /// Returns the graph in the language of Graphviz, with environments as clusters.
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
      lines.append("\(depth)\(node.id.quoted) [label=\(node.text.quoted), fillcolor=\"\(colour)\"\(style)];")
    }
    for edge in edges {
      let label = edge.kind == .parameter ? nil : "label=\(edge.kind.rawValue.quoted)"
      let style = edge.kind.isDashed ? "style=dashed" : edge.kind == .decorates ? "style=bold" : nil
      let attributes = [label, style].compactMap(\.self).joined(separator: ", ")
      lines.append("  \(edge.from.quoted) -> \(edge.to.quoted)\(attributes.isEmpty ? "" : " [\(attributes)]");")
    }
    return (lines + ["}"]).map { "\($0)\n" }.joined()
  }

  /// Visits the clusters inside a cluster, or the outermost ones, each with its nodes.
  ///
  /// - Parameters:
  ///   - parent: the id of the enclosing cluster.
  ///   - indent: the indentation of each line.
  ///   - cluster: called before and after the content of a cluster.
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

  /// The scopes of the nodes, in the order of their first occurrence.
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
  /// The label, with the types that the bean takes and no bean has.
  fileprivate var text: String {
    absent.map { "\(label) (\($0.map { "\($0)?: none" }.joined(separator: ", ")))" } ?? label
  }

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
  /// The text for use between quotation marks in Mermaid, with special characters escaped.
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

  /// The text between quotation marks, escaped for Graphviz.
  fileprivate var quoted: String {
    var text = "\""
    for character in self {
      if character == "\"" || character == "\\" { text += "\\" }
      text.append(character)
    }
    return text + "\""
  }
}
