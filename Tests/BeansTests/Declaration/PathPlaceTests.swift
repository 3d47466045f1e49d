import TestSupport
import Testing

@testable import Beans

/// Properties set by key path, the first time through the path, later directly where that is the same.
@Suite struct PathPlaceTests {
  /// Sets one property of a new instance each time; answers the instances.
  private func set<Owner: AnyObject, Value>(
    _ path: ReferenceWritableKeyPath<Owner, Value>, to values: [Value], of make: () -> Owner
  ) throws -> [Owner] {
    let access = PropertyAccess(path)
    return try values.map { value in
      let owner = make()
      let argument = try #require(access.dependency.argument(fixed: value))
      defer { argument.release() }
      try access.set(owner, argument)
      return owner
    }
  }

  @Test func storedProperties() throws {
    #expect(try set(\Plain.text, to: ["a", "b", "c"], of: Plain.init).map(\.text) == ["a", "b", "c"])
    #expect(try set(\Plain.maybe, to: [1, nil, 3], of: Plain.init).map(\.maybe) == [1, nil, 3])
    #expect(try set(\Plain.pair.second, to: [1, 2, 3], of: Plain.init).map(\.pair.second) == [1, 2, 3])
    let other = Plain()
    #expect(
      try set(\Plain.other, to: [other, nil, other], of: Plain.init).map { $0.other === other } == [true, false, true])
  }

  @Test func theOldValueIsReleasedOnce() throws {
    let counters = Tracked.Counters()
    do {
      let owner = Plain()
      let access = PropertyAccess(\Plain.tracked)
      for built in 1...4 {
        let argument = try #require(access.dependency.argument(fixed: Tracked(counters)))
        try access.set(owner, argument)
        argument.release()
        #expect(counters.built.value == built)
        #expect(counters.died.value == built - 1)
      }
    }
    #expect(counters.died.value == 4)
  }

  @Test func observersAreCalledEachTime() throws {
    #expect(try set(\Watching.number, to: [5, 6, 7], of: Watching.init).map(\.seen) == [[0, 5], [0, 6], [0, 7]])
  }

  @Test func computedAndLazyAndWeakProperties() throws {
    #expect(try set(\Plain.length, to: [2, 3, 4], of: Plain.init).map(\.text) == ["xx", "xxx", "xxxx"])
    #expect(try set(\Plain.late, to: ["a", "b", "c"], of: Plain.init).map(\.late) == ["a", "b", "c"])
    let other = Plain()
    #expect(
      try set(\Plain.weakly, to: [other, nil, other], of: Plain.init).map { $0.weakly === other } == [
        true, false, true,
      ])
  }

  /// One path may lead to memory in one class and to code in a subclass.
  @Test func overriddenProperties() throws {
    let access = PropertyAccess(\Base.name)
    for round in 0..<3 {
      for owner in [Base(), Derived(), Base()] {
        let argument = try #require(access.dependency.argument(fixed: "\(round)"))
        try access.set(owner, argument)
        argument.release()
        #expect(owner.name == "\(round)")
        #expect((owner as? Derived)?.seen ?? ["\(round)"] == ["\(round)"])
      }
    }
  }

  @Test func inheritedProperties() throws {
    #expect(try set(\Derived.own, to: [1, 2, 3], of: Derived.init).map(\.own) == [1, 2, 3])
    #expect(try set(\Derived.fixed, to: [1, 2, 3], of: Derived.init).map(\.fixed) == [1, 2, 3])
  }

  @Test func throughOtherObjects() throws {
    let owners = try set(\Holder.inner.text, to: ["a", "b", "c"], of: Holder.init)
    #expect(owners.map(\.inner.text) == ["a", "b", "c"])
  }

  /// At first it leads back to the object itself, whose memory that is not always.
  @Test func throughTheObjectItself() throws {
    let access = PropertyAccess(\Node.next.value)
    for isOwn in [true, true, false, true] {
      let (node, other) = (Node(), Node())
      node.next = isOwn ? node : other
      let argument = try #require(access.dependency.argument(fixed: 7))
      try access.set(node, argument)
      argument.release()
      #expect(node.value == (isOwn ? 7 : 0))
      #expect(other.value == (isOwn ? 0 : 7))
      node.next = nil
    }
  }

  /// Whether the path has been understood: not only does it work, it is not followed any more.
  @Test func aPlaceIsLearned() {
    let (plain, derived) = (Plain(), Derived())
    let place = PathPlace(Dependency.of(String.self), size: MemoryLayout<String>.size)
    withUnsafeMutablePointer(to: &plain.text) { place.learn($0, \Plain.text, in: plain) }
    #expect(place.memory(in: plain) != nil)
    let inherited = PathPlace(Dependency.of(Int.self), size: MemoryLayout<Int>.size)
    withUnsafeMutablePointer(to: &derived.fixed) { inherited.learn($0, \Derived.fixed, in: derived) }
    #expect(inherited.memory(in: derived) != nil)
    let other = PathPlace(Dependency.of(String.self), size: MemoryLayout<String>.size)
    withUnsafeMutablePointer(to: &plain.text) { other.learn($0, \Holder.inner.text, in: plain) }
    #expect(other.memory(in: plain) == nil)
  }

  private final class Node {
    var next: Node!
    var value = 0
  }

  private struct Pair {
    var first = 0
    var second = 0
  }

  private final class Plain {
    var text = ""
    var maybe: Int? = 0
    var pair = Pair()
    var other: Plain?
    var tracked: Tracked?
    weak var weakly: Plain?
    lazy var late = "late"
    var length: Int {
      get { text.count }
      set { text = String(repeating: "x", count: newValue) }
    }
  }

  private final class Holder { let inner = Plain() }

  private final class Watching {
    private(set) var seen: [Int] = []
    var number = 0 { didSet { seen += [oldValue, number] } }
  }

  private class Base {
    var name = ""
    final var fixed = 0
  }

  private final class Derived: Base {
    private(set) var seen: [String] = []
    var own = 0
    override var name: String { didSet { seen.append(name) } }
  }
}
