import Beans
import BeansGraph

extension Operations {
  /// The declarations by environment, in the shape of Spring Boot's `/beans`; nil before the environment has started.
  ///
  /// In addition, `edges` contains the kind of each dependency.
  var beans: JSON? {
    guard let graph else { return nil }
    let aliases = environment.aliases
    let names = Dictionary(graph.nodes.map { ($0.id, Self.name($0)) }) { first, _ in first }
    let edges = Dictionary(grouping: graph.edges, by: \.from)
    let contexts = graph.clusters.map { cluster in
      let beans = graph.nodes.filter { $0.environment == cluster.id }.map { node in
        let edges = edges[node.id] ?? []
        var needed: [String] = []
        for edge in edges.compactMap({ names[$0.to] }) where !needed.contains(edge) { needed.append(edge) }
        let object = JSON.object([
          ("aliases", .array((node.beanId.flatMap { aliases[cluster.id]?[$0] } ?? []).map { .string($0) })),
          ("scope", .string(node.scope)), ("type", JSON(node.type)),
          ("resource", JSON(node.origin)), ("dependencies", .array(needed.map { .string($0) })),
          ("flags", .array(node.flags.map { .string($0.rawValue) })), ("inactive", JSON(node.inactive)),
          (
            "edges",
            .array(edges.map { .object([("to", .string($0.to)), ("kind", .string($0.kind.rawValue))]) })
          ),
        ])
        return (Self.name(node), object)
      }
      return (cluster.id, JSON.object([("parentId", JSON(cluster.parent)), ("beans", .object(beans))]))
    }
    return .object([("contexts", .object(contexts))])
  }

  /// Returns the name of a node, unique in its environment.
  private static func name(_ node: BeanGraph.Node) -> String { String(node.id.dropFirst(node.environment.count + 1)) }
}
