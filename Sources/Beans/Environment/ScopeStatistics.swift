import Synchronization

/// How much has come and gone in the children of one scope.
public struct ScopeStatistics: Sendable, Equatable {
  /// The name of the scope, or of a plain child environment.
  public let scope: String
  /// Environments opened.
  public internal(set) var opened = 0
  /// Environments finished, their beans released.
  public internal(set) var finished = 0
  /// Beans created in those that have finished.
  public internal(set) var created = 0
  /// Beans released.
  public internal(set) var released = 0

  init(scope: String) { self.scope = scope }

  mutating func add(_ other: ScopeStatistics) {
    opened += other.opened
    finished += other.finished
    created += other.created
    released += other.released
  }

  /// One entry per scope, in order of name.
  static func merged(_ all: [ScopeStatistics]) -> [ScopeStatistics] {
    let byScope = Dictionary(grouping: all, by: \.scope)
    return byScope.keys.sorted().map { scope in
      byScope[scope, default: []].reduce(into: ScopeStatistics(scope: scope)) { $0.add($1) }
    }
  }
}

extension Environment {
  /// Counts per scope: this environment and all that were opened below it so far, live or not, wherever in the tree.
  ///
  /// Walks the live children; for reports. From any thread.
  public func statistics() -> [ScopeStatistics] {
    var own = ScopeStatistics(scope: name)
    own.opened = 1
    own.finished = isReleased ? 1 : 0
    own.created = createdBeans
    own.released = existingSide?.releasedBeans.load(ordering: .relaxed) ?? 0
    guard let children = existingSide?.children else { return [own] }
    let live = children.all
    // A live child has been counted as opened when it joined; what lives below it has not.
    let below = live.flatMap { $0.statistics() }
    var ended = children.statistics
    for child in live { ended.append(ScopeStatistics(alreadyCounted: child.name)) }
    return ScopeStatistics.merged([own] + ended + below)
  }
}

extension ScopeStatistics {
  /// Takes back one opening.
  fileprivate init(alreadyCounted scope: String) {
    self.init(scope: scope)
    opened = -1
  }
}
