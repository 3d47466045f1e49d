import Beans
@_spi(BeansPackage) import BeansErrors
import BeansRunning
import Synchronization
import TestSupport
import Testing

/// Environment variables: `RUN_SEEDS` is the number of scenarios, `RUN_FIRST_SEED` the first one.
@Suite("Beans that run beside the rules of their order", .timeLimit(.minutes(30)))
struct RunSpecification {
  @Test("Random graphs start and end in order, whatever the cause and the moment of the end")
  func randomGraphs() async throws {
    let first: UInt64 = setting("RUN_FIRST_SEED") ?? 1
    for seed in first..<first + (setting("RUN_SEEDS") ?? 1_000) {
      let scenario = RunScenario(seed: seed)
      let (events, failure) = try await RunUnderTest(scenario).run()
      let broken = scenario.brokenRules(events, failure: failure)
      #expect(broken.isEmpty, "seed \(seed): \(broken), in \(events), of \(scenario)")
      if !broken.isEmpty { return }
    }
  }

  @Test("Each rule refuses the events that break it")
  func rules() {
    var scenario = RunScenario(seed: 1)
    let part = { RunScenario.Part(kind: $0, needs: $1, isLazy: false, steps: 0, returns: false, failures: 0) }
    scenario.parts = [part(.running, []), part(.plain, [0]), part(.running, [1])]
    scenario.cause = .stop
    let sound: [RunEvent] = [
      .created(0), .created(1), .created(2), .began(0), .ready(0), .began(2), .ready(2), .cancelled(2), .ended(2),
      .cancelled(0), .ended(0), .released(2), .released(1), .released(0),
    ]
    #expect(scenario.brokenRules(sound, failure: nil).isEmpty)
    #expect(scenario.brokenRules(sound, failure: "2") == ["run() fails by 2 instead of none"])
    func broken(by change: (inout [RunEvent]) -> Void) -> [String] {
      var events = sound
      change(&events)
      return scenario.brokenRules(events, failure: nil)
    }
    #expect(broken { $0.swapAt(4, 5) } == ["2 starts before 0 is ready"])
    #expect(broken { $0.swapAt(0, 1) } == ["0 is created after 1"])
    #expect(
      broken { $0.swapAt(8, 9) } == ["0 is cancelled before 2 has ended", "0 is cancelled while 2 ends"])
    #expect(broken { $0.swapAt(10, 11) } == ["a bean is released before the last run has ended"])
    #expect(broken { $0.swapAt(11, 12) } == ["1 is released before 2"])
    #expect(broken { $0.removeLast() } == ["0 is not released exactly once"])
    #expect(broken { $0.insert(.began(1), at: 3) } == ["1 runs too often", "1 has not ended"])
  }
}

/// Runs a scenario in the container.
private final class RunUnderTest: Sendable {
  private struct State {
    var events: [RunEvent] = []
    var starts = 0
    var trigger: (@Sendable () -> Void)?
    var running: [Int: RunningPart] = [:]
    var isFailing = false
  }

  private let scenario: RunScenario
  private let state = Locked(State())

  init(_ scenario: RunScenario) { self.scenario = scenario }

  /// Records an event. The cause of the end occurs inside, on the thread of the event.
  func note(_ event: RunEvent) {
    let trigger = state.withLock { state -> (@Sendable () -> Void)? in
      state.events.append(event)
      guard event.isStart else { return nil }
      state.starts += 1
      return state.starts == scenario.moment ? state.trigger.take() : nil
    }
    trigger?()
  }

  /// Returns the events, and the bean that the error of `run()` names.
  func run() async throws -> (events: [RunEvent], failure: String?) {
    let environment = try Environment(name: "scenario")
    try environment.useClock(ImmediateClock())
    for number in scenario.order { try declare(number, in: environment) }
    let (begin, began) = AsyncStream.makeStream(of: Void.self)
    let run = Task {
      for await _ in begin {}
      try await environment.run()
    }
    let cause = scenario.cause
    let failing = scenario.failing
    state.withLock { state in
      state.trigger = {
        switch cause {
        case .stop: environment.stop()
        case .cancellation: run.cancel()
        case .shutdown: Task.detached { try await environment.shutdown() }
        case .failure: if let failing { self.fail(failing) }
        }
      }
    }
    // A scenario whose beans are all lazy has no start.
    if scenario.built.isEmpty { environment.stop() }
    began.finish()
    var failure: String?
    do { try await run.value } catch let error as EnvironmentError {
      if error.code == .runFailed {
        failure = error.message.split(separator: "'").dropFirst().first.map(String.init)
      } else {
        try check(error)
      }
    }
    // `run()` may return while a shutdown by another caller is still in flight.
    do { try await environment.shutdown() } catch let error as EnvironmentError { try check(error) }
    let counts = environment.statistics()
    #expect(counts.allSatisfy { $0.created == $0.released }, "\(counts)")
    return state.withLock { state in
      // The beans refer to this object.
      (state.running, state.trigger) = ([:], nil)
      return (state.events, failure)
    }
  }

