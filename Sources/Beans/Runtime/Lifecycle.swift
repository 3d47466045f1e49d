/// The phase of an environment and the number of its users. A value without synchronization: the result of a transition
/// determines the next step of its caller.
struct Lifecycle: Equatable, Sendable {
  enum Phase: UInt32, Comparable {
    /// Lookups are allowed.
    case open
    /// Declarations are allowed; the first lookup starts the environment.
    case declaring
    /// The thread that starts the environment builds beans; others wait.
    case starting
    /// Lookups have ended, because an environment further out has begun to end or because this one is unused.
    case closed
    /// `finish` has been called.
    case finishing
    /// A thread releases the beans.
    case releasing
    case released

    static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  /// The phase in the lowest three bits, the failure of startup in the fourth, the number of users above.
  private(set) var word: UInt32

  init(_ phase: Phase) { word = phase.rawValue }

  @inline(__always)
  init(word: UInt32) { self.word = word }

  private static var failedBit: UInt32 { 8 }
  private static var user: UInt32 { 16 }

  // The lowest three bits are one of the cases, of which there are seven.
  var phase: Phase { Phase(rawValue: word & 7) ?? .released }

  @inline(__always)
  var isOpen: Bool { word & 7 == 0 }

  var isFailed: Bool { word & Self.failedBit != 0 }

  /// Whether lookups have ended.
  @inline(__always)
  var isEnding: Bool { word & 7 >= Phase.closed.rawValue }

  /// Whether `finish` has been called.
  @inline(__always)
  var isFinishing: Bool { word & 7 >= Phase.finishing.rawValue }

  @inline(__always)
  var isReleased: Bool { word & 7 == Phase.released.rawValue }

  /// The number of lookups, builds and children in flight.
  var users: UInt32 { word / Self.user }

  /// Adds a user: a lookup, a build or a child.
  @inline(__always)
  mutating func enter() { word &+= Self.user }

  /// Removes a user. Returns true for the last user of a finishing environment, which has to release the environment.
  @inline(__always)
  mutating func leave() -> Bool {
    word &-= Self.user
    return releaseIfQuiet()
  }

  mutating func start() {
    if phase == .declaring { set(.starting) }
  }

  mutating func open() {
    if phase == .starting { set(.open) }
  }

  mutating func fail() { word |= Self.failedBit }

  /// Ends lookups.
  mutating func close() {
    if !isEnding { set(.closed) }
  }

  /// Ends lookups of an environment without users. Returns false where there are users, or where lookups have ended
  /// already.
  mutating func closeIfUnused() -> Bool {
    guard word & ~Self.failedBit == Phase.open.rawValue else { return false }
    set(.closed)
    return true
  }

  /// Begins the end. Returns false where another call has begun it.
  @inline(__always)
  mutating func finish() -> Bool {
    if isFinishing { return false }
    set(.finishing)
    return true
  }

  /// Begins the release of a finishing environment without users. Returns true where the caller has to release.
  @inline(__always)
  mutating func releaseIfQuiet() -> Bool {
    guard word & ~Self.failedBit == Phase.finishing.rawValue else { return false }
    set(.releasing)
    return true
  }

  @inline(__always)
  mutating func released() { set(.released) }

  @inline(__always)
  private mutating func set(_ phase: Phase) { word = word & ~7 | phase.rawValue }
}

extension EnvironmentCore {
  /// The properties of an environment. Fixed before other threads see the environment, except `joined` and those that
  /// are set under the lock.
  struct Kind: OptionSet {
    let rawValue: UInt8
    /// The environment is not a child of a factory.
    static let plain = Kind(rawValue: EnvironmentCore.keepsPlan)
    /// The child's scope object determines where beans are released.
    static let hosted = Kind(rawValue: 2)
    /// Lookups go to the child's scope object.
    static let scoped = Kind(rawValue: 4)
    /// The child has been among its parent's children.
    static let joined = Kind(rawValue: 8)
    /// The environment is the argument of `configure`.
    static let template = Kind(rawValue: 16)
    /// There may be beans that their takers own, or faces of other beans. Set under the lock.
    static let owning = Kind(rawValue: 32)
    /// A watch waits for the end. Set under the lock.
    static let watched = Kind(rawValue: 64)
    /// A caller awaits the end, so that releases may be awaited. Set under the lock, before the end begins.
    static let asynchronous = Kind(rawValue: 128)

    /// The child has a scope object.
    static var withScope: Kind { [.hosted, .scoped] }
    /// The kinds of which a release needs more than the slots.
    static var careful: Kind { [.scoped, .owning, .watched] }
  }
}
