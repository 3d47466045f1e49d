/// What an environment may do. A value with no idea of threads: each transition says what its caller has to do next.
struct Lifecycle: Equatable, Sendable {
  enum Phase: UInt32, Comparable {
    /// Lookups are answered.
    case open
    /// Declarations may still come; the first lookup starts the environment.
    case declaring
    /// The thread that starts the environment builds beans; others wait.
    case starting
    /// An environment further out has begun to end, or this one is to end for want of use: nothing is looked up any more.
    case closed
    /// `finish` has been called.
    case finishing
    /// Somebody releases.
    case releasing
    case released

    static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  /// The phase in the lowest three bits, whether startup failed in the fourth, users above.
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

  /// Whether no lookup is answered any more.
  @inline(__always)
  var isEnding: Bool { word & 7 >= Phase.closed.rawValue }

  /// Whether `finish` has been called.
  @inline(__always)
  var isFinishing: Bool { word & 7 >= Phase.finishing.rawValue }

  @inline(__always)
  var isReleased: Bool { word & 7 == Phase.released.rawValue }

  /// Lookups, builds and children under way.
  var users: UInt32 { word / Self.user }

  /// Adds a user: a lookup, a build or a child.
  @inline(__always)
  mutating func enter() { word &+= Self.user }

  /// Takes a user away; true for the last one of a finishing environment, who releases it.
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

  /// Ends lookups where nobody is inside; false where somebody is, or where they have ended already.
  mutating func closeIfUnused() -> Bool {
    guard word & ~Self.failedBit == Phase.open.rawValue else { return false }
    set(.closed)
    return true
  }

  /// False where another call has begun the end.
  @inline(__always)
  mutating func finish() -> Bool {
    if isFinishing { return false }
    set(.finishing)
    return true
  }

  /// After `finish`: true where there is nobody to wait for, and the caller has to release.
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
  /// What an environment is; settled before others know it, but for `joined`.
  struct Kind: OptionSet {
    let rawValue: UInt8
    /// No child of a factory.
    static let plain = Kind(rawValue: EnvironmentCore.keepsPlan)
    /// The child's scope object says where beans are released.
    static let hosted = Kind(rawValue: 2)
    /// The child's scope object is asked for beans.
    static let scoped = Kind(rawValue: 4)
    /// The child has been among its parent's children.
    static let joined = Kind(rawValue: 8)
    /// What `configure` is handed.
    static let template = Kind(rawValue: 16)
    /// There may be beans that their takers own, or faces of other beans. Set under the lock.
    static let owning = Kind(rawValue: 32)
    /// Somebody waits for the end. Set under the lock.
    static let watched = Kind(rawValue: 64)

    /// The child has a scope object.
    static var withScope: Kind { [.hosted, .scoped] }
    /// What stands in slots is not all that has to be known of the beans when they are released.
    static var careful: Kind { [.scoped, .owning, .watched] }
  }
}
