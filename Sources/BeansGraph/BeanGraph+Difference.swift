extension BeanGraph {
  /// The difference between two graphs, for reviews.
  public struct Difference: Sendable, CustomStringConvertible {
    /// A declaration of both graphs, in the old and the new form.
    package struct Change: Sendable {
      /// The declaration in the old graph.
      package let old: Node
      /// The declaration in the new graph.
      package let new: Node
    }

    /// The declarations that only the new graph contains.
    package let added: [Node]
    /// The declarations that only the old graph contains.
    package let removed: [Node]
    /// The declarations of both graphs with another scope, type, flag or inactive condition.
    package let changed: [Change]
    /// The dependencies that only the new graph contains.
    package let addedEdges: [Edge]
    /// The dependencies that only the old graph contains.
    package let removedEdges: [Edge]

    /// Whether the graphs are equal except for the places of declarations.
    public var isEmpty: Bool {
      added.isEmpty && removed.isEmpty && changed.isEmpty && addedEdges.isEmpty && removedEdges.isEmpty
    }

    /// One line for each entry: "+" for an added one, "-" for a removed one, "~" for a changed one.
    public var description: String {
      var lines = removed.map { "- \($0.id) (\($0.summary))" } + added.map { "+ \($0.id) (\($0.summary))" }
      lines += changed.map { "~ \($0.new.id): \($0.old.summary) → \($0.new.summary)" }
      lines += removedEdges.map { "- \($0)" } + addedEdges.map { "+ \($0)" }
      return lines.map { "\($0)\n" }.joined()
    }
  }

  /// Returns the changes since an older graph. The places of declarations in their files are not compared.
  public func difference(from old: BeanGraph) -> Difference {
    let before = Dictionary(old.nodes.map { ($0.id, $0) }) { first, _ in first }
    let now = Set(nodes.map(\.id))
    let (oldEdges, newEdges) = (Set(old.edges), Set(edges))
    return Difference(
      added: nodes.filter { before[$0.id] == nil }, removed: old.nodes.filter { !now.contains($0.id) },
      changed: nodes.compactMap { new in
        before[new.id].flatMap { $0.summary == new.summary ? nil : Difference.Change(old: $0, new: new) }
      },
      addedEdges: edges.filter { !oldEdges.contains($0) }, removedEdges: old.edges.filter { !newEdges.contains($0) })
  }
}

extension BeanGraph.Edge: CustomStringConvertible {
  /// The taker, the taken bean, and the kind and place of the dependency.
  public var description: String { "\(from) → \(to) (\(kind.rawValue)\(label.isEmpty ? "" : ": \(label)"))" }
}

extension BeanGraph.Node {
  /// The properties of a declaration besides its name, as one text.
  fileprivate var summary: String {
    ([scope] + flags.map(\.rawValue) + [type ?? "no type"] + (inactive.map { ["inactive: \($0)"] } ?? []))
      .joined(separator: ", ")
  }
}
