import BeansEventLoop
import Glibc
import Synchronization

/// Hand-written sessions for the same loop: an object each in a dictionary, the time of its last use, and one timer
/// that is armed again when it finds that the session has been used.
final class HandwrittenSessions: SessionStore, @unchecked Sendable {
  // Everything is used on the loop's thread alone.
  private let loop: EventLoop
  private let idle: UInt64
  private let key = SessionKey()
  private var sessions: [ObjectIdentifier: HandwrittenSession] = [:]
  private(set) var expired = 0

  init(on loop: EventLoop, idle: Duration) {
    self.loop = loop
    self.idle = UInt64(idle / .nanoseconds(1))
  }

  func open(_ count: Int) {
    for _ in 0..<count {
      let session = HandwrittenSession(key)
      sessions[ObjectIdentifier(session)] = session
      use(session.profile)
      arm(session, after: idle)
    }
  }

  private func arm(_ session: HandwrittenSession, after delay: UInt64) {
    session.timer = loop.schedule(after: .nanoseconds(Int64(delay))) { [unowned self, unowned session] in
      expire(session)
    }
  }

  private func expire(_ session: HandwrittenSession) {
    let unused = HandwrittenSession.now - session.lastUse.load(ordering: .relaxed)
    if unused < idle { return arm(session, after: idle - unused) }
    sessions[ObjectIdentifier(session)] = nil
    expired += 1
  }

  func useAll() {
    for session in sessions.values {
      session.touch()
      use(session.profile)
    }
  }

  var live: Int { sessions.count }
}

/// One session by hand.
final class HandwrittenSession: @unchecked Sendable {
  // `timer` is used on the loop's thread alone.
  let profile: Profile
  let lastUse = Atomic(HandwrittenSession.now)
  var timer: EventLoop.Scheduled?

  init(_ key: SessionKey) { profile = Profile(basket: Basket(key: key)) }

  func touch() { lastUse.store(Self.now, ordering: .relaxed) }

  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