  /// Throws an error of the end again, unless it is the failure of a run that the end has cancelled before its restart.
  private func check(_ error: EnvironmentError) throws {
    let isExpected = error.code == .destructionFailed && scenario.parts.contains { $0.failures > 0 }
    if !isExpected { throw error }
  }

  /// Makes the run of a bean fail, now or when it begins.
  private func fail(_ number: Int) {
    let part = state.withLock { state -> RunningPart? in
      state.isFailing = true
      return state.running[number]
    }
    part?.complete()
  }

  /// Returns whether the run of a bean fails.
  func fails(_ number: Int) -> Bool { state.withLock { $0.isFailing } && number == scenario.failing }

  private func declare(_ number: Int, in environment: Environment) throws {
    let part = scenario.parts[number]
    let running: @Sendable () -> RunningPart = { [self] in
      let bean = RunningPart(number, part, self)
      state.withLock { $0.running[number] = bean }
      return bean
    }
    let declaration =
      switch part.kind {
      case .running where part.isHidden: bean(number, in: environment) { () -> Part in running() }
      case .running: bean(number, in: environment, running).restarting(part.failures)
      case .plain, .asynchronous: bean(number, in: environment) { () -> Part in Part(number) }
      }
    try environment.define(declaration)
  }

  /// Returns the declaration of a bean that takes the beans that it needs.
  private func bean<P: Part>(
    _ number: Int, in environment: Environment, _ make: @escaping @Sendable () -> P
  ) -> TypedBeanDeclaration<P> {
    let part = scenario.parts[number]
    let id = "\(number)"
    let create: @Sendable () -> P = { [self] in
      let bean = make()
      note(.created(number))
      return bean
    }
    let awaited: @Sendable () async -> P = {
      for _ in 0..<part.steps { await Task.yield() }
      return create()
    }
    let bean =
      switch (part.kind, part.needs.count) {
      case (.asynchronous, 0): environment.bean(P.self, id: id, async: { await awaited() })
      case (.asynchronous, 1): environment.bean(P.self, id: id, async: { (_: Part) in await awaited() })
      case (.asynchronous, 2): environment.bean(P.self, id: id, async: { (_: Part, _: Part) in await awaited() })
      case (.asynchronous, _):
        environment.bean(P.self, id: id, async: { (_: Part, _: Part, _: Part) in await awaited() })
      case (_, 0): environment.bean(P.self, id: id, factory: { create() })
      case (_, 1): environment.bean(P.self, id: id, factory: { (_: Part) in create() })
      case (_, 2): environment.bean(P.self, id: id, factory: { (_: Part, _: Part) in create() })
      case (_, _): environment.bean(P.self, id: id, factory: { (_: Part, _: Part, _: Part) in create() })
      }
    for (index, need) in part.needs.enumerated() { bean.argument(index, ref: "\(need)") }
    if part.isLazy { bean.lazy() }
    return bean.onDestroy { [self] _ in note(.released(number)) }
  }
}

extension TypedBeanDeclaration {
  /// Restarts the run after so many failures.
  fileprivate func restarting(_ failures: Int) -> Self {
    failures == 0 ? self : restarts(after: .seconds(1), upTo: .seconds(1), limit: failures)
  }
}

private class Part: @unchecked Sendable {  // constants alone
  let number: Int

  init(_ number: Int) { self.number = number }
}

/// A bean that runs until it is cancelled, unless its part says otherwise.
private final class RunningPart: Part, RunnableBean, @unchecked Sendable {  // constants, and a lock
  private struct Failure: Error {}

  private let part: RunScenario.Part
  private let scenario: RunUnderTest
  private let (completion, completing) = AsyncStream.makeStream(of: Void.self)
  private let attempts = Atomic(0)

  init(_ number: Int, _ part: RunScenario.Part, _ scenario: RunUnderTest) {
    (self.part, self.scenario) = (part, scenario)
    super.init(number)
  }

  func complete() { completing.finish() }

  func run() async throws {
    scenario.note(.began(number))
    defer { scenario.note(.ended(number)) }
    if attempts.add(1, ordering: .relaxed).newValue <= part.failures { throw Failure() }
    if scenario.fails(number) { throw Failure() }
    if part.returns { return }
    await withTaskCancellationHandler {
      // A task of its own, which the cancellation does not reach: only the handler ends the wait.
      await Task { for await _ in completion {} }.value
    } onCancel: {
      scenario.note(.cancelled(number))
      completing.finish()
    }
    for _ in 0..<part.steps { await Task.yield() }
    if scenario.fails(number) { throw Failure() }
  }

  func untilReady() async throws {
    for _ in 0..<part.steps { await Task.yield() }
    scenario.note(.ready(number))
  }
}

/// A clock whose sleeps end at once, as if the time had passed.
private struct ImmediateClock: Clock {
  struct Instant: InstantProtocol {
    var offset = Swift.Duration.zero

    func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
  }

  let now = Instant()
  let minimumResolution = Swift.Duration.zero

  func sleep(until deadline: Instant, tolerance: Duration?) async throws { try Task.checkCancellation() }
}
