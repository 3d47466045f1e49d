import TestSupport
import Synchronization
import Testing

@testable import Beans

@Suite(.timeLimit(.minutes(5)))
struct EdgeIndexTests {
  /// Keys are only compared and hashed, never followed.
  private static func key(_ number: Int) -> ObjectIdentifier {
    // Sixteen bytes apart, as metadata is.
    unsafeBitCast(UInt(16 * (number + 1)), to: ObjectIdentifier.self)
  }

  private static func edge() -> Edge { Edge(Dependency.of(Int.self), .environment) }

  private static func found(_ index: Index, _ key: ObjectIdentifier) -> Edge? {
    index.edges.find(key)?.pointee.edge.takeUnretainedValue()
  }

  @Test func growsAndKeepsEverything() {
    let index = Index()
    let edges = (0..<1_000).map { _ in Self.edge() }
    for (number, edge) in edges.enumerated() {
      #expect(Self.found(index, Self.key(number)) == nil)
      index.edges.insert(Self.key(number), edge)
      #expect(Self.found(index, Self.key(number)) === edge)
    }
    for (number, edge) in edges.enumerated() { #expect(Self.found(index, Self.key(number)) === edge) }
    #expect(Self.found(index, Self.key(1_000)) == nil)
  }

  /// Multiples of a large power of two end in the same few places of a small table.
  @Test func collisionsAreProbed() {
    let index = Index()
    let keys = (1...64).map { unsafeBitCast(UInt($0) << 56, to: ObjectIdentifier.self) }
    let edges = keys.map { _ in Self.edge() }
    for (key, edge) in zip(keys, edges) { index.edges.insert(key, edge) }
    for (key, edge) in zip(keys, edges) { #expect(Self.found(index, key) === edge) }
    #expect(Self.found(index, unsafeBitCast(UInt(65) << 56, to: ObjectIdentifier.self)) == nil)
  }

  @Test func theFirstEdgeOfATypeStays() {
    let index = Index()
    let (first, second) = (Self.edge(), Self.edge())
    index.edges.insert(Self.key(1), first)
    index.edges.insert(Self.key(1), second)
    #expect(Self.found(index, Self.key(1)) === first)
  }

  /// The same text in a small string and in one with room for more: found by each, and by nothing else.
  @Test func idsInSmallAndLargeStrings() {
    let index = Index()
    let type = ObjectIdentifier(Int.self)
    var large = ""
    large.reserveCapacity(100)
    large += "west"
    #expect(large == "west" && !StringWords(large).isSmall && StringWords("west").isSmall)
    for id in ["west", large, String(repeating: "north", count: 10)] {
      let edge = Edge(Dependency.of(Int.self), .environment, asked: id)
      index.edges.insert(type, edge, id: id)
      #expect(index.edges.find(type, id)?.pointee.edge.takeUnretainedValue() === edge)
    }
    #expect(index.edges.find(type, "east") == nil)
    #expect(index.edges.find(type, "") == nil)
    #expect(index.edges.find(ObjectIdentifier(Double.self), "west") == nil)
    #expect(Self.found(index, type) == nil)
  }

  @Test func aPlaceRemembersWhatStands() {
    let index = Index()
    let object = ValueBox(7)
    index.edges.insert(Self.key(1), Self.edge())
    #expect(index.edges.find(Self.key(1))?.pointee.standing == nil)
    index.edges.find(Self.key(1))?.pointee.remember(Argument(borrowing: object, access: .boxed))
    #expect(index.edges.find(Self.key(1))?.pointee.standing?.value(as: Int.self) == 7)
    // A larger table has new places.
    for number in 2..<20 { index.edges.insert(Self.key(number), Self.edge()) }
    #expect(index.edges.find(Self.key(1))?.pointee.standing == nil)
  }

  @Test func removingLetsGoOfTheEdges() {
    let index = Index()
    weak var weakEdge: Edge?
    do {
      let edge = Self.edge()
      weakEdge = edge
      for number in 0..<20 { index.edges.insert(Self.key(number), edge) }
    }
    #expect(weakEdge != nil)
    index.edges.removeAll()
    #expect(weakEdge == nil)
    #expect(Self.found(index, Self.key(1)) == nil)
    let edge = Self.edge()
    index.edges.insert(Self.key(1), edge)
    #expect(Self.found(index, Self.key(1)) === edge)
  }

  @Test func readersDuringInserts() throws {
    let index = Index()
    let edges = (0..<2_000).map { _ in Self.edge() }
    let board = Board(index: index, edges: edges)
    let wrong = try onThreads(3) { thread -> Int in
      if thread == 0 {
        for number in board.edges.indices {
          board.index.edges.insert(Self.key(number), board.edges[number])
          board.published.store(number + 1, ordering: .releasing)
        }
        return 0
      }
      var wrong = 0
      var known = 0
      while known < board.edges.count {
        known = board.published.load(ordering: .acquiring)
        for number in stride(from: max(0, known - 40), to: known, by: 1)
        where Self.found(board.index, Self.key(number)) !== board.edges[number] { wrong += 1 }
        // One that may be under way: absent or right, nothing else.
        if known < board.edges.count, let edge = Self.found(board.index, Self.key(known)),
          edge !== board.edges[known]
        {
          wrong += 1
        }
      }
      return wrong
    }
    #expect(wrong == [0, 0, 0])
  }

  /// To be captured.
  private final class Index: Sendable {
    let edges = EdgeIndex()
  }

  private final class Board: Sendable {
    let index: Index
    let edges: [Edge]
    let published = Atomic(0)
    init(index: Index, edges: [Edge]) {
      self.index = index
      self.edges = edges
    }
  }
}
