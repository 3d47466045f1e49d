extension BeanGraph {
  /// Returns the nodes that match the text by id, label, bean id, or type, with or without its module.
  package func nodes(named text: String) -> [Node] {
    nodes.filter {
      $0.id == text || $0.label == text || $0.beanId == text || $0.type == text || $0.label.hasPrefix("\(text) '")
    }
  }

  /// Returns the part of the graph around the matching beans: their dependencies and dependents, up to a number of
  /// steps away.
  ///
  /// - Parameters:
  ///   - bean: the id, the label or the type of the beans.
  ///   - depth: the number of steps; 0 for the beans alone.
  public func filter(_ bean: String, depth: Int = .max) -> BeanGraph {
    let roots = nodes(named: bean).map(\.id)
    let kept = Set(roots).union(reached(from: roots, depth, outgoing)).union(reached(from: roots, depth, incoming))
    let nodes = nodes.filter { kept.contains($0.id) }
    var around = Set(nodes.map(\.environment))
    // An outer cluster precedes its inner clusters.
    for cluster in clusters.reversed() where around.contains(cluster.id) {
      cluster.parent.map { _ = around.insert($0) }
    }
    return BeanGraph(
      clusters: clusters.filter { around.contains($0.id) }, nodes: nodes,
      edges: edges.filter { kept.contains($0.from) && kept.contains($0.to) })
  }

  /// Returns all paths on which one bean needs another. No path visits a bean twice.
  ///
  /// - Parameters:
  ///   - start: the id, the label or the type of the dependent bean.
  ///   - end: the id, the label or the type of the required bean.
  ///   - limit: the maximum number of paths: a dense graph has more than a person reads.
  public func paths(from start: String, to end: String, limit: Int = 1_000) -> [[Edge]] {
    let (outgoing, ends) = (outgoing, Set(nodes(named: end).map(\.id)))
    let useful = ends.union(reached(from: Array(ends), .max, incoming))
    var found: [[Edge]] = []
    for root in nodes(named: start).map(\.id) where useful.contains(root) && !ends.contains(root) {
      var path: [Edge] = []
      var seen: Set = [root]
      var stack = [(outgoing[root] ?? [])[...]]
      while found.count < limit, let edge = stack.last?.first {
        stack[stack.count - 1].removeFirst()
        if ends.contains(edge.to) {
          found.append(path + [edge])
        } else if useful.contains(edge.to), seen.insert(edge.to).inserted {
          path.append(edge)
          stack.append((outgoing[edge.to] ?? [])[...])
        }
        while stack.count > 1, stack.last?.isEmpty == true {
          stack.removeLast()
          if let last = path.popLast() { seen.remove(last.to) }
        }
      }
    }
    return found
  }

  /// Returns the edges through which the matching beans are retained: by their holders, then by the holders of these,
  /// and so on.
  ///
  /// A `Provider` retains nothing, and neither does a mere requirement.
  public func keepers(of bean: String) -> [Edge] {
    let incoming = incoming.mapValues { $0.filter(\.kind.keeps) }
    var found: [Edge] = []
    var (level, seen) = (nodes(named: bean).map(\.id), Set(nodes(named: bean).map(\.id)))
    while !level.isEmpty {
      let edges = level.flatMap { incoming[$0] ?? [] }
      found += edges
      level = edges.map(\.from).filter { seen.insert($0).inserted }
    }
    return found
  }

  private var outgoing: [String: [Edge]] { Dictionary(grouping: edges, by: \.from) }

  private var incoming: [String: [Edge]] { Dictionary(grouping: edges, by: \.to) }

  /// Returns the nodes that the edges reach from the roots, in either direction.
  private func reached(from roots: [String], _ depth: Int, _ edges: [String: [Edge]]) -> Set<String> {
    var (seen, level, left) = (Set(roots), roots, depth)
    while !level.isEmpty, left > 0 {
      left -= 1
      var next: [String] = []
      for id in level {
        for edge in edges[id] ?? [] {
          let other = edge.from == id ? edge.to : edge.from
          if seen.insert(other).inserted { next.append(other) }
        }
      }
      level = next
    }
    return seen
  }
}
