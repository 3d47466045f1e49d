@_spi(BeansPackage) import BeansErrors
import Synchronization

/// The results of lookups that no plan contains, for reading without a lock.
///
/// Entries are only added, each at the front of a list selected by a hash. The table retains them until its end, since
/// a thread that has found a result may still read beans through it.
struct AnswerTable<Value: AnyObject & Sendable>: ~Copyable, Sendable {
  /// One result, with the plan, the type and the id of its lookup.
  private final class Entry: Sendable {
    let plan: ObjectIdentifier
    let type: ObjectIdentifier
    let id: String?
    let hasNoId: Bool
    let answer: Value
    /// The next entry of the list, retained.
    let next: Entry?

    init(_ answer: Value, _ plan: ObjectIdentifier, _ type: ObjectIdentifier, _ id: String?, next: Entry?) {
      (self.answer, self.plan, self.type, self.id, self.next) = (answer, plan, type, id, next)
      hasNoId = id == nil
    }

    /// Whether the lookup was by that id, or by none.
    @inline(__always)
    func has(_ id: String?) -> Bool {
      // Most lookups have no id to compare.
      if let id { isNamed(id) } else { hasNoId }
    }

    @inline(never)
    private func isNamed(_ id: String) -> Bool { self.id == id }
  }

  private static var size: Int { 64 }

  /// The first entry of each list, retained.
  private let lists = FrozenArray<Atomic<Unretained<Entry>?>>(count: Self.size) { Atomic(nil) }
  /// The number of entries. A service looks up the same few things all the time.
  private let count = Locked(0)

  deinit {
    for list in 0..<Self.size { lists[list].load(ordering: .relaxed)?.release() }
  }

  @inline(__always)
  private func list(_ type: ObjectIdentifier) -> Int { Int(bitPattern: type) >> 4 & (Self.size - 1) }

  /// Returns the result of a lookup; nil if the table has none. Safe from any thread.
  @inline(__always)
  func find(_ plan: ObjectIdentifier, _ type: ObjectIdentifier, _ id: String?) -> Unretained<Value>? {
    var next = lists[list(type)].load(ordering: .acquiring)
    while let entry = next {
      if entry.with({ $0.type == type && $0.plan == plan && $0.has(id) }) {
        return entry.with { Unretained($0.answer) }
      }
      next = entry.with { $0.next.map { Unretained($0) } }
    }
    return nil
  }

  func keep(_ answer: Value, _ plan: ObjectIdentifier, _ type: ObjectIdentifier, _ id: String?) {
    count.withLock { count in
      if count == 1024 || find(plan, type, id) != nil { return }
      count += 1
      let list = list(type)
      let first = lists[list].load(ordering: .relaxed)
      // The list passes its reference on to the new entry.
      let entry = ObjectReference(Entry(answer, plan, type, id, next: first?.object))
      first?.release()
      lists[list].store(Unretained(entry), ordering: .releasing)
    }
  }
}
