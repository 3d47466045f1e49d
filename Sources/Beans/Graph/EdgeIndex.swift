import Synchronization

/// From a type, or a type and an id, to the edge that answers a lookup by it: one probe, usually.
///
/// Open addressing over metadata addresses, mixed with what an id consists of. Readers take no lock; writers hold the
/// plan's. A table that has become too small is kept until the index goes, because a reader may still be in it: all of
/// them together are smaller than the newest.
///
/// `newest` and what stands in places are atomic, the rest is guarded by the plan's lock.
struct EdgeIndex: ~Copyable, @unchecked Sendable {  // see above for what protects which part
  /// What is known under one key.
  struct Place: ~Copyable {
    /// 0 where the place is empty. Stored last, so who sees it sees the edge.
    private let key = Atomic<UInt>(0)
    private let edgeWord = Atomic<UInt>(0)
    // An argument. The object is stored last, so who sees it sees the rest.
    private let object = Atomic<UnsafeRawPointer?>(nil)
    /// Without an object, 1 where there will never be one.
    private let rest = Atomic<UInt>(0)

    fileprivate var isEmpty: Bool { key.load(ordering: .relaxed) == 0 }

    fileprivate func fill(_ key: UInt, _ edge: Edge) {
      edgeWord.store(UInt(bitPattern: Unmanaged.passUnretained(edge).toOpaque()), ordering: .relaxed)
      rest.store(edge.canBeLent ? 0 : 1, ordering: .relaxed)
      self.key.store(key, ordering: .releasing)
    }

    @inline(__always)
    fileprivate var known: UInt { key.load(ordering: .acquiring) }

    @inline(__always)
    var edge: Unmanaged<Edge> {
      // A place that was found has been filled.
      .fromOpaque(UnsafeRawPointer(bitPattern: edgeWord.load(ordering: .relaxed)).unsafelyUnwrapped)
    }

    /// The edge's bean, once `remember` was told that it stands. Not retained: to be read by those who keep the plain
    /// environment where it stands from releasing it; see `borrow`.
    @inline(__always)
    var standing: Argument? {
      guard let object = object.load(ordering: .acquiring) else { return nil }
      return Argument(object: object, rest: rest.load(ordering: .relaxed))
    }

    /// Whether the edge's bean, if `standing` is nil, may be lent all the same.
    @inline(__always)
    var canBeLent: Bool { rest.load(ordering: .relaxed) == 0 }

    /// Of an edge, that is always the same.
    func remember(_ standing: Argument) {
      rest.store(standing.rest, ordering: .relaxed)
      object.store(standing.object, ordering: .releasing)
    }
  }

  /// Stands in front of its places, in one block: who looks something up has few addresses to follow.
  private struct Table: ~Copyable {
    let mask: UInt
    let older: UnsafeMutablePointer<Table>?

    /// A cache line, so that no place stands in two.
    private static let header = 64

    static func make(capacity: Int, older: UnsafeMutablePointer<Table>?) -> UnsafeMutablePointer<Table> {
      let block = UnsafeMutableRawPointer.allocate(
        byteCount: header + capacity * MemoryLayout<Place>.stride, alignment: header)
      let table = block.bindMemory(to: Table.self, capacity: 1)
      table.initialize(to: Table(mask: UInt(capacity - 1), older: older))
      let places = (block + header).bindMemory(to: Place.self, capacity: capacity)
      for index in 0..<capacity { (places + index).initialize(to: Place()) }
      return table
    }

    @inline(__always)
    static func place(_ table: UnsafeMutablePointer<Table>, _ position: UInt) -> UnsafeMutablePointer<Place> {
      let start = UnsafeMutableRawPointer(table) + header
      return start.assumingMemoryBound(to: Place.self) + Int(bitPattern: position)
    }

    /// Where to look for a key first. Fibonacci hashing: metadata addresses differ in their middle bits.
    @inline(__always)
    func start(_ key: UInt) -> UInt { (key &* 0x61C8_8647) >> 32 & mask }

    @inline(__always)
    func next(_ position: UInt) -> UInt { (position &+ 1) & mask }

    /// A quarter full at most: nearly every key stands where one looks first.
    func hasRoom(for count: Int) -> Bool { UInt(count) * 4 <= mask + 1 }

    static func insert(_ table: UnsafeMutablePointer<Table>, _ key: UInt, _ edge: Edge) {
      var position = table.pointee.start(key)
      while !place(table, position).pointee.isEmpty { position = table.pointee.next(position) }
      place(table, position).pointee.fill(key, edge)
    }

    static func free(_ table: UnsafeMutablePointer<Table>) {
      if let older = table.pointee.older { free(older) }
      table.deallocate()
    }
  }

  private let newest = Atomic(Table.make(capacity: 8, older: nil))
  /// Holds the edges.
  private let edges = Edges()

  private final class Edges {
    @exclusivity(unchecked) var all: [(key: UInt, edge: Edge)] = []
  }

  deinit { Table.free(newest.load(ordering: .relaxed)) }

  /// Places are as long-lived as the index, or until `removeAll`.
  @inline(__always)
  func find(_ type: ObjectIdentifier) -> UnsafeMutablePointer<Place>? { find(UInt(bitPattern: type)) { _ in true } }

  @inline(__always)
  func find(_ type: ObjectIdentifier, _ id: String) -> UnsafeMutablePointer<Place>? {
    find(Self.key(type, id)) { $0.edge._withUnsafeGuaranteedRef { $0.isAnswer(to: type, id) } }
  }

  /// Keys of lookups by id may be equal by chance, so those are compared.
  @inline(__always)
  private func find(_ key: UInt, _ isIt: (borrowing Place) -> Bool) -> UnsafeMutablePointer<Place>? {
    let table = newest.load(ordering: .acquiring)
    var position = table.pointee.start(key)
    while true {
      let place = Table.place(table, position)
      let known = place.pointee.known
      if known == key, isIt(place.pointee) { return place }
      if known == 0 { return nil }
      position = table.pointee.next(position)
    }
  }

  /// Under the plan's lock.
  func insert(_ type: ObjectIdentifier, _ edge: Edge, id: String? = nil) {
    let key = id.map { Self.key(type, $0) } ?? UInt(bitPattern: type)
    edges.all.append((key, edge))
    let table = newest.load(ordering: .relaxed)
    if table.pointee.hasRoom(for: edges.all.count) { return Table.insert(table, key, edge) }
    let next = Table.make(capacity: 2 * (Int(table.pointee.mask) + 1), older: table)
    for (key, edge) in edges.all { Table.insert(next, key, edge) }
    newest.store(next, ordering: .releasing)
  }

  /// When nobody reads any more.
  func removeAll() {
    edges.all = []
    Table.free(newest.exchange(Table.make(capacity: 8, older: nil), ordering: .acquiringAndReleasing))
  }

  /// Never 0, which is an empty place.
  ///
  /// Of a small string from its two words. The same text may stand in a large one, too, which then has a key, and a
  /// place, of its own.
  @inline(__always)
  private static func key(_ type: ObjectIdentifier, _ id: String) -> UInt {
    let words = StringWords(id)
    guard words.isSmall else { return key(type, large: id) }
    return mix(mix(UInt(bitPattern: type), words.first), words.second) | 1
  }

  @inline(never)
  private static func key(_ type: ObjectIdentifier, large id: String) -> UInt {
    IdKey.mix(id, into: UInt(bitPattern: type)).hash | 1
  }

  @inline(__always)
  private static func mix(_ hash: UInt, _ word: UInt) -> UInt {
    let mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return mixed ^ mixed >> 29
  }
}
