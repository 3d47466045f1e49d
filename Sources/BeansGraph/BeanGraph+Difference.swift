extension BeanGraph {
  /// What two graphs do not have in common: for reviews.
  public struct Difference: Sendable, Hashable, Codable, CustomStringConvertible {
    /// A declaration that both have, as it was and as it is.
    public struct Change: Sendable, Hashable, Codable {
      /// As it was.
      public let old: Node
      /// As it is.
      public let new: Node
    }

    /// Declarations that only the new graph has.
    public let added: [Node]
    /// Declarations that only the old one has.
    public let removed: [Node]
    /// Those that are of another scope or type, or have other flags.
    public let changed: [Change]
    /// Dependencies that only the new graph has.
    public let addedEdges: [Edge]
    /// Dependencies that only the old one has.
    public let removedEdges: [Edge]

    /// Whether the graphs differ at most in where something is declared.
    public var isEmpty: Bool {
      added.isEmpty && removed.isEmpty && changed.isEmpty && addedEdges.isEmpty && removedEdges.isEmpty
    }

    /// A line for each: "+" for what is new, "-" for what is gone, "~" for what has changed.
    public var description: String {
      var lines = removed.map { "- \($0.id) (\($0.summary))" } + added.map { "+ \($0.id) (\($0.summary))" }
      lines += changed.map { "~ \($0.new.id): \($0.old.summary) → \($0.new.summary)" }
      lines += removedEdges.map { "- \($0)" } + addedEdges.map { "+ \($0)" }
      return lines.map { "\($0)\n" }.joined()
    }
  }

  /// What has changed since another graph of the same declarations was made; where they stand in their files does not count.
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
  /// Who takes what, and how.
  public var description: String { "\(from) → \(to) (\(kind.rawValue)\(label.isEmpty ? "" : ": \(label)"))" }
}

extension BeanGraph.Node {
  /// What is said of a declaration besides its name.
  fileprivate var summary: String {
    ([scope] + flags.map(\.rawValue) + [type ?? "no type"] + (inactive.map { ["inactive: \($0)"] } ?? []))
      .joined(separator: ", ")
  }
}
