/// The beans that have to exist before others which take them by a `Lazy`, where some of them are created
/// asynchronously. The order of the definitions alone does not order asynchronous creations.
struct DeferredCreations {
  /// The numbers of the beans that precede a bean, by the bean's number.
  private(set) var precedents = [Int32: [Int32]]()

  /// - Parameters:
  ///   - graph: a sorted graph, whose beans have numbers and are marked where they await a creation.
  ///   - dependencies: the dependencies of all beans.
  init(_ graph: EnvironmentGraph, _ dependencies: [PlacedBean.Dependency]) {
    guard dependencies.contains(where: \.parameter.isDeferred) else { return }
    // The awaited beans that precede each bean visited so far.
    var known = [Int32: Set<Int32>]()
    for bean in graph.sorted {
      var before: Set<Int32> = []
      bean.forEachDependency(in: dependencies, includesDeferred: true) { need in
        // A bean that comes later leads back to its taker.
        guard need.graph === graph, let further = known[need.number] else { return }
        if Self.isEager(need, in: graph), need.awaits || !further.isEmpty {
          before.insert(need.number)
        } else {
          before.formUnion(further)
        }
      }
      known[bean.number] = before
      if !before.isEmpty, Self.isEager(bean, in: graph) { precedents[bean.number] = before.sorted() }
    }
  }

  /// Whether `ready()` creates the bean.
  private static func isEager(_ bean: PlacedBean, in graph: EnvironmentGraph) -> Bool {
    bean.kind == .slot && !bean.definition.isLazy
      && (graph.isPlain || bean.definition.traits.contains(.awaited))
  }
}
