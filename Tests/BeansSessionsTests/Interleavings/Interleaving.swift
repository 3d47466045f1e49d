import Beans
import BeansSessions
import BeansTesting
import TestSupport

/// One made-up order of the steps of two nodes, and its outcome.
struct Interleaving {
  /// The broken promises; empty if there are none.
  let violations: [String]
  let events: [String]

  static let idleLimit = Duration.seconds(600)

  /// A seed gives the same order of steps each time.
  static func run(seed: UInt64, over store: (MemorySessionStore) -> any SessionStore = { $0 }) throws -> Interleaving {
    let clock = ManualClock()
    let memory = MemorySessionStore(limits: SessionLimits(idleLimit: idleLimit), clock: clock)
    return try run(seed: seed, over: StoreInTest(store: store(memory), pass: { clock.advance(by: $0) }, raw: nil))
  }

  /// Over a store that is empty, and made with `idleLimit`.
  static func run(seed: UInt64, over store: StoreInTest) throws -> Interleaving {
    let run = try InterleavingRun(seed: seed, over: store)
    try run.run()
    return Interleaving(violations: run.history.violations, events: run.history.events)
  }
}

/// The run of one interleaving: a single thread, on which the test chooses the next task to go on.
private final class InterleavingRun {
  private static let operations = 30
  private static let maximumRunning = 8

  let history = SessionHistory()
  private var random: SplitMix64
  private let pass: (Duration) throws -> Void
  private let steps = Steps()
  private let executor = ManualExecutor()
  private let nodes: [Node]
  private let faults: Bool

  init(seed: UInt64, over store: StoreInTest) throws {
    random = SplitMix64(seed: seed)
    faults = seed % 4 != 0
    pass = store.pass
    let stepped = SteppedStore(inner: store.store, steps: steps)
    let defaults = Defaults()
    nodes = try (0..<2).map { _ in try Node(stepped, defaults) }
  }

  func run() throws {
    var left = Self.operations
    while left > 0 || history.runningRequests > 0 {
      if left > 0, history.runningRequests < Self.maximumRunning, random.chance(30) {
        left -= 1
        begin(RequestKind.allCases.randomElement(using: &random) ?? .read, id: chooseId())
      } else if random.chance(1) {
        try pass(Interleaving.idleLimit + .seconds(1))
        history.expired()
      } else {
        step(faults: faults)
      }
    }
    // Each id that clients have been given is read once more, with nothing in the way.
    for id in history.ids {
      begin(.read, id: id)
      while history.runningRequests > 0 { step(faults: false) }
    }
    check()
    for node in nodes { try node.application.shutdown() }
  }

  /// Mostly the newest ones, so that requests meet; at times an old one, or none.
  private func chooseId() -> String? {
    let ids = history.ids
    if ids.isEmpty || random.chance(10) { return nil }
    return random.chance(80) ? ids.suffix(2).randomElement(using: &random) : ids.randomElement(using: &random)
  }

  private func begin(_ kind: RequestKind, id: String?) {
    // Mostly the same one, so that requests share an open session there while the other node changes it.
    let node = nodes[random.chance(75) ? 0 : 1]
    let number = history.begin(id, "\(kind)")
    let (history, steps) = (history, steps)
    Task(executorPreference: executor) {
      do {
        let answer = try await node.sessions.withSession(cookie: id) { session in
          try await kind.run(in: session, number, history, steps)
        }
        history.answered(number, answer.cookie)
      } catch {
        history.failed(number, error)
      }
    }
    executor.run(while: { steps.isCalling })
  }

  /// Resumes one of the waiting tasks.
  private func step(faults: Bool) {
    let kinds = steps.kinds
    guard !kinds.isEmpty else { return }
    let place = Int.random(in: kinds.indices, using: &random)
    let fails = faults && kinds[place] != .request && random.chance(4)
    if kinds[place] != .request { history.note("  \(kinds[place])\(fails ? ", and fails" : "")") }
    steps.proceed(place, succeeding: !fails)
    executor.run(while: { steps.isCalling })
  }

  private func check() {
    for (number, node) in nodes.enumerated() {
      if node.sessions.counts.open != 0 {
        history.fail("node \(number) has \(node.sessions.counts.open) sessions open")
      }
      for scope in node.application.statistics() where scope.scope == "session" && scope.opened != scope.finished {
        history.fail("node \(number) has \(scope.opened - scope.finished) environments open")
      }
    }
  }
}

/// The action of a request.
private enum RequestKind: CaseIterable, Sendable {
  case read, changeA, changeB, changeBoth, changeNote, count, countTwice, rotate, end, giveUp

  func run(in session: SessionHandle, _ number: Int, _ history: SessionHistory, _ steps: Steps) async throws {
    let account = try session.environment.getBean(Account.self)
    var values = ["a": account.a.value, "b": account.b.value]
    // A bean that other requests do not ask for.
    let note = self == .changeNote ? try session.environment.getBean(Note.self) : nil
    if let note { values["note"] = note.text.value }
    history.entered(
      number, isNew: session.isNew, owner: account.owner.value, values: values, count: account.count.value)
    _ = await steps.wait(.request)
    switch self {
    case .read: break
    case .changeA, .giveUp: account.a.set(history.write(number, "a"))
    case .changeB: account.b.set(history.write(number, "b"))
    case .changeBoth:
      account.a.set(history.write(number, "a"))
      account.b.set(history.write(number, "b"))
    case .changeNote: note?.text.set(history.write(number, "note"))
    case .count:
      _ = history.write(number, "count")
      account.count.update { $0 += 1 }
    case .countTwice:
      for isLast in [false, true] {
        _ = history.write(number, "count")
        account.count.update { $0 += 1 }
        if !isLast { _ = await steps.wait(.request) }
      }
    case .rotate:
      account.a.set(history.write(number, "a"))
      history.rotates(number)
      session.rotate()
    case .end:
      history.ends(number)
      session.end()
    }
    _ = await steps.wait(.request)
    if self == .giveUp { throw GivenUp() }
  }
}

/// Negative numbers, each another.
private final class Defaults: Sendable {
  private let counter = Counter()

  func next() -> Int {
    counter.increment()
    return -counter.value
  }
}

private final class Account: Sendable {
  let owner, a, b, count: SessionValue<Int>

  init(state: SessionState, defaults: Defaults) throws {
    owner = try state.value("owner", default: defaults.next())
    a = try state.value("a", default: defaults.next())
    b = try state.value("b", default: defaults.next())
    count = try state.value("count", default: 0, onConflict: .refuse)
  }
}

private final class Note: Sendable {
  let text: SessionValue<Int>

  init(state: SessionState, defaults: Defaults) throws { text = try state.value("note", default: defaults.next()) }
}

private final class Node: Sendable {
  let application: Environment
  let sessions: Sessions<SessionState>

  init(_ store: any SessionStore, _ defaults: Defaults) throws {
    application = try Environment(name: "application")
    try application.define(application.bean(defaults))
    sessions = Sessions(
      try application.childFactory("session", seed: SessionState.self) { session in
        try session.define(session.bean(Account.self, factory: Account.init))
        try session.define(session.bean(Note.self, factory: Note.init))
      }, store: store)
  }
}

extension SplitMix64 {
  /// True so many times of a hundred.
  fileprivate mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
