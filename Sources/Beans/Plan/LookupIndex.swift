/// From a type, or a type and an id, to the operand that answers a lookup by it: one probe, usually. Frozen.
///
/// Open addressing over the addresses of metadata, which differ in their middle bits: a `Dictionary` would hash for some
/// hundred instructions.
struct LookupIndex: ~Copyable, Sendable {
  struct Entry: Sendable {
    var key: UInt = 0
    var operand = Operand(.computed(-1), .reference)
  }

  struct NamedEntry: Sendable {
    /// 0 where the place is empty.
    var key: UInt = 0
    var type: UInt = 0
    var id = ""
    var operand = Operand(.computed(-1), .reference)
  }

  private let types: FrozenArray<Entry>
  private let mask: UInt
  private let named: FrozenArray<NamedEntry>
  private let namedMask: UInt

  init(
    types: [(type: ObjectIdentifier, operand: Operand)], named: [(type: ObjectIdentifier, id: String, operand: Operand)]
  ) {
    var entries = FrozenArray(repeating: Entry(), count: Self.capacity(for: types.count))
    mask = UInt(entries.count - 1)
    for (type, operand) in types {
      let key = UInt(bitPattern: type)
      var index = Self.start(key) & mask
      while entries[Int(index)].key != 0, entries[Int(index)].key != key { index = (index + 1) & mask }
      entries[Int(index)] = Entry(key: key, operand: operand)
    }
    self.types = entries
    var namedEntries = FrozenArray(repeating: NamedEntry(), count: Self.capacity(for: named.count))
    namedMask = UInt(namedEntries.count - 1)
    for (type, id, operand) in named {
      let key = IdHash.of(id, in: UInt(bitPattern: type))
      var index = Self.start(key) & namedMask
      while namedEntries[Int(index)].key != 0 { index = (index + 1) & namedMask }
      namedEntries[Int(index)] = NamedEntry(key: key, type: UInt(bitPattern: type), id: id, operand: operand)
    }
    self.named = namedEntries
  }

  /// At most half full.
  private static func capacity(for count: Int) -> Int {
    var capacity = 8
    while capacity < 2 * count { capacity *= 2 }
    return capacity
  }

  @inline(__always)
  private static func start(_ key: UInt) -> UInt { (key &* 0x9E37_79B9_7F4A_7C15) >> 32 }

  /// From any thread.
  @inline(__always)
  func find(_ type: ObjectIdentifier) -> Operand? {
    let key = UInt(bitPattern: type)
    var index = Self.start(key) & mask
    while true {
      let entry = types.reference(Int(index))
      if entry.value.key == key { return entry.value.operand }
      if entry.value.key == 0 { return nil }
      index = (index &+ 1) & mask
    }
  }

  @inline(__always)
  func find(_ type: ObjectIdentifier, _ id: String) -> Operand? {
    let key = IdHash.of(id, in: UInt(bitPattern: type))
    var index = Self.start(key) & namedMask
    while true {
      let entry = named.reference(Int(index))
      if entry.value.key == key, entry.value.type == UInt(bitPattern: type), entry.value.id == id {
        return entry.value.operand
      }
      if entry.value.key == 0 { return nil }
      index = (index &+ 1) & namedMask
    }
  }
}
