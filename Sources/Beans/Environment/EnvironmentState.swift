import Synchronization

extension Environment {
  /// The word that decides what an environment may do; every transition is one atomic operation.
  ///
  ///     63 …… 17   16 …… 14   13 …… 0
  ///     entered    shard      flags
  ///
  /// `entered` counts lookups under way. Who finds none leads: see `CreationOrder`.
  @usableFromInline
  enum State {
    /// `finish()` has been called: no more lookups.
    @inlinable static var finishing: UInt { 1 }
    /// Declarations may still come; the first lookup starts the environment.
    @inlinable static var unstarted: UInt { 2 }
    /// Startup failed; every call throws its cause.
    @inlinable static var failed: UInt { 4 }
    /// Somebody releases, or has released.
    static let releasing: UInt = 8
    /// Some thread waits for a build here; a build that ends has to look for it.
    static let awaited: UInt = 32
    /// The release waits for a loop, or for whoever takes it from there.
    static let handedOver: UInt = 64
    /// An asynchronous release is under way on the scope's loop.
    static let awaiting: UInt = 128
    /// Several threads are about to build here, and
    static let sharing: UInt = 256
    /// now may; see `Claim`.
    static let shared: UInt = 512
    /// Nobody leads here; see `CreationOrder`.
    static let unled: UInt = 1024
    /// The child has a scope object: one that says where beans are released,
    @inlinable static var hosted: UInt { 2048 }
    /// or a user's own.
    static let custom: UInt = 4096
    /// The child is, or was, in that part of its parent's list of children; written when it joins.
    static let joined: UInt = 8192
    static func shard(_ state: UInt) -> Int { Int(state >> 14 & 7) }
    static func joining(shard: Int) -> UInt { joined | UInt(shard) << 14 }
    /// Flags that a lookup cannot ignore.
    @inlinable static var gate: UInt { finishing | unstarted | failed }

    static let entry: UInt = 1 << 17
    /// Open, and nobody inside.
    static func isQuiet(_ state: UInt) -> Bool { entered(state) == 0 && state & (gate | releasing | handedOver) == 0 }
    /// Whether who enters at this state leads.
    static func isLed(_ state: UInt) -> Bool { entered(state) == 0 && state & unled == 0 }
    static func entered(_ state: UInt) -> UInt { state >> 17 }
  }

  var state: UInt { header.state.load(ordering: .acquiring) }
  var isFinishing: Bool { state & State.finishing != 0 }
  var isStarted: Bool { state & State.unstarted == 0 }

  /// Everything has been released. Not in the word that others may be counting themselves into just now, so that it takes
  /// no locked instruction: nothing is claimed any more, so the claim says it.
  var isReleased: Bool { header.claim.load(ordering: .acquiring) == .max }

  /// Begins a lookup: until `leave`, nothing of this environment is released. True for the one who leads.
  @inline(__always)
  func enter() throws -> Bool {
    let (old, _) = header.state.wrappingAdd(State.entry, ordering: .acquiring)
    return old & State.gate == 0 ? State.isLed(old) : try enterSlowly(old)
  }

  @inline(never)
  private func enterSlowly(_ old: UInt) throws -> Bool {
    if old & State.finishing == 0, let setup = header.setup, setup.isStartedHere { return State.isLed(old) }
    leave()
    if old & State.finishing != 0 { throw finishedError() }
    try startIfNeeded()
    return try enter()
  }

  /// Ends a lookup. The last one to leave a finishing environment releases it.
  @inline(__always)
  func leave() {
    let (old, _) = header.state.wrappingSubtract(State.entry, ordering: .acquiringAndReleasing)
    if old & State.finishing != 0, State.entered(old) == 1 { releaseIfQuiet() }
  }

  /// Whether `finish()` has been called here or above: lookups throw. One atomic load; from any thread.
  public var isFinished: Bool { isFinishing }

  /// Whether a child environment has been opened and not ended. From any thread.
  public var hasOpenChildren: Bool { existingSide?.children.isEmpty == false }

  /// Why nothing can be looked up any more: what startup threw, or `.finished`.
  func finishedError() -> any Error {
    if let cause = header.setup?.failure { return cause }
    return EnvironmentError(.finished, "environment '\(name)' has been finished", path: ["'\(name)'"])
  }
}
