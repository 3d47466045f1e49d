import TestSupport
import Testing

@testable import Beans

@Suite struct LifecycleTests {
  enum Call: CaseIterable {
    case enter, leave, start, open, fail, close, closeIfUnused, forbidAwaiting, finish, releaseIfQuiet, released

    /// Makes the call, and returns the next steps of its caller.
    func apply(to lifecycle: inout Lifecycle) -> Answer {
      switch self {
      case .enter: lifecycle.enter()
      case .leave: return Answer(releases: lifecycle.leave())
      case .start: lifecycle.start()
      case .open: lifecycle.open()
      case .fail: lifecycle.fail()
      case .close: lifecycle.close(.finish)
      case .closeIfUnused: return Answer(closes: lifecycle.closeIfUnused(.idle))
      case .forbidAwaiting: lifecycle.forbidAwaiting()
      case .finish: return Answer(isFirst: lifecycle.finish(.finish))
      case .releaseIfQuiet: return Answer(releases: lifecycle.releaseIfQuiet())
      case .released: lifecycle.released()
      }
      return Answer()
    }
  }

  struct Answer: Equatable {
    /// Whether the caller has to release.
    var releases = false
    /// Set by `finish`: whether the call is the first one.
    var isFirst = false
    /// Set by `closeIfUnused`: whether the caller has to finish.
    var closes = false
  }

  private static let phases = (0..<7).compactMap { Lifecycle.Phase(rawValue: $0) }

  private func lifecycle(_ phase: Lifecycle.Phase, users: Int, isFailed: Bool) -> Lifecycle {
    var lifecycle = Lifecycle(phase)
    for _ in 0..<users { lifecycle.enter() }
    if isFailed { lifecycle.fail() }
    return lifecycle
  }

  // MARK: one call

  /// Returns the phase to which a call leads from each phase; an unlisted phase does not change.
  private func changes(_ call: Call, users: Int) -> [Lifecycle.Phase: Lifecycle.Phase] {
    switch call {
    case .enter, .fail, .forbidAwaiting: [:]
    case .start: [.declaring: .starting]
    case .open: [.starting: .open]
    case .close: [.open: .closed, .declaring: .closed, .starting: .closed]
    case .closeIfUnused: users == 0 ? [.open: .closed] : [:]
    case .finish: [.open: .finishing, .declaring: .finishing, .starting: .finishing, .closed: .finishing]
    case .leave: users == 1 ? [.finishing: .releasing] : [:]
    case .releaseIfQuiet: users == 0 ? [.finishing: .releasing] : [:]
    case .released: [.releasing: .released]
    }
  }

  @Test(arguments: Call.allCases)
  func everyCallHasItsEffectInEveryPhase(call: Call) {
    for phase in Self.phases {
      for users in 0...3 {
        for isFailed in [false, true] {
          // A leaving user has entered; only the releasing caller has released.
          if call == .leave, users == 0 { continue }
          if call == .released, phase != .releasing { continue }
          var lifecycle = lifecycle(phase, users: users, isFailed: isFailed)
          let answer = call.apply(to: &lifecycle)

          let change = changes(call, users: users)[phase]
          var expected = Answer()
          if call == .closeIfUnused { expected.closes = change != nil }
          if call == .finish { expected.isFirst = change != nil }
          if change == .releasing { expected.releases = true }
          let more = call == .enter ? 1 : call == .leave ? -1 : 0
          let state: Comment = "\(call) in \(phase), \(users) users, failed: \(isFailed)"
          #expect(lifecycle.phase == change ?? phase, state)
          #expect(answer == expected, state)
          #expect(Int(lifecycle.users) == users + more, state)
          #expect(lifecycle.isFailed == (isFailed || call == .fail), state)
          #expect(lifecycle.isUnawaited == (call == .forbidAwaiting && !lifecycle.isFinishing), state)
        }
      }
    }
  }

  @Test func eachPhaseHasItsFlags() {
    for phase in Self.phases {
      for users in [0, 2] {
        for isFailed in [false, true] {
          let lifecycle = lifecycle(phase, users: users, isFailed: isFailed)
          #expect(lifecycle.isOpen == (phase == .open))
          #expect(lifecycle.isEnding == [.closed, .finishing, .releasing, .released].contains(phase))
          #expect(lifecycle.isFinishing == [.finishing, .releasing, .released].contains(phase))
          #expect(lifecycle.isReleased == (phase == .released))
          #expect(Lifecycle(word: lifecycle.word) == lifecycle)
        }
      }
    }
  }

