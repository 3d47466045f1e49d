@_spi(BeansPackage) import BeansSupport

/// What lookups have found that no plan foresaw; read without a lock.
///
/// Answers are only ever added, each in front of a list that is found by a hash, and are kept as long as the table: whoever
/// has one may read beans by what it holds.
struct AnswerTable<Value: AnyObject & Sendable>: ~Copyable, Sendable {
  /// One answer, and what has been asked in which plan.
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

  /// Each slot holds the first entry of a list.
  private let block = SlotBlock(slots: Int(size), values: 0)
  private let slots: Slots
  /// How many there are; a service asks for the same few things all the time.
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

  /// From any thread.
  @inline(__always)
  func find(_ plan: UInt, _ type: ObjectIdentifier, _ id: String?) -> Unretained<Value>? {
    // Usually there is no id to compare.
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
