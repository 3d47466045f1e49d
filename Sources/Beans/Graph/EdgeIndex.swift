import Synchronization

/// From a type, or a type and an id, to the edge that answers a lookup by it: one probe, usually.
///
/// Open addressing over metadata addresses, mixed with what an id consists of. Readers take no lock; writers hold the
/// plan's. A table that has become too small is kept until the index goes, because a reader may still be in it: all of
/// them together are no larger than the newest.
///
/// `current` and what stands in places are atomic, the rest is guarded by the plan's lock.
final class EdgeIndex: @unchecked Sendable {
  /// What is known under one key.
  struct Place: ~Copyable {
    /// 0 where the place is empty. Stored last, so who sees it sees the edge.
    private let key = Atomic<UInt>(0)
    private let edgeWord = Atomic<UInt>(0)
    // An argument. The object is stored last, so who sees it sees the rest.
    private let object = Atomic<UnsafeRawPointer?>(nil)
    private let rest = Atomic<UInt>(0)

    fileprivate var isEmpty: Bool { key.load(ordering: .relaxed) == 0 }

    fileprivate func fill(_ key: UInt, _ edge: Edge) {
      edgeWord.store(UInt(bitPattern: Unmanaged.passUnretained(edge).toOpaque()), ordering: .relaxed)
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

    /// Of an edge, that is always the same.
    func remember(_ standing: Argument) {
      rest.store(standing.rest, ordering: .relaxed)
      object.store(standing.object, ordering: .releasing)
    }
  }

  private final class Table {
    let mask: UInt
    let places: UnsafeMutablePointer<Place>

    init(capacity: Int) {
      mask = UInt(capacity - 1)
      places = .allocate(capacity: capacity)
      for index in 0..<capacity { (places + index).initialize(to: Place()) }
    }

    deinit { places.deallocate() }

    /// Where to look for a key first. Fibonacci hashing: metadata addresses differ in their middle bits.
    @inline(__always)
    func start(_ key: UInt) -> UInt { (key &* 0x61C8_8647) >> 32 & mask }

    @inline(__always)
    func next(_ position: UInt) -> UInt { (position &+ 1) & mask }

    @inline(__always)
    func place(_ position: UInt) -> UnsafeMutablePointer<Place> { places + Int(bitPattern: position) }

    func insert(_ key: UInt, _ edge: Edge) {
      var position = start(key)
      while !place(position).pointee.isEmpty { position = next(position) }
      place(position).pointee.fill(key, edge)
    }
  }

  private let current: Atomic<UnsafeRawPointer?>
  private var tables: [Table]
  private var edges: [(key: UInt, edge: Edge)] = []

  init() {
    let first = Table(capacity: 8)
    tables = [first]
    current = Atomic(UnsafeRawPointer(Unmanaged.passUnretained(first).toOpaque()))
  }

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
    // Never nil, and a table lives as long as the index.
    let table = current.load(ordering: .acquiring).unsafelyUnwrapped
    return Unmanaged<Table>.fromOpaque(table)._withUnsafeGuaranteedRef { table in
      var position = table.start(key)
      while true {
        let place = table.place(position)
        let known = place.pointee.known
        if known == key, isIt(place.pointee) { return place }
        if known == 0 { return nil }
        position = table.next(position)
      }
    }
  }

  /// Under the plan's lock.
  func insert(_ type: ObjectIdentifier, _ edge: Edge, id: String? = nil) {
    let key = id.map { Self.key(type, $0) } ?? UInt(bitPattern: type)
    edges.append((key, edge))
    // `tables` is never empty. Half full at most.
    if let table = tables.last, UInt(edges.count) * 2 <= table.mask + 1 { return table.insert(key, edge) }
    let next = Table(capacity: tables.reduce(8) { max($0, 2 * (Int($1.mask) + 1)) })
    for (key, edge) in edges { next.insert(key, edge) }
    tables.append(next)
    current.store(UnsafeRawPointer(Unmanaged.passUnretained(next).toOpaque()), ordering: .releasing)
  }

  /// When nobody reads any more.
  func removeAll() {
    edges = []
    let empty = Table(capacity: 8)
    tables = [empty]
    current.store(UnsafeRawPointer(Unmanaged.passUnretained(empty).toOpaque()), ordering: .releasing)
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