  // MARK: sequences of calls

  /// A lifecycle with the results of the calls that led to it.
  private struct State: Hashable {
    var word: UInt64
    var firsts = 0
    var releases = 0
  }

  /// Returns all states that calls in any order reach, with up to three users at once.
  private func reachable(from phase: Lifecycle.Phase) -> Set<State> {
    let first = State(word: Lifecycle(phase).word)
    var (known, new): (Set<State>, [State]) = ([first], [first])
    while let state = new.popLast() {
      for call in Call.allCases {
        let before = Lifecycle(word: state.word)
        switch call {
        // A use may contain other uses until the release begins.
        case .enter: if before.users == 3 || before.isEnding && before.users == 0 { continue }
        case .leave: if before.users == 0 { continue }
        case .released: if before.phase != .releasing { continue }
        default: break
        }
        var after = before
        let answer = call.apply(to: &after)
        var next = State(word: after.word, firsts: state.firsts, releases: state.releases)
        if answer.isFirst { next.firsts += 1 }
        if answer.releases { next.releases += 1 }
        // A state after an error is not followed further.
        if known.insert(next).inserted, next.firsts < 2, next.releases < 2 { new.append(next) }
      }
    }
    return known
  }

  @Test(arguments: [Lifecycle.Phase.declaring, .open])
  func anySequenceOfCallsReleasesOnce(from phase: Lifecycle.Phase) {
    let states = reachable(from: phase)
    for state in states {
      let lifecycle = Lifecycle(word: state.word)
      #expect(state.firsts == (lifecycle.isFinishing ? 1 : 0))
      #expect(state.releases == (lifecycle.phase >= .releasing ? 1 : 0))
      if lifecycle.phase >= .releasing { #expect(lifecycle.users == 0) }
      // Each state reaches the end, by the call of the last user.
      var last = lifecycle
      _ = last.finish(.finish)
      var releases = last.releaseIfQuiet()
      while last.users > 0 { releases = last.leave() }
      #expect(last.phase >= .releasing)
      #expect(state.releases + (releases ? 1 : 0) == 1)
    }
    #expect(Set(states.map { Lifecycle(word: $0.word).phase }).isSuperset(of: [.open, .closed, .finishing, .released]))
  }

  @Test func manyUsersAreCounted() {
    var lifecycle = Lifecycle(.open)
    for number in 1...100_000 {
      lifecycle.enter()
      if Int(lifecycle.users) != number { Issue.record("\(lifecycle.users) users instead of \(number)") }
    }
    lifecycle.fail()
    let isFirst = lifecycle.finish(.finish)
    #expect(isFirst)
    var releases = 0
    for _ in 1...100_000 where lifecycle.leave() { releases += 1 }
    #expect(releases == 1)
    #expect(lifecycle.users == 0)
    #expect(lifecycle.isFailed)
  }

  // MARK: threads

  /// A lifecycle behind the lock that guards it in an environment.
  private final class Guarded: @unchecked Sendable {  // all below `lock` is read and written under it
    private let lock = SpinLock()
    private var lifecycle = Lifecycle(.open)
    private var inside = 0
    private var releases: [Int] = []

    /// Returns false if the end has begun.
    func enter() -> Bool {
      lock.withLock {
        guard lifecycle.isOpen else { return false }
        lifecycle.enter()
        inside += 1
        return true
      }
    }

    func leave() {
      lock.withLock {
        inside -= 1
        if lifecycle.leave() { releases.append(inside) }
      }
    }

    func finish() -> Bool {
      lock.withLock {
        guard lifecycle.finish(.finish) else { return false }
        if lifecycle.releaseIfQuiet() { releases.append(inside) }
        return true
      }
    }

    /// The number of users inside, for each release.
    var result: [Int] { lock.withLock { releases } }
  }

  @Test func theLastOfManyThreadsReleases() throws {
    for _ in 0..<200 {
      let guarded = Guarded()
      let firsts = try onThreads(4) { number in
        for _ in 0..<(number * 20) where guarded.enter() { guarded.leave() }
        let isInside = guarded.enter()
        let isFirst = guarded.finish()
        if isInside { guarded.leave() }
        return isFirst
      }
      #expect(firsts.count { $0 } == 1)
      #expect(guarded.result == [0])
    }
  }
}
