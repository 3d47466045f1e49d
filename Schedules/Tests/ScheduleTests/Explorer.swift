import Beans

/// Finds all executions of a scenario that differ in the order of two conflicting steps, each once.
///
/// Depth first, executing all steps anew each time: a step that conflicts with an earlier one of another thread, which
/// was not bound to come before it, is to be tried before that one (dynamic partial-order reduction, Flanagan and
/// Godefroid, 2005); an order that has been tried before and is not affected since is not tried again (sleep sets,
/// Godefroid, 1996).
struct Explorer {
  /// A point at which one of several threads was chosen to go on.
  private struct Node {
    let enabled: Set<ThreadNumber>
    var chosen: ThreadNumber
    /// To be tried here.
    var backtrack: Set<ThreadNumber>
    /// Tried, or not worth it.
    var sleeping: Set<ThreadNumber>
  }

  /// A step that has been taken.
  private struct Event {
    let thread: ThreadNumber
    let step: ScheduledStep
    /// Its number among its thread's steps, from 1.
    let number: Int
  }

  private let count: Int
  private var nodes: [Node] = []
  private(set) var executions = 0

  init(threads count: Int) { self.count = count }

  /// The thread chosen at each point of the execution that was run last.
  var schedule: Schedule { Schedule(choices: nodes.map(\.chosen)) }

  /// Runs one more execution by `run`; false when there is none left.
  mutating func explore(_ run: (any Chooser) throws -> Void) rethrows -> Bool {
    guard executions == 0 || backtrack() else { return false }
    executions += 1
    let execution = Execution(count: count, nodes: nodes)
    try run(execution)
    nodes = execution.nodes
    return true
  }

  /// Goes back to the last place with something left to try.
  private mutating func backtrack() -> Bool {
    while var node = nodes.popLast() {
      node.sleeping.insert(node.chosen)
      if let next = node.backtrack.subtracting(node.sleeping).min() {
        node.chosen = next
        nodes.append(node)
        return true
      }
    }
    return false
  }

  private final class Execution: Chooser {
    let count: Int
    var nodes: [Node]
    private var depth = 0
    private var events: [Event] = []
    /// The number of steps of each thread that necessarily precede a thread's next one.
    private var clocks: [[Int]]
    private var objects: [UInt: Object] = [:]
    private var sleeping: Set<ThreadNumber> = []
    private var isRedundant = false

    /// The steps on one object so far.
    private struct Object {
      var writes: [Int]
      var reads: [Int]
      var notes: [Int]
      var events: [Int] = []
    }

    init(count: Int, nodes: [Node]) {
      self.count = count
      self.nodes = nodes
      clocks = Array(repeating: Array(repeating: 0, count: count), count: count)
    }

    func choose(_ choice: Choice) -> ThreadNumber {
      // Everything that can follow has been seen.
      if isRedundant { return choice.enabled[0] }
      if depth == nodes.count {
        for (thread, step) in choice.steps.enumerated() {
          if let step { note(step, of: thread) }
        }
        let awake = choice.enabled.filter { !sleeping.contains($0) }
        guard let first = choice.last.flatMap({ awake.contains($0) ? $0 : nil }) ?? awake.first else {
          isRedundant = true
          return choice.enabled[0]
        }
        nodes.append(Node(enabled: Set(choice.enabled), chosen: first, backtrack: [first], sleeping: sleeping))
      }
      let chosen = nodes[depth].chosen
      precondition(choice.enabled.contains(chosen), "an execution went another way than before")
      guard let step = choice.steps[chosen] else { preconditionFailure("a thread was chosen that has finished") }
      sleeping = nodes[depth].sleeping.filter { choice.steps[$0].map { !$0.conflicts(with: step) } ?? false }
      take(step, of: chosen)
      depth += 1
      return chosen
    }

    func unlocked(_ object: UInt, by thread: ThreadNumber) { objects[object]?.writes.formUnion(clocks[thread]) }

    /// Has a step tried before the last one that it conflicts with, unless that had to come first.
    private func note(_ step: ScheduledStep, of thread: ThreadNumber) {
      let clock = clocks[thread]
      let last = objects[step.object]?.events.last { index in
        let event = events[index]
        return event.thread != thread && event.step.conflicts(with: step) && event.number > clock[event.thread]
      }
      guard let last else { return }
      let enabled = nodes[last].enabled
      if enabled.contains(thread) {
        nodes[last].backtrack.insert(thread)
        return
      }
      // A thread that it waits for.
      let leading = enabled.first { other in
        events[(last + 1)...].contains { $0.thread == other && $0.number <= clock[other] }
      }
      if let leading { nodes[last].backtrack.insert(leading) } else { nodes[last].backtrack.formUnion(enabled) }
    }

    private func take(_ step: ScheduledStep, of thread: ThreadNumber) {
      let none = Array(repeating: 0, count: count)
      var object = objects[step.object] ?? Object(writes: none, reads: none, notes: none)
      var clock = clocks[thread]
      clock[thread] += 1
      clock.formUnion(object.writes)
      if step.kind != .read { clock.formUnion(object.reads) }
      if step.kind != .note { clock.formUnion(object.notes) }
      switch step.kind {
      case .read: object.reads.formUnion(clock)
      case .note: object.notes.formUnion(clock)
      case .write, .lock, .wait: object.writes.formUnion(clock)
      }
      object.events.append(events.count)
      if step.object != 0 { objects[step.object] = object }
      clocks[thread] = clock
      events.append(Event(thread: thread, step: step, number: clock[thread]))
    }
  }
}

extension [Int] {
  /// The later one of each two.
  fileprivate mutating func formUnion(_ other: [Int]) {
    for index in indices { self[index] = Swift.max(self[index], other[index]) }
  }
}

/// The thread that goes on, at each choice. Reads and prints as digits.
struct Schedule: Equatable, CustomStringConvertible {
  var choices: [ThreadNumber]

  init(choices: [ThreadNumber]) { self.choices = choices }

  init?(_ digits: some StringProtocol) {
    choices = digits.compactMap(\.wholeNumberValue)
    if choices.count != digits.count { return nil }
  }

  var description: String { choices.map(String.init).joined() }
}
