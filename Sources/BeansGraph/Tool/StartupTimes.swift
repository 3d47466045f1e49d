import Beans

/// The times that the beans of a startup have taken, by the ids of their nodes.
enum StartupTimes {
  /// The identity of a declaration in both the graph and the times. Two beans may have one label, but not one place.
  private struct Key: Hashable {
    let label: String
    let origin: EnvironmentError.Origin?
  }

  /// - Parameters:
  ///   - graph: the graph of the started environment.
  ///   - times: the times that the startup has recorded.
  /// - Returns: the durations of beans with a time of their own. A bean that a factory has looked up is part of that
  ///   factory's bean.
  static func beans(of graph: BeanGraph, _ times: [StartupTime]) -> [String: Duration] {
    let started = graph.nodes.filter { $0.environment == graph.clusters.first?.id }
    let ids = Dictionary(
      started.map { (Key(label: $0.label, origin: $0.origin), $0.id) }, uniquingKeysWith: { first, _ in first })
    return times.reduce(into: [:]) { found, time in
      guard let duration = time.duration, let id = ids[Key(label: time.bean, origin: time.origin)] else { return }
      found[id, default: .zero] += duration
    }
  }

  /// Returns the beans that have to be created one after the other and together take longest, in the order of creation.
  static func longestPath(in graph: BeanGraph, _ times: [String: Duration]) -> [String] {
    let needs = Dictionary(grouping: graph.edges.filter(\.kind.isBefore), by: \.from)
    var best: [String: (time: Duration, next: String?)] = [:]
    var seen: Set<String> = []
    var stack = times.keys.sorted()
    while let id = stack.last {
      if best[id] != nil {
        stack.removeLast()
        continue
      }
      let inner = (needs[id] ?? []).map(\.to).filter { times[$0] != nil }
      // Each bean is visited once: a bean that is built before another one is not built after it as well.
      let open = inner.filter { best[$0] == nil && seen.insert($0).inserted }
      if !open.isEmpty {
        stack += open
        continue
      }
      let longest = inner.max { (best[$0]?.time ?? .zero) < (best[$1]?.time ?? .zero) }
      best[id] = ((times[id] ?? .zero) + (longest.flatMap { best[$0]?.time } ?? .zero), longest)
      stack.removeLast()
    }
    var path: [String] = []
    var next = best.max { ($0.value.time, $1.key) < ($1.value.time, $0.key) }?.key
    while let id = next {
      path.insert(id, at: 0)
      next = best[id]?.next
    }
    return path
  }
}

extension BeanGraph.Edge.Kind {
  /// Whether the dependency exists before the bean that takes it.
  fileprivate var isBefore: Bool {
    switch self {
    case .parameter, .property, .optional, .collection, .requirement, .decorates, .factory: true
    case .lazy, .owned, .provider, .current, .template: false
    }
  }
}
