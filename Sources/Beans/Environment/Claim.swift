@_spi(BeansPackage) import BeansSupport
import CBeansRuntime
import Synchronization

/// How a thread takes a slot in order to build what belongs there.
///
/// Where several threads build in one environment, each swaps its mark into the slot. Usually there is one, the leader
/// (see `CreationOrder`), and that locked instruction, once for every bean of every request, would be for nobody. So the
/// leader only writes down in the header which slot it fills, with a plain store, then looks whether it is still alone.
/// Whoever else wants to build first shares the environment: raises a flag, has all threads run a memory barrier, and
/// then knows that the leader's note either can be read or will not be relied on, because the leader sees the flag.
extension Environment {
  /// Before the leader claims: who it is.
  @inline(__always)
  func lead() { header.leader.store(UInt32(truncatingIfNeeded: beans_thread()), ordering: .relaxed) }

  /// Whether the slot, found empty, is the leader's now.
  @inline(__always)
  func claimAlone(_ slot: Int) -> Bool {
    header.claim.store(UInt16(truncatingIfNeeded: slot &+ 1), ordering: .releasing)
    beans_compiler_fence()
    return header.state.load(ordering: .relaxed) & (State.sharing | State.shared) == 0
  }

  /// The same among others: what the slot held, 0 for a slot that is this thread's now.
  @inline(never)
  func claimShared(_ slot: UnsafeMutablePointer<Slot>, _ me: UInt, leads: Bool) -> UInt {
    share()
    if leads {
      header.claim.store(0, ordering: .relaxed)
      // Found empty by the leader a moment ago: it has been marked by `share`, on the leader's behalf.
      if slot.pointee.word.load(ordering: .acquiring) == me { return 0 }
    }
    let (won, found) = slot.pointee.word.compareExchange(expected: 0, desired: me, ordering: .acquiringAndReleasing)
    return won ? 0 : found
  }

  /// Lets several threads build here from now on.
  @inline(never)
  private func share() {
    if header.state.load(ordering: .acquiring) & State.shared != 0 { return }
    Self.sharing.withLock { _ in
      if header.state.load(ordering: .acquiring) & State.shared != 0 { return }
      header.state.bitwiseOr(State.sharing, ordering: .sequentiallyConsistent)
      beans_barrier_on_all_threads()
      markClaim()
      header.state.bitwiseOr(State.shared, ordering: .acquiringAndReleasing)
    }
  }

  /// Puts the leader's claim into its slot, unless what is built there has been published already.
  ///
  /// The leader does so itself before it builds something else on the way.
  func markClaim() {
    let claim = header.claim.load(ordering: .acquiring)
    if claim == 0 { return }
    let leader = Slot.mark(UInt(header.leader.load(ordering: .relaxed)))
    _ = slots[Int(claim) - 1].word.compareExchange(expected: 0, desired: leader, ordering: .acquiringAndReleasing)
  }

  /// Empties a slot whose bean could not be built.
  func dropClaim(_ slot: UnsafeMutablePointer<Slot>) {
    // Not while somebody is putting the claim into the slot.
    Self.sharing.withLock { _ in
      header.claim.store(0, ordering: .relaxed)
      slot.pointee.word.store(0, ordering: .releasing)
    }
  }

  /// Taken once for an environment that several threads build in at the same time, and for each failure.
  private static let sharing = Locked(0)

  /// How children of a factory begin: alone, where there is such a barrier and slots have numbers that fit.
  static func initialState(slots: Int) -> UInt {
    if slots >= Int(UInt16.max) { return State.unled | State.sharing | State.shared }
    return hasBarrier ? 0 : State.sharing | State.shared
  }

  static var hasBarrier: Bool { beans_has_barrier_on_all_threads() }
}
