/// The phase of an environment, the cause of its end, and the numbers of its users. A value without synchronization: the
/// result of a transition determines the next step of its caller.
struct Lifecycle: Equatable, Sendable {
  enum Phase: UInt64, Comparable {
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

  /// The phase in the lowest three bits, then the failure of startup, the owner, whether an end has overruled the owner,
  /// whether releases cannot be awaited, and the cause of the end. Above, the number of users and the number of bodies.
  private(set) var word: UInt64

  init(_ phase: Phase) { word = phase.rawValue }

  /// An open child with its owner. A body is inside from the beginning.
  @inline(__always)
  init(openedBy owner: OutcomeOwner) {
    word = owner.rawValue << Self.ownerShift
    if owner == .body { word |= Self.body }
  }

  @inline(__always)
  init(word: UInt64) { self.word = word }

  private static var failedBit: UInt64 { 1 << 3 }
  private static var ownerShift: UInt64 { 4 }
  private static var ownerBits: UInt64 { 3 << ownerShift }
  private static var overruledBit: UInt64 { 1 << 6 }
  private static var unawaitedBit: UInt64 { 1 << 7 }
  private static var causeShift: UInt64 { 8 }
  private static var causeBits: UInt64 { 15 << causeShift }
  private static var user: UInt64 { 1 << 12 }
  private static var body: UInt64 { 1 << 44 }
  /// The bits that are clear in an environment without a phase, users and bodies.
  private static var activeBits: UInt64 { ~(failedBit | ownerBits | overruledBit | unawaitedBit | causeBits) }

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
  var users: UInt64 { word % Self.body / Self.user }

  /// The number of closures that run inside and keep the beans.
  var bodies: UInt64 { word / Self.body }

  /// Whether a lookup, a build, a child or a body uses the environment.
  var isInUse: Bool { word / Self.user != 0 }

  // The two bits are one of the cases: the fourth value is never stored.
  var owner: OutcomeOwner { OutcomeOwner(rawValue: (word & Self.ownerBits) >> Self.ownerShift) ?? .none }

  /// Whether an end that did not wait for the owner has failed the child.
  var isOverruled: Bool { word & Self.overruledBit != 0 }

  /// Whether a caller waits for the end without a task, so that releases cannot be awaited.
  var isUnawaited: Bool { word & Self.unawaitedBit != 0 }

  /// The cause of the end; nil for an environment whose end has not begun.
  var cause: EndCause? { EndCause(rawValue: UInt8((word & Self.causeBits) >> Self.causeShift)) }

  /// Adds a user: a lookup, a build or a child.
  @inline(__always)
  mutating func enter() { word &+= Self.user }

  /// Adds a user. Returns false, and adds none, from a phase on.
  mutating func enter(before end: Phase) -> Bool {
    if phase >= end { return false }
    enter()
    return true
  }

  /// Removes a user. Returns true for the last user of a finishing environment, which has to release the environment.
  @inline(__always)
  mutating func leave() -> Bool {
    word &-= Self.user
    return releaseIfQuiet()
  }

  /// Adds a body. Returns false where lookups have ended.
  mutating func enterBody() -> Bool {
    if isOpen { word &+= Self.body }
    return isOpen
  }

  /// Removes a body, unless an end has abandoned the bodies. Returns true where the caller has to release.
  @inline(__always)
  mutating func leaveBody() -> Bool {
    if word >= Self.body { word &-= Self.body }
    return releaseIfQuiet()
  }

  /// Makes a body the owner of a child that a handle owns. Returns false where lookups have ended.
  mutating func enterLastBody() -> Bool {
    guard enterBody() else { return false }
    word = word & ~Self.ownerBits | OutcomeOwner.body.rawValue << Self.ownerShift
    return true
  }

  /// Removes the body that owns the child, and begins the end. Returns true where the caller has to release.
  @inline(__always)
  mutating func finishBody(_ cause: EndCause) -> Bool {
    _ = finish(cause)
    return leaveBody()
  }

