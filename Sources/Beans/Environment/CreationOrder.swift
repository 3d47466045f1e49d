@_spi(BeansPackage) import BeansSupport
import Synchronization

/// In which order the beans of one environment were created, so that they can be released the other way round.
///
/// Usually one thread is inside a child. The one that found it empty leads until it leaves: it alone appends to the
/// child's own order, with plain stores. Threads that come meanwhile follow: they note their beans in the environment's
/// side, each with the leader's count of that moment, which says where between the leader's beans theirs belong. In
/// plain environments, and in children with more slots than the order can name, everybody follows.
struct CreationOrder {
  /// A follower's bean.
  struct Late {
    let slot: UInt32
    /// How many of the leader's came before.
    let after: UInt16
  }

  private let environment: Unmanaged<Environment>
  private var rest: Int
  private var late: [Late]
  private var hasSeed: Bool

  /// Of an environment that nobody is inside of any more, and that is kept by the caller.
  init(_ environment: Environment) {
    self.environment = .passUnretained(environment)
    rest = Int(environment.header.created.load(ordering: .acquiring))
    late = environment.sideReference.map { $0._withUnsafeGuaranteedRef { $0.late.withLock { $0 } } } ?? []
    hasSeed = environment.header.plan._withUnsafeGuaranteedRef { $0.hasSeed }
  }

  /// The slot filled last of those not yet returned.
  mutating func popLast() -> Int? {
    if let last = late.last, last.after >= rest {
      late.removeLast()
      return Int(last.slot)
    }
    if rest > 0 {
      rest -= 1
      return environment._withUnsafeGuaranteedRef { $0.trail[rest] }
    }
    defer { hasSeed = false }
    return hasSeed ? 0 : nil
  }
}

extension Environment {
  /// Notes that the slot is about to be published.
  @inline(__always)
  func noteCreation(in slot: Int, leads: Bool, _ trail: Trail) {
    if leads {
      let count = header.created.load(ordering: .relaxed)
      trail[Int(count)] = slot
      header.created.store(count &+ 1, ordering: .releasing)
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
    return Int(header.created.load(ordering: .acquiring)) + late
  }
}
