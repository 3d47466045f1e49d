import TestSupport

/// A random graph of beans, some of which run, and the cause of its end.
struct RunScenario {
  /// One bean, and the numbers of the beans that it takes.
  struct Part {
    enum Kind { case plain, asynchronous, running }

    var kind: Kind
    var needs: [Int]
    var isLazy: Bool
    /// The number of suspensions of a factory, of `untilReady()`, and before the end of a run.
    var steps: Int
    /// Whether its run returns at once.
    var returns: Bool
    /// The number of first calls of `run()` that throw, each before a restart.
    var failures: Int
    /// Whether the declaration names a class that does not run.
    var isHidden = false
  }

  enum Cause: CaseIterable { case stop, cancellation, shutdown, failure }

  var parts: [Part]
  /// The order of the declarations.
  var order: [Int]
  var cause: Cause
  /// The number of starts, as `RunEvent.isStart` counts them, at which the cause occurs.
  var moment: Int

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    parts = (0..<Int.random(in: 1...9, using: &random)).map { number in
      let kind: Part.Kind =
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: .plain
        case 2: .asynchronous
        default: .running
        }
      let needs = (0..<number).shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
      return Part(
        kind: kind, needs: Array(needs), isLazy: Int.random(in: 0..<5, using: &random) == 0,
        steps: Int.random(in: 0...4, using: &random), returns: Int.random(in: 0..<6, using: &random) == 0,
        failures: Int.random(in: 0..<8, using: &random) == 0 ? 2 : 0)
    }
    for number in parts.indices where parts[number].failures == 0 {
      parts[number].isHidden = Int.random(in: 0..<4, using: &random) == 0
    }
    order = parts.indices.shuffled(using: &random)
    cause = Cause.allCases.randomElement(using: &random)!
    moment = 1  // before the properties below read the parts
    if cause == .failure, failing == nil { cause = .stop }
    let starts = built.reduce(0) { $0 + (parts[$1].kind == .running ? 2 : 1) }
    moment = Int.random(in: 1...max(starts, 1), using: &random)
  }

  /// The beans that a start builds: those that are not lazy, and all that they take.
  var built: Set<Int> {
    var built: Set<Int> = []
    func add(_ number: Int) {
      if built.insert(number).inserted { parts[number].needs.forEach(add) }
    }
    for number in parts.indices where !parts[number].isLazy { add(number) }
    return built
  }

  /// The bean whose run fails, if that is the cause of the end.
  var failing: Int? { built.sorted().last { parts[$0].kind == .running && !parts[$0].returns } }

  /// The running beans that a bean takes, directly or through beans that do not run.
  func runningNeeds(of number: Int) -> Set<Int> {
    parts[number].needs.reduce(into: []) { found, need in
      if parts[need].kind == .running { found.insert(need) } else { found.formUnion(runningNeeds(of: need)) }
    }
  }
}

/// An event in the life of a bean, by the bean's number.
enum RunEvent: Equatable {
  case created(Int), began(Int), ready(Int), cancelled(Int), ended(Int), released(Int)

  /// Whether the event is one of the creation or the first run of a bean. Each bean that is built has one, and each bean
  /// that runs has two.
  var isStart: Bool { if case .created = self { true } else if case .ready = self { true } else { false } }
}

extension RunScenario {
  /// Returns the broken rules of a run and its end; empty if there is none.
  ///
  /// - Parameters:
  ///   - events: everything that has happened, in its order.
  ///   - failure: the bean that the error of `run()` names; nil if `run()` has returned.
  func brokenRules(_ events: [RunEvent], failure: String?) -> [String] {
    var broken: [String] = []
    func require(_ holds: Bool, _ rule: @autoclosure () -> String) { if !holds { broken.append(rule()) } }
    func first(_ event: RunEvent) -> Int? { events.firstIndex(of: event) }
    func last(_ event: RunEvent) -> Int? { events.lastIndex(of: event) }

    for number in parts.indices {
      let part = parts[number]
      let created = first(.created(number))
      require(events.count { $0 == .created(number) } <= 1, "\(number) is created twice")
      require(
        events.count { $0 == .released(number) } == (created == nil ? 0 : 1), "\(number) is not released exactly once")
      require(
        events.count { $0 == .began(number) } <= (part.kind == .running ? part.failures + 1 : 0),
        "\(number) runs too often")
      require(
        events.count { $0 == .began(number) } == events.count { $0 == .ended(number) }, "\(number) has not ended")
      if let created { require(built.contains(number), "\(number) is created at \(created), but is lazy") }
      // The start waits for the runs that the bean takes.
      let start = part.kind == .asynchronous ? created : first(.began(number))
      if let start, part.kind != .plain {
        for need in runningNeeds(of: number) {
          let usable = [first(.ready(need)), last(.ended(need))].compactMap(\.self).min()
          require(usable.map { $0 < start } ?? false, "\(number) starts before \(need) is ready")
        }
      }
      for need in part.needs {
        if let created {
          require(first(.created(need)).map { $0 < created } ?? false, "\(need) is created after \(number)")
        }
        if let mine = first(.released(number)), let other = first(.released(need)) {
          require(mine < other, "\(need) is released before \(number)")
        }
      }
      // The end cancels the bean after all running beans that take it.
      if let cancelled = first(.cancelled(number)) {
        for taker in parts.indices where runningNeeds(of: taker).contains(number) {
          if let end = last(.ended(taker)) {
            require(end < cancelled, "\(number) is cancelled before \(taker) has ended")
          }
        }
        let end = last(.ended(number)) ?? events.count
        for case .cancelled(let other) in events[cancelled..<end].dropFirst() {
          broken.append("\(other) is cancelled while \(number) ends")
        }
      }
    }
    let release = events.firstIndex { if case .released = $0 { true } else { false } } ?? events.count
    let lastEnd = events.lastIndex { if case .ended = $0 { true } else { false } } ?? -1
    require(lastEnd < release, "a bean is released before the last run has ended")
    let expected = cause == .failure ? failing.map(String.init) : nil
    require(failure == expected, "run() fails by \(failure ?? "none") instead of \(expected ?? "none")")
    return broken
  }
}
