import Beans
import BeansLogging
@_spi(BeansPackage) import BeansSupport

/// How long the beans of a startup take: the container's traces say when each of them begins and is there.
final class StartupTimes: LogManager.Log, @unchecked Sendable {  // what it adds is under the lock
  private struct State {
    var begun: [String: ContinuousClock.Instant] = [:]
    var took: [String: Duration] = [:]
  }

  private let state = Locked(State())

  init() { super.init(name: "startup") }

  /// Runs `body` with the traces of the process sent here.
  func measure(_ body: () throws -> Void) rethrows -> Duration {
    Tracer.setDestination(self)
    Tracer.setTraceLevel("beans.runtime", level: .full)
    defer { Tracer.setTraceLevel("beans.runtime", level: .off) }
    return try ContinuousClock().measure(body)
  }

  override func log(_ entry: LogEntry) {
    let now = ContinuousClock.now
    state.withLock { state in
      if entry.message.hasPrefix("create ") {
        state.begun[String(entry.message.dropFirst("create ".count))] = now
      } else if entry.message.hasPrefix("created ") {
        let bean = String(entry.message.dropFirst("created ".count))
        if let begun = state.begun.removeValue(forKey: bean) { state.took[bean, default: .zero] += now - begun }
      }
    }
  }

  /// The time of each bean that has been created, by the id of its node.
  func beans(of graph: BeanGraph) -> [String: Duration] {
    let names = Dictionary(uniqueKeysWithValues: graph.clusters.map { ($0.id, $0.name) })
    let took = state.withLock { $0.took }
    var found: [String: Duration] = [:]
    for node in graph.nodes { found[node.id] = took["\(node.label) in '\(names[node.environment] ?? "")'"] }
    return found
  }

  /// The beans that have to be created one after the other and together take longest, first things first.
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
      // Once is enough: what is built before something is not built after it as well.
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
  /// Whether what is taken is there before its taker.
  fileprivate var isBefore: Bool {
    switch self {
    case .parameter, .property, .optional, .collection, .requirement, .decorates, .factory: true
    case .lazy, .owned, .provider, .current, .template: false
    }
  }
}
