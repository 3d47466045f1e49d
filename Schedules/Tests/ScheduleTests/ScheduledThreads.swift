import Beans
import Dispatch
import Foundation

/// A number from 0, for each of the threads of a scenario.
typealias ThreadNumber = Int

/// What threads are about to do, by number.
struct Choice {
  /// Nil for a thread that has finished.
  let steps: [ScheduledStep?]
  let enabled: [ThreadNumber]
  /// Who has been running; nil at the beginning.
  let last: ThreadNumber?
}

/// Says who goes on.
protocol Chooser: AnyObject {
  func choose(_ choice: Choice) -> ThreadNumber
  /// A thread has given a lock back.
  func unlocked(_ object: UInt, by thread: ThreadNumber)
}

extension Chooser {
  func unlocked(_ object: UInt, by thread: ThreadNumber) {}
}

/// One thread after the other, as far as each one gets.
final class FirstEnabled: Chooser {
  func choose(_ choice: Choice) -> ThreadNumber {
    choice.last.flatMap { choice.enabled.contains($0) ? $0 : nil } ?? choice.enabled[0]
  }
}

/// What one execution came to, beside what its scenario finds.
enum ExecutionEnd: Equatable {
  case finished
  /// Nobody could go on: what each thread was about to do.
  case deadlocked(String)
  /// A thread was not heard of: it waits for something that the scheduler does not know.
  case stuck
}

/// Threads of which one at a time runs, from one step to the next, as somebody chooses.
///
/// Whoever runs owns everything in here; semaphores hand that over.
final class ScheduledThreads: StepScheduler, @unchecked Sendable {
  private final class Worker: @unchecked Sendable {  // as its owner
    let wake = DispatchSemaphore(value: 0)
    var work: (() -> Void)?
    var step: ScheduledStep?
    var hasTimedOut = false
    var isFinished = true
    var thread: pthread_t?
  }

  private let workers: [Worker]
  private let idle = DispatchSemaphore(value: 0)
  private var running: ThreadNumber?
  private var holders: [UInt: ThreadNumber] = [:]
  private var end = ExecutionEnd.finished
  private var timeouts = 0
  private var chooser: any Chooser = FirstEnabled()

  init(count: Int) {
    workers = (0..<count).map { _ in Worker() }
    for worker in workers {
      let thread = Thread { [self] in
        worker.thread = pthread_self()
        idle.signal()
        while true {
          worker.wake.wait()
          worker.work?()
          worker.work = nil
          (worker.isFinished, worker.step) = (true, nil)
          goOn()
        }
      }
      thread.stackSize = 1 << 20
      thread.start()
      idle.wait()
    }
  }

  /// Runs one body on each thread. The chooser is asked before each step who may take his; a body's beginning is a step.
  ///
  /// - Returns: how it ended. After anything but `.finished`, these threads cannot be used again.
  func run(_ bodies: [() -> Void], _ chooser: any Chooser) -> ExecutionEnd {
    self.chooser = chooser
    (running, holders, end, timeouts) = (nil, [:], .finished, 0)
    for (worker, body) in zip(workers, bodies) {
      worker.work = body
      (worker.isFinished, worker.step) = (false, .beginning)
    }
    Schedules.scheduler = self
    goOn()
    if idle.wait(timeout: .now() + 60) == .timedOut { end = .stuck }
    Schedules.scheduler = nil
    return end
  }

  // MARK: on the thread that runs

  /// Nil on a thread that is not driven.
  private var caller: ThreadNumber? {
    running.flatMap { workers[$0].thread == pthread_self() ? $0 : nil }
  }

  var threadNumber: UInt? { caller.map { UInt($0) + 2 } }

  func wait(for step: ScheduledStep) -> Bool {
    guard let number = caller else { return true }
    let worker = workers[number]
    worker.step = step
    worker.hasTimedOut = false
    if let next = next() {
      if next != number {
        workers[next].wake.signal()
        worker.wake.wait()
      }
    } else {
      // Deadlocked: nobody will wake this thread.
      idle.signal()
      worker.wake.wait()
    }
    return !worker.hasTimedOut
  }

  func unlocked(_ object: UInt) {
    guard let number = caller else { return }
    holders[object] = nil
    chooser.unlocked(object, by: number)
  }

  private func goOn() {
    if let next = next() { workers[next].wake.signal() } else { idle.signal() }
  }

  /// Whose step comes next; nil where everybody has finished, or nobody can go on.
  private func next() -> ThreadNumber? {
    var enabled: [ThreadNumber] = []
    for (number, worker) in workers.enumerated() where !worker.isFinished {
      guard let step = worker.step else { continue }
      if step.kind == .lock ? holders[step.object] == nil : step.isReady() { enabled.append(number) }
    }
    if enabled.isEmpty {
      if workers.allSatisfy(\.isFinished) { return nil }
      // Time passes when nothing else can happen.
      timeouts += 1
      guard timeouts < 20, let number = workers.firstIndex(where: { $0.step?.timesOut == true }) else {
        end = .deadlocked(
          workers.enumerated().map { "\($0): \($1.step.map { "\($0.kind)" } ?? "finished")" }.joined(separator: ", "))
        return nil
      }
      workers[number].hasTimedOut = true
      enabled = [number]
    }
    let next = chooser.choose(Choice(steps: workers.map(\.step), enabled: enabled, last: running))
    if let step = workers[next].step, step.kind == .lock { holders[step.object] = next }
    running = next
    return next
  }
}

extension ScheduledStep {
  /// What a thread does before its first step.
  static var beginning: ScheduledStep { ScheduledStep(.read, 0) }

  /// Whether it makes a difference which one of the two comes first.
  func conflicts(with other: ScheduledStep) -> Bool {
    guard object == other.object, object != 0 else { return false }
    switch (kind, other.kind) {
    case (.read, .read), (.note, .note): return false
    default: return true
    }
  }
}

/// Says at once how far it is: what is printed may come late.
func progress(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
