import Synchronization

/// In which order the beans of one environment were created, so that they can be released the other way round.
///
/// Usually one thread is inside an environment. The one that found it empty leads until it leaves: it alone appends to
/// `order`, with plain stores. Threads that come meanwhile follow: they note their beans in the environment's side,
/// each with the leader's count of that moment, which says where between the leader's beans theirs belong.
struct CreationOrder {
  /// A follower's bean.
  struct Late {
    let slot: UInt32
    /// How many of the leader's came before.
    let after: UInt32
  }

  private var rest: UInt32
  private var late: [Late]
  private let order: UnsafeMutablePointer<UInt32>

  /// Of an environment that nobody is inside of any more.
  init(_ environment: Environment) {
    rest = environment.header.created.load(ordering: .acquiring)
    late = environment.sideReference.map { $0._withUnsafeGuaranteedRef { $0.late.withLock { $0 } } } ?? []
    order = environment.header.order
  }

  /// The slot filled last of those not yet returned.
  @inline(__always)
  mutating func popLast() -> Int? {
    if !late.isEmpty, let last = late.last, last.after >= rest {
      late.removeLast()
      return Int(last.slot)
    }
    if rest == 0 { return nil }
    rest -= 1
    return Int(order[Int(rest)])
  }
}

extension Environment {
  /// Notes that the slot is about to be published.
  @inline(__always)
  func noteCreation(in slot: Int, leads: Bool) {
    if leads {
      let count = header.created.load(ordering: .relaxed)
      header.order[Int(count)] = UInt32(truncatingIfNeeded: slot)
      header.created.store(count + 1, ordering: .releasing)
    } else {
      noteLate(slot)
    }
  }

  @inline(never)
  private func noteLate(_ slot: Int) {
    side.late.withLock { late in
      late.append(
        CreationOrder.Late(
          slot: UInt32(truncatingIfNeeded: slot), after: header.created.load(ordering: .acquiring)))
    }
  }

  /// Beans created here so far; the seed is none.
  var createdBeans: Int {
    let late = sideReference.map { $0._withUnsafeGuaranteedRef { $0.late.withLock { $0.count } } } ?? 0
    let seed = header.plan._withUnsafeGuaranteedRef { $0.hasSeed } ? 1 : 0
    return Int(header.created.load(ordering: .acquiring)) + late - seed
  }
}
