public import Synchronization

/// From a type, or a type and an id, to the edge that answers a lookup by it: one probe, usually.
///
/// Open addressing over metadata addresses, mixed with what an id consists of. Readers take no lock; writers hold the
/// plan's. Tables live as long as the index, because a reader may still be in one that has become too small: all of those
/// together are smaller than the newest.
///
/// `newest` and what stands in places are atomic, the rest is guarded by the plan's lock.
@usableFromInline
struct EdgeIndex: ~Copyable, @unchecked Sendable {  // see above for what protects which part
  /// What is known under one key.
  @usableFromInline
  struct Place: ~Copyable {
    /// 0 where the place is empty. Stored last, so who sees it sees the edge.
    @usableFromInline let key = Atomic<UInt>(0)
    private let edgeWord = Atomic<UInt>(0)
    /// 0, or one of these, stored last, so who sees it sees the rest:
    ///
    ///     object              of an argument that is a reference
    ///     object | top bit    of another argument
    ///     odd, and top bit    see `OwnSlot`
    @usableFromInline let bean = Atomic<UInt>(0)
    /// The rest of the argument. Without an object, 1 where there will never be one.
    private let rest = Atomic<UInt>(0)

    fileprivate var isEmpty: Bool { key.load(ordering: .relaxed) == 0 }

    fileprivate func fill(_ key: UInt, _ edge: Edge) {
      edgeWord.store(UInt(bitPattern: Unmanaged.passUnretained(edge).toOpaque()), ordering: .relaxed)
      if let own = OwnSlot(edge) { bean.store(own.word, ordering: .relaxed) }
      rest.store(edge.canBeLent ? 0 : 1, ordering: .relaxed)
      self.key.store(key, ordering: .releasing)
    }

    @inlinable @inline(__always)
    var known: UInt { key.load(ordering: .acquiring) }

    @inline(__always)
    var edge: Unmanaged<Edge> {
      // A place that was found has been filled.
      .fromOpaque(UnsafeRawPointer(bitPattern: edgeWord.load(ordering: .relaxed)).unsafelyUnwrapped)
    }

    /// The edge's bean, once `remember` was told that it stands. Not retained: to be read by those who keep the plain
    /// environment where it stands from releasing it; see `borrow`.
    @inline(__always)
    var standing: Argument? {
      let word = bean.load(ordering: .acquiring)
      if Int(bitPattern: word) > 0 { return Argument(object: UnsafeRawPointer(bitPattern: word), rest: 0) }
      return word & 1 == 0 ? standing(word) : nil
    }

    private func standing(_ word: UInt) -> Argument? {
      guard let object = UnsafeRawPointer(bitPattern: word & ~EdgeIndex.top) else { return nil }
      return Argument(object: object, rest: rest.load(ordering: .relaxed))
    }

    /// The same where the object is the value.
    @inlinable @inline(__always)
    var standingReference: UnsafeRawPointer? {
      let word = bean.load(ordering: .acquiring)
      return Int(bitPattern: word) > 0 ? UnsafeRawPointer(bitPattern: word) : nil
    }

    /// The slot of the environment itself where the edge's bean stands, or will, if that is a factory's child.
    @inline(__always)
    var ownSlot: OwnSlot? { OwnSlot(word: bean.load(ordering: .relaxed)) }

    /// Whether the edge's bean, if `standing` is nil, may be lent all the same.
    @inline(__always)
    var canBeLent: Bool { rest.load(ordering: .relaxed) == 0 }

    /// Of an edge, that is always the same.
    func remember(_ standing: Argument) {
      rest.store(standing.rest, ordering: .relaxed)
      let mark = standing.isBorrowedReference ? 0 : EdgeIndex.top
      bean.store(UInt(bitPattern: standing.object) | mark, ordering: .releasing)
    }
  }

  /// What an edge says that leads to a slot of the environment itself and needs no conversion: in one word.
  ///
  ///     63    62 …… 2    1 …… 0
  ///     1     slot       the rest of an owned argument
  struct OwnSlot {
    fileprivate let word: UInt

    @inline(__always)
    fileprivate init?(word: UInt) {
      if word & 1 == 0 { return nil }
      self.word = word
    }

    fileprivate init?(_ edge: Edge) {
      guard edge.hops == 0, edge.slot >= 0, edge.fixed == nil, let access = edge.direct else { return nil }
      word = EdgeIndex.top | UInt(edge.slot) << 2 | Argument.rest(access) | 1
    }

