/// A frozen index from a type, or from a type and an id, to the operand of that lookup: usually one probe.
///
/// It uses open addressing over the addresses of metadata, which differ in their middle bits: a `Dictionary` would hash
/// for some hundred instructions.
struct LookupIndex: ~Copyable, Sendable {
  /// The type of an empty place.
  private enum NoType {}

  struct Entry: Sendable {
    var type = ObjectIdentifier(NoType.self)
    var operand = Operand.none

    /// Read after a mismatch of the type only, so that the usual probe compares once.
    @inline(__always)
    fileprivate var isEmpty: Bool { operand.isNone }
  }

  struct NamedEntry: Sendable {
    /// The hash of the type and the id; 0 where the place is empty.
    var key: UInt = 0
    var type = ObjectIdentifier(NoType.self)
    var id = ""
    var operand = Operand.none
  }

  private let types: FrozenArray<Entry>
  /// The mask of positions in bytes: the size of an entry is a power of two.
  private let mask: UInt
  private let named: FrozenArray<NamedEntry>
  private let namedMask: UInt

  init(
    types: [(type: ObjectIdentifier, operand: Operand)], named: [(type: ObjectIdentifier, id: String, operand: Operand)]
  ) {
    var entries = FrozenArray(count: Self.capacity(for: types.count)) { Entry() }
    let stride = UInt(FrozenArray<Entry>.stride)
    precondition(stride.nonzeroBitCount == 1)
    mask = UInt(entries.count - 1) * stride
    for (type, operand) in types {
      var position = Self.start(type) & mask
      var index = Int(position / stride)
      while !entries[index].isEmpty, entries[index].type != type {
        position = (position + stride) & mask
        index = Int(position / stride)
      }
      entries[index] = Entry(type: type, operand: operand)
    }
    self.types = entries
    var namedEntries = FrozenArray(count: Self.capacity(for: named.count)) { NamedEntry() }
    namedMask = UInt(namedEntries.count - 1)
    for (type, id, operand) in named {
      let key = IdHash.of(id, in: UInt(bitPattern: type))
      var index = key >> 1 & namedMask
      while namedEntries[Int(index)].key != 0 { index = (index + 1) & namedMask }
      namedEntries[Int(index)] = NamedEntry(key: key, type: type, id: id, operand: operand)
    }
    self.named = namedEntries
  }

  /// Returns the capacity for `count` keys. An index is at most half full, a small one at most an eighth, so that most
  /// keys are at the first position of their probe.
  private static func capacity(for count: Int) -> Int {
    var capacity = 8
    while capacity < (count < 256 ? 8 : 2) * count { capacity *= 2 }
    return capacity
  }

  @inline(__always)
  private static func start(_ type: ObjectIdentifier) -> UInt {
    (UInt(bitPattern: type) &* 0x9E37_79B9_7F4A_7C15) >> 32
  }

  /// Returns the operand for a type, or for a type and an id. Callable from any thread.
  func find(_ type: ObjectIdentifier, _ id: String? = nil) -> Operand? {
    guard let id else { return entry(type).value.operand.found }
    let words = IdHash.words(id)
    let found = if let words { entry(type, shortId: words) } else { entry(type, longId: id) }
    return found.value.operand.found
  }

  /// Returns the place of the operand, which is valid as long as the index; its operand is none where the type is
  /// unknown.
  @inline(__always)
  func entry(_ type: ObjectIdentifier) -> FrozenReference<Entry> {
    var position = Self.start(type) & mask
    while true {
      let entry = types.reference(atByte: position)
      if entry.value.type == type || entry.value.isEmpty { return entry }
      position = (position &+ UInt(FrozenArray<Entry>.stride)) & mask
    }
  }

  @inline(__always)
  fileprivate func entry(_ type: ObjectIdentifier, shortId id: (UInt, UInt)) -> FrozenReference<NamedEntry> {
    entry(type, IdHash.of(id, in: UInt(bitPattern: type))) { IdHash.consists($0, of: id) }
  }

  @inline(__always)
  fileprivate func entry(_ type: ObjectIdentifier, longId id: String) -> FrozenReference<NamedEntry> {
    entry(type, IdHash.of(id, in: UInt(bitPattern: type))) { $0 == id }
  }

  @inline(__always)
  private func entry(
    _ type: ObjectIdentifier, _ key: UInt, _ accepts: (String) -> Bool
  ) -> FrozenReference<NamedEntry> {
    var index = key >> 1 & namedMask
    while true {
      let entry = named.reference(Int(index))
      if entry.value.key == key, entry.value.type == type, accepts(entry.value.id) { return entry }
      if entry.value.key == 0 { return entry }
      index = (index &+ 1) & namedMask
    }
  }
}

/// Lookups by id in the index. They are out of line here, because methods of the index would copy it to the stack.
extension Plan {
  /// Returns the place of the operand for a type and an id, which is valid as long as the plan; its operand is none
  /// where they are unknown.
  @inline(__always)
  func entry(_ type: ObjectIdentifier, _ id: String) -> FrozenReference<LookupIndex.NamedEntry> {
    if let words = IdHash.words(id) { entry(type, shortId: words) } else { entry(type, longId: id) }
  }

  @inline(never)
  private func entry(_ type: ObjectIdentifier, shortId id: (UInt, UInt)) -> FrozenReference<LookupIndex.NamedEntry> {
    index.entry(type, shortId: id)
  }

  @inline(never)
  private func entry(_ type: ObjectIdentifier, longId id: String) -> FrozenReference<LookupIndex.NamedEntry> {
    index.entry(type, longId: id)
  }
}

extension Operand {
  /// The operand of an empty place.
  fileprivate static var none: Operand { Operand(.computed(-1), .reference) }

  var isNone: Bool { if case .computed(-1) = place { true } else { false } }

  fileprivate var found: Operand? { if isNone { nil } else { self } }
}
