extension BeanGraph {
  /// The nodes that a text names: by their id, their label, the bean's own id, or the type, with its module or without.
  public func nodes(named text: String) -> [Node] {
    nodes.filter {
      $0.id == text || $0.label == text || $0.beanId == text || $0.type == text || $0.label.hasPrefix("\(text) '")
    }
  }

  /// The part of the graph around the beans of that name: what they take, and who takes them, at most so many steps away.
  ///
  /// - Parameters:
  ///   - bean: as for `nodes(named:)`.
  ///   - depth: how many steps; 0 for the beans alone.
  public func filter(_ bean: String, depth: Int = .max) -> BeanGraph {
    let roots = nodes(named: bean).map(\.id)
    let kept = Set(roots).union(reached(from: roots, depth, outgoing)).union(reached(from: roots, depth, incoming))
    let nodes = nodes.filter { kept.contains($0.id) }
    var around = Set(nodes.map(\.environment))
    // Those further out stand before those in them.
    for cluster in clusters.reversed() where around.contains(cluster.id) {
      cluster.parent.map { _ = around.insert($0) }
    }
    return BeanGraph(
      clusters: clusters.filter { around.contains($0.id) }, nodes: nodes,
      edges: edges.filter { kept.contains($0.from) && kept.contains($0.to) })
  }

  /// All ways on which one bean needs another, none of which comes by a bean twice.
  ///
  /// - Parameters:
  ///   - start: who needs, as for `nodes(named:)`.
  ///   - end: what is needed, as for `nodes(named:)`.
  ///   - limit: how many are looked for: a dense graph has more than anybody reads.
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

  /// Through what the beans of that name are kept: by those that hold them, then by those that hold these, and so on.
  ///
  /// A `Provider` keeps nothing, and neither does what only has to be there before.
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

  /// The nodes that edges lead to from others, in either direction.
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
