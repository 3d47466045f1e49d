import Testing

@testable import Beans

@Suite struct AncestryTests {
  private final class Level: NestedLevel {
    let depth: Int
    let parent: Level?
    let shortcut: Level?

    init(in parent: Level?) {
      depth = parent.map { $0.depth + 1 } ?? 0
      self.parent = parent
      shortcut = Level.shortcut(below: parent)
    }
  }

  @Test func anAncestorIsFoundAtEachDistance() {
    var levels = [Level(in: nil)]
    for _ in 0..<130 { levels.append(Level(in: levels.last)) }
    for level in levels {
      for hops in 0...level.depth { #expect(level.ancestor(hops) === levels[level.depth - hops]) }
      #expect(level.ancestor(level.depth + 1) == nil)
    }
  }

  @Test func theNearestLevelThatHasANameIsFound() {
    var index: NearestNames<String, Bool>?
    var nearest: [String: Int] = [:]
    for depth in 0..<200 {
      var names: [String: Bool] = [:]
      // Some levels have no names, some have one of their own, and some hide a name further out.
      if depth % 3 > 0 { names["own \(depth)"] = true }
      if depth % 5 == 0 { names["often"] = true }
      if depth % 64 == 0 { names["rarely"] = true }
      for name in names.keys { nearest[name] = depth }
      index = .index(names, depth: depth, outer: index)
      for (name, depth) in nearest { #expect(index?.depth(of: name) == depth) }
      #expect(index?.depth(of: "never") == nil)
    }
  }

  @Test func levelsWithoutNamesShareTheIndexOfTheirParent() {
    let outer = NearestNames.index(["name": true], depth: 0, outer: nil)
    #expect(NearestNames.index([:], depth: 1, outer: outer) === outer)
  }
}
