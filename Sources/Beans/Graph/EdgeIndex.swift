import Synchronization

/// From a type, or a type and an id, to the edge that answers a lookup by it: one probe, usually.
///
/// Open addressing over metadata addresses, mixed with what an id consists of. Readers take no lock; writers hold the plan's. A table that has become too
/// small is kept until the index goes, because a reader may still be in it: all of them together are no larger than
/// the newest.
///
/// `words` and `current` are atomic, the rest is guarded by the plan's lock.
final class EdgeIndex: @unchecked Sendable {
  private final class Table {
    let mask: Int
    /// Key and edge in turn. The key is stored last, so who sees it sees the edge.
    let words: UnsafeMutablePointer<Atomic<UInt>>

    init(capacity: Int) {
      mask = capacity - 1
      words = .allocate(capacity: 2 * capacity)
      for index in 0..<2 * capacity { (words + index).initialize(to: Atomic(0)) }
    }

    deinit { words.deallocate() }

    /// Fibonacci hashing: metadata addresses differ in their middle bits.
    @inline(__always)
    func start(_ key: UInt) -> Int { Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask }

    func insert(_ key: UInt, _ edge: UInt) {
      var position = start(key)
      while words[2 * position].load(ordering: .relaxed) != 0 { position = (position + 1) & mask }
      words[2 * position + 1].store(edge, ordering: .relaxed)
      words[2 * position].store(key, ordering: .releasing)
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

  @inline(__always)
  func find(_ type: ObjectIdentifier) -> Unmanaged<Edge>? { find(UInt(bitPattern: type)) { _ in true } }

  func find(_ type: ObjectIdentifier, _ id: String) -> Unmanaged<Edge>? {
    find(Self.key(type, id)) { $0.isAnswer(to: type, id) }
  }

  /// Keys of lookups by id may be equal by chance, so those are compared.
  @inline(__always)
  private func find(_ key: UInt, _ isIt: (Edge) -> Bool) -> Unmanaged<Edge>? {
    // Never nil, and a table lives as long as the index.
    let table = current.load(ordering: .acquiring).unsafelyUnwrapped
    return Unmanaged<Table>.fromOpaque(table)._withUnsafeGuaranteedRef { table in
      var position = table.start(key)
      while true {
        let found = table.words[2 * position].load(ordering: .acquiring)
        if found == key,
          let word = UnsafeRawPointer(bitPattern: table.words[2 * position + 1].load(ordering: .relaxed))
        {
          let edge = Unmanaged<Edge>.fromOpaque(word)
          if edge._withUnsafeGuaranteedRef(isIt) { return edge }
        }
        if found == 0 { return nil }
        position = (position &+ 1) & table.mask
      }
    }
  }

  /// Under the plan's lock.
  func insert(_ type: ObjectIdentifier, _ edge: Edge, id: String? = nil) {
    let key = id.map { Self.key(type, $0) } ?? UInt(bitPattern: type)
    edges.append((key, edge))
    // `tables` is never empty. Half full at most.
    if let table = tables.last, edges.count * 2 <= table.mask + 1 { return table.insert(key, Self.word(edge)) }
    let next = Table(capacity: tables.reduce(8) { max($0, 2 * ($1.mask + 1)) })
    for (key, edge) in edges { next.insert(key, Self.word(edge)) }
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
  private static func key(_ type: ObjectIdentifier, _ id: String) -> UInt {
    IdKey.mix(id, into: UInt(bitPattern: type)).hash | 1
  }

  private static func word(_ edge: Edge) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(edge).toOpaque()) }
}
