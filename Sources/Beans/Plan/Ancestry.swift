/// A level of nested environments that reaches every level further out in a logarithmic number of steps.
protocol NestedLevel: AnyObject {
  /// The number of levels further out.
  var depth: Int { get }
  var parent: Self? { get }
  /// A level further out, at a distance that depends only on the depth; see `shortcut(below:)`.
  var shortcut: Self? { get }
}

extension NestedLevel {
  /// Returns the shortcut of a level inside `parent`: the end of the second of two consecutive shortcuts of equal
  /// length, otherwise the parent.
  static func shortcut(below parent: Self?) -> Self? {
    guard let parent, let next = parent.shortcut, let last = next.shortcut else { return parent }
    return if parent.depth - next.depth == next.depth - last.depth { last } else { parent }
  }

  /// Returns the level `hops` steps further out; nil if there is none.
  func ancestor(_ hops: Int) -> Self? {
    let wanted = depth - hops
    if wanted < 0 { return nil }
    var level = self
    while level.depth > wanted {
      guard let shortcut = level.shortcut, let parent = level.parent else { return nil }
      level = if shortcut.depth < wanted { parent } else { shortcut }
    }
    return level
  }
}

/// An index of the nearest level that has a name, among one level and all levels further out. Frozen.
///
/// Levels without names share the index of their parent. Every eighth level with names covers at least eight levels, so
/// that a search takes a logarithmic number of probes.
final class NearestNames<Name: Hashable & Sendable, Value: Sendable>: Sendable {
  private let names: [Name: Value]
  private let depth: Int
  /// The number of levels with names.
  private let rank: Int
  /// The depths of the names further out, for the levels that this one covers.
  private let covered: [Name: Int]
  /// The nearest level that this one does not cover.
  private let next: NearestNames?

  private init(_ names: [Name: Value], depth: Int, outer: NearestNames?) {
    (self.names, self.depth) = (names, depth)
    rank = (outer?.rank ?? 0) + 1
    let count = rank & -rank
    var (covered, next): ([Name: Int], NearestNames?) = ([:], outer)
    if count >= 8 {
      while let level = next, level.rank > rank - count {
        for name in level.names.keys where covered[name] == nil { covered[name] = level.depth }
        covered.merge(level.covered) { nearest, _ in nearest }
        next = level.next
      }
    }
    (self.covered, self.next) = (covered, next)
  }

  static func index(_ names: [Name: Value], depth: Int, outer: NearestNames?) -> NearestNames? {
    if names.isEmpty { outer } else { NearestNames(names, depth: depth, outer: outer) }
  }

  func depth(of name: Name) -> Int? {
    var next = Optional(self)
    while let level = next {
      if level.names[name] != nil { return level.depth }
      if let depth = level.covered[name] { return depth }
      next = level.next
    }
    return nil
  }
}