  mutating func start() {
    if phase == .declaring { set(.starting) }
  }

  mutating func open() {
    if phase == .starting { set(.open) }
  }

  mutating func fail() { word |= Self.failedBit }

  /// Ends lookups.
  mutating func close(_ cause: EndCause) {
    if !isEnding { set(.closed, cause) }
  }

  /// Ends lookups of an environment without users and bodies. Returns false where there are some, or where lookups have
  /// ended already.
  mutating func closeIfUnused(_ cause: EndCause) -> Bool {
    guard word & Self.activeBits == Phase.open.rawValue else { return false }
    set(.closed, cause)
    return true
  }

  /// Makes asynchronous releases fail in an end that has not begun: its caller waits without a task.
  mutating func forbidAwaiting() {
    if phase < .finishing { word |= Self.unawaitedBit }
  }

  /// Begins the end. Returns false where another call has begun it.
  @inline(__always)
  mutating func finish(_ cause: EndCause) -> Bool {
    // The usual case: neither a phase nor a cause has to be replaced.
    if isOpen {
      word |= Phase.finishing.rawValue | UInt64(cause.rawValue) << Self.causeShift
      return true
    }
    if isFinishing { return false }
    if isEnding { set(.finishing) } else { set(.finishing, cause) }
    return true
  }

  /// Fails a child whose owner is a handle that has not ended it. The caller becomes a user, so that no release begins
  /// before it has recorded the failure. Returns false for every other child, and where the end has begun.
  mutating func overrule(_ cause: EndCause) -> Bool {
    if owner != .handle || isFinishing { return false }
    fail(cause)
    return true
  }

  /// Fails a child, regardless of the bodies inside. The caller becomes a user, as in `overrule`. Returns false where the
  /// end has begun and no body is inside.
  mutating func overruleBodies(_ cause: EndCause) -> Bool {
    if isFinishing, bodies == 0 { return false }
    fail(cause)
    return true
  }

  private mutating func fail(_ cause: EndCause) {
    if isFinishing { set(phase, cause) } else { set(.closed, cause) }
    word |= Self.overruledBit
    enter()
  }

  /// Removes all bodies.
  mutating func abandonBodies() { word %= Self.body }

  /// Begins the release of a finishing environment without users and bodies. Returns true where the caller has to release.
  @inline(__always)
  mutating func releaseIfQuiet() -> Bool {
    guard word & Self.activeBits == Phase.finishing.rawValue else { return false }
    set(.releasing)
    return true
  }

  @inline(__always)
  mutating func released() { set(.released) }

  @inline(__always)
  private mutating func set(_ phase: Phase) { word = word & ~7 | phase.rawValue }

  @inline(__always)
  private mutating func set(_ phase: Phase, _ cause: EndCause) {
    word = word & ~(7 | Self.causeBits) | phase.rawValue | UInt64(cause.rawValue) << Self.causeShift
  }
}

/// The party that decides the outcome of a child.
@usableFromInline
enum OutcomeOwner: UInt64, CaseIterable {
  /// No party: every end completes the child, unless it says otherwise.
  case none
  /// A handle that has not ended the child.
  case handle
  /// A body: the closure of `withChild` or of a handle's `end(after:)`.
  case body
}

/// The cause of an end, for the error of later lookups.
@usableFromInline
package enum EndCause: UInt8, Sendable, CaseIterable {
  /// The body that owned the child has returned or thrown.
  case body = 1
  /// A handle has ended the child.
  case handle
  case finish
  case shutdown
  /// The limit of a shutdown has passed while a body ran.
  case limit
  /// An environment further out has ended.
  case parent
  /// The last reference to a handle has been dropped.
  case dropped
  case deadline
  case idle
  /// A registry has ended the session.
  case registry
  /// A registry has evicted the session in favour of a new one.
  case evicted
  /// Startup has failed.
  case startup
}