    @inline(__always)
    var index: Int { Int(bitPattern: (word << 1) >> 3) }

    /// Of an argument that is owned.
    @inline(__always)
    var rest: UInt { word & 3 }
  }

  private static var top: UInt { 1 << UInt(UInt.bitWidth - 1) }

  /// Stands in front of its places, in one block: who looks something up has few addresses to follow.
  @usableFromInline
  struct Table: ~Copyable {
    /// In bytes: where places begin.
    @usableFromInline let mask: UInt
    let older: UnsafeMutablePointer<Table>?

    /// A cache line, so that no place stands in two.
    @inlinable static var header: Int { 64 }

    static func make(capacity: Int, older: UnsafeMutablePointer<Table>?) -> UnsafeMutablePointer<Table> {
      let block = UnsafeMutableRawPointer.allocate(
        byteCount: header + capacity * MemoryLayout<Place>.stride, alignment: header)
      let table = block.bindMemory(to: Table.self, capacity: 1)
      table.initialize(to: Table(mask: UInt((capacity - 1) * MemoryLayout<Place>.stride), older: older))
      let places = (block + header).bindMemory(to: Place.self, capacity: capacity)
      for index in 0..<capacity { (places + index).initialize(to: Place()) }
      return table
    }

    @inlinable @inline(__always)
    static func place(_ table: UnsafeMutablePointer<Table>, _ position: UInt) -> UnsafeMutablePointer<Place> {
      (UnsafeMutableRawPointer(table) + header + Int(bitPattern: position)).assumingMemoryBound(to: Place.self)
    }

    /// Where to look for a key first. Fibonacci hashing: metadata addresses differ in their middle bits.
    @inlinable @inline(__always)
    func start(_ key: UInt) -> UInt { (key &* 0x61C8_8647) >> 32 & mask }

    @inline(__always)
    func next(_ position: UInt) -> UInt { (position &+ UInt(MemoryLayout<Place>.stride)) & mask }

    var capacity: Int { Int(mask) / MemoryLayout<Place>.stride + 1 }

    /// A quarter full at most: nearly every key stands where one looks first.
    func hasRoom(for count: Int) -> Bool { count * 4 <= capacity }

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

  /// An address. Not a pointer, whose reading would look for null.
  @usableFromInline let newest = Atomic(UInt(bitPattern: Table.make(capacity: 8, older: nil)))
  /// Holds the edges.
  private let edges = Edges()

  private final class Edges {
    @exclusivity(unchecked) var all: [(key: UInt, edge: Edge)] = []
  }

  deinit { Table.free(table) }

  @inlinable @inline(__always)
  var table: UnsafeMutablePointer<Table> {
    UnsafeMutablePointer(bitPattern: newest.load(ordering: .acquiring)).unsafelyUnwrapped
  }

  /// Places live as long as the index; what they name, until `removeAll`. From any thread.
  @inline(__always)
  func find(_ type: ObjectIdentifier) -> UnsafeMutablePointer<Place>? { find(UInt(bitPattern: type)) { _ in true } }

  /// The place where a type is looked for first, whether or not it stands there.
  @inlinable @inline(__always)
  func guess(_ type: UInt) -> UnsafeMutablePointer<Place> {
    let table = table
    return Table.place(table, table.pointee.start(type))
  }

  /// Compares ids, so not after `removeAll`.
  @inline(__always)
  func find(_ type: ObjectIdentifier, _ id: String) -> UnsafeMutablePointer<Place>? {
    find(Self.key(type, id)) { $0.edge._withUnsafeGuaranteedRef { $0.isAnswer(to: type, id) } }
  }

  /// Keys of lookups by id may be equal by chance, so those are compared.
  @inline(__always)
  private func find(_ key: UInt, _ isIt: (borrowing Place) -> Bool) -> UnsafeMutablePointer<Place>? {
    let table = table
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
    let table = table
    if table.pointee.hasRoom(for: edges.all.count) { return Table.insert(table, key, edge) }
    let next = Table.make(capacity: 2 * table.pointee.capacity, older: table)
    for (key, edge) in edges.all { Table.insert(next, key, edge) }
    newest.store(UInt(bitPattern: next), ordering: .releasing)
  }

  /// When nobody follows an edge any more. Somebody may still be looking for one.
  func removeAll() {
    edges.all = []
    newest.store(UInt(bitPattern: Table.make(capacity: 8, older: table)), ordering: .releasing)
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
