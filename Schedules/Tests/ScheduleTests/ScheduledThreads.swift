import Beans
import Dispatch
import Foundation

/// A number from 0, for each of the threads of a scenario.
typealias ThreadNumber = Int

/// The next steps of the threads, by number.
struct Choice {
  /// Nil for a thread that has finished.
  let steps: [ScheduledStep?]
  let enabled: [ThreadNumber]
  /// The thread that ran last; nil at the beginning.
  let last: ThreadNumber?
}

/// Chooses the thread that goes on.
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

/// The end of one execution, beside the findings of its scenario.
enum ExecutionEnd: Equatable {
  case finished
  /// No thread can go on: the next step of each thread.
  case deadlocked(String)
  /// A thread was not heard of: it waits for something that the scheduler does not know.
  case stuck
}

/// Threads that run one at a time, from one step to the next, as a chooser decides.
///
/// The running thread owns all state in here; semaphores hand that over.
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

  /// Runs one body on each thread. The chooser picks the thread before each step; a body's beginning is a step.
  ///
  /// - Returns: the end of the execution. After anything but `.finished`, these threads cannot be used again.
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
      // Deadlocked: no thread will wake this one.
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

  /// Returns the thread of the next step; nil if all have finished, or none can go on.
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
  /// The step before a thread's first one.
  static var beginning: ScheduledStep { ScheduledStep(.read, 0) }

  /// Returns true if the order of the two steps makes a difference.
  func conflicts(with other: ScheduledStep) -> Bool {
    guard object == other.object, object != 0 else { return false }
    switch (kind, other.kind) {
    case (.read, .read), (.note, .note): return false
    default: return true
    }
  }
}

/// Prints to standard error, without delay: standard output may be buffered.
func progress(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
