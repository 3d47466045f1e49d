@_spi(BeansPackage) import BeansSupport

/// The results of lookups that no plan contains, for reading without a lock.
///
/// Entries are only added, each at the front of a list selected by a hash. The table retains them until its end, since
/// a thread that has found a result may still read beans through it.
struct AnswerTable<Value: AnyObject & Sendable>: ~Copyable, Sendable {
  /// One result, with the plan, the type and the id of its lookup.
  private final class Entry: Sendable {
    let plan: UInt
    let type: ObjectIdentifier
    let id: String?
    let hasNoId: Bool
    let answer: Value
    /// The address of the next entry of the list, or 0.
    private let rest: UInt

    init(_ answer: Value, _ plan: UInt, _ type: ObjectIdentifier, _ id: String?, rest: UInt) {
      (self.answer, self.plan, self.type, self.id, self.rest) = (answer, plan, type, id, rest)
      hasNoId = id == nil
    }

    var next: Unretained<Entry>? { Unretained(address: rest) }

    deinit { next?.release() }
  }

  private static var size: Int32 { 64 }

  /// The slots of the table. Each holds the first entry of a list.
  private let block = SlotBlock(slots: Int(size), values: 0)
  private let slots: Slots
  /// The number of entries. A service looks up the same few things all the time.
  private let count = Locked(0)

  init() { slots = block.slots }

  deinit {
    for index in 0..<Self.size { Unretained<Entry>(address: slots[index].content.word)?.release() }
  }

  @inline(__always)
  private func slot(_ type: ObjectIdentifier) -> Slot {
    slots[Int32(truncatingIfNeeded: UInt(bitPattern: type) >> 4) & (Self.size - 1)]
  }

  @inline(__always)
  private func find(
    _ plan: UInt, _ type: ObjectIdentifier, _ isMeant: (Entry) -> Bool
  ) -> Unretained<Value>? {
    var next = Unretained<Entry>(address: slot(type).content.word)
    while let entry = next {
      if entry.with({ $0.type == type && $0.plan == plan && isMeant($0) }) {
        return entry.with { Unretained($0.answer) }
      }
      next = entry.with { $0.next }
    }
    return nil
  }

  /// Returns the result of a lookup; nil if the table has none. Safe from any thread.
  @inline(__always)
  func find(_ plan: UInt, _ type: ObjectIdentifier, _ id: String?) -> Unretained<Value>? {
    // Most lookups have no id to compare.
    if let id { findNamed(plan, type, id) } else { find(plan, type) { $0.hasNoId } }
  }

  @inline(never)
  private func findNamed(_ plan: UInt, _ type: ObjectIdentifier, _ id: String) -> Unretained<Value>? {
    find(plan, type) { $0.id == id }
  }

  func keep(_ answer: Value, _ plan: UInt, _ type: ObjectIdentifier, _ id: String?) {
    count.withLock { count in
      if count == 1024 || find(plan, type, id) != nil { return }
      count += 1
      let slot = slot(type)
      slot.store(.filled(ObjectReference(Entry(answer, plan, type, id, rest: slot.content.word))))
    }
  }
}
