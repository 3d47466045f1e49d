import CLibuv
import Dispatch
import Glibc
import Synchronization

/// A libuv loop: one thread that waits for sockets, timers, signals and closures from other threads.
///
/// ```swift
/// let loop = try EventLoop()
/// try loop.onSignal(SIGTERM) { loop.stop() }
/// try loop.run()
/// try loop.close()
/// ```
///
/// **Threads.** The loop's thread is the thread inside `run()` or `close()`; at other times the loop has none.
/// `execute`, `tryExecute`, `schedule`, `stop`, `isCurrent`, `openHandles` and the executor's methods may
/// be called from any thread. Handles (`TCPListener`, `TCPConnection`, `SignalSource`, `FileWatcher`) belong to the
/// loop's thread; while no thread drives the loop, the one thread that sets it up (or takes it down) may use them.
///
/// **Life.** A loop must be closed. `run()` may be called again after it has returned.
///
/// **Timers.** A timer runs only after the loop has polled its sockets at a time at which the timer was due, however
/// long the loop has been busy: data that arrived before a deadline is handled before the timer.
///
/// **Work.** All work that `execute`, `tryExecute` or the executor accepts runs: in `run()`, or in `close()` on the
/// closing thread. Closures, jobs and timers run outside of libuv's frames, one after the other, at most about a
/// thousand before the loop polls its sockets.
///
/// A new loop opens about three file descriptors, allocates 64 KiB for the read buffer of its connections, and makes
/// the process ignore `SIGPIPE` unless the program has installed a handler.
public final class EventLoop: Sendable {
  let state = Lock(LoopState())
  /// The `pthread_self()` of the thread that drives the loop, or 0. Changes together with `state.phase`, under the lock
  /// of `state`; after the phase `.closed`, only `close()` and then the late jobs, one at a time, change it.
  private let driver = Atomic<UInt>(0)
  let ledger = HandleLedger()
  let actors = LoopActorExecutor()

  // Set once in `init`. Only the driving thread accesses the memory behind the pointers; `wakeUp.send()` is called
  // under the lock of `state` and never after the phase `.closed`.
  nonisolated(unsafe) let native: NativeLoop
  // Only the driving thread accesses these four properties; `driver` changes under the lock of `state`, which orders
  // the accesses.
  @exclusivity(unchecked) private nonisolated(unsafe) var batch = WorkBatch()
  @exclusivity(unchecked) private nonisolated(unsafe) var deferred: [() -> Void] = []
  /// The time at which the loop last began to poll its sockets.
  @exclusivity(unchecked) private nonisolated(unsafe) var lastLook: UInt64 = 0
  nonisolated(unsafe) var closingHandles = 0

  /// The number of items, and of timers, that run before the loop polls its sockets.
  private static let itemsPerTurn = 1_024
  /// The number of passes over closures added by other closures, when the loop stops or closes.
  private static let drainPasses = 256
  /// The number of items that run in these passes.
  private static let drainItems = 65_536

  /// The time that a test has skipped; nil when only the clock advances the time.
  package let skips: SkippedTime?

  /// Creates a loop that does nothing until `run()`.
  ///
  /// - Throws: the error of the system when the process is out of file descriptors or memory.
  public convenience init() throws(EventLoopError) { try self.init(skips: nil) }

  /// Creates a loop for a test, which turns the loop and may skip time.
  init(skips: SkippedTime?) throws(EventLoopError) {
    self.skips = skips
    unsafe native = try NativeLoop.make()
    actors.attach(to: self)
  }

  deinit {
    // Open handles retain their loop, so none is left here. Closures that have not run are released with the queue.
    if state.withLock({ $0.phase != .closed }) { unsafe native.destroy() }
  }

  // MARK: Running

  /// Runs the loop on the calling thread until `stop()`; a loop with nothing to do waits.
  ///
  /// Returns when all work accepted before the stop has run, and also all later work, unless closures arrive faster
  /// than they run. After a `stop()` before `run()`, `run()` does only that.
  ///
  /// - Throws: an error when the loop runs, here or on another thread; `.loopClosed` after `close()`.
  public func run() throws(EventLoopError) {
    try state.withLock { state throws(EventLoopError) in
      try state.beginRun("run an event loop")
      driver.store(Self.thisThread, ordering: .releasing)
    }
    while true {
      let stopping = beginTurn()
      runBatch(limit: Self.itemsPerTurn)
      runDeferred()
      if stopping { break }
      runDueTimers(limit: Self.itemsPerTurn)
      waitForEvents()
    }
    finishRun()
  }

  /// Performs one turn, for tests: runs the accepted work, polls the sockets without waiting, then runs the due timers.
  /// Afterwards the loop is in the same phase as a loop that has not run, and accepts work.
  ///
  /// - Returns: whether there was anything to run.
  func turn() throws(EventLoopError) -> Bool {
    try state.withLock { state throws(EventLoopError) in
      try state.beginRun("turn an event loop")
      driver.store(Self.thisThread, ordering: .releasing)
    }
    _ = beginTurn()
    let hasDeferred = unsafe !deferred.isEmpty
    var hasRun = runBatch(limit: Self.itemsPerTurn) > 0 || hasDeferred
    runDeferred()
    let now = Deadline.now
    unsafe lastLook = now
    unsafe uv_run(native.loop, UV_RUN_NOWAIT)
    let isDue = state.withLock { $0.timers.earliest <= now }
    runDueTimers(limit: Self.itemsPerTurn)
    state.withLock { state in
      if !state.queue.isEmpty { hasRun = true }
      state.phase = .ready
      driver.store(0, ordering: .releasing)
    }
    return hasRun || isDue
  }

  /// Advances the time for a test: moves all timers nearer by `duration`.
  func skip(_ duration: Duration) {
    let nanoseconds = Deadline.nanoseconds(duration)
    skips?.add(nanoseconds, at: Deadline.now)
    state.withLock { $0.timers.hasten(by: nanoseconds) }
  }

  /// The time until the next timer is due; nil without a timer.
  var nextTimer: Duration? {
    let earliest = state.withLock { $0.timers.earliest }
    if earliest == Deadline.never { return nil }
    let now = Deadline.now
    return .nanoseconds(Int64(clamping: earliest - min(earliest, now)))
  }

  /// Ends `run()` after its current iteration. May be called from any thread, also before `run()`, any number of times.
  ///
  /// Closures and jobs accepted before the stop still run; timers stay until the loop runs again or is closed.
  /// Costs a lock, and a system call when the loop waits.
  public func stop() {
    state.withLock { state in
      guard state.phase != .closed else { return }
      state.stopRequested = true
      wakeIfWaiting(&state)
    }
  }

  /// Whether a thread is inside `run()`. The value is a snapshot: use `tryExecute` to act on it.
  package var isRunning: Bool { state.withLock { $0.phase == .running } }

  /// Whether `close()` has succeeded.
  package var isClosed: Bool { state.withLock { $0.phase == .closed } }

  /// Whether the calling thread is the loop's: inside `run()` or `close()`, or running a job that came after `close()`.
  ///
  /// The value is exact, and false on every thread while no thread drives the loop. Costs one atomic load.
  public var isCurrent: Bool { driver.load(ordering: .acquiring) == Self.thisThread }

  /// Stops the process unless the calling thread may use handles: the loop's thread, or the thread that sets the loop
  /// up while no thread drives it.
  func preconditionMayUseHandles() {
    let driver = driver.load(ordering: .acquiring)
    precondition(
      driver == 0 || driver == Self.thisThread, "a handle of an event loop may be used on the loop's thread only")
  }

  // MARK: Closing

  /// Closes the loop and releases its resources. May be called on any one thread, after `run()` has returned; a second
  /// call does nothing.
  ///
  /// First, the calling thread runs the accepted work that has not yet run, and waits for the handles that are being
  /// closed. Then it cancels the remaining timers: their closures are released without running, and tasks in
  /// `sleep(for:)` throw `.loopClosed`.
  ///
  /// - Throws: an error during `run()`; `.openHandles` when a handle has not been closed, with the kind and place of
  ///   creation of each (timers are then kept, and `close()` may be called again); an error when closures
  ///   keep adding closures.
  public func close() throws(EventLoopError) {
    let isClosed = try state.withLock { state throws(EventLoopError) -> Bool in
      switch state.phase {
      case .ready, .stopped: state.phase = .closing
      case .running, .closing: throw EventLoopError(.stillRunning, "close an event loop")
      case .closed: return true
      }
      driver.store(Self.thisThread, ordering: .releasing)
      return false
    }
    if isClosed { return }
    do {
      try drainForClose()
    } catch {
      state.withLock { state in
        state.phase = .stopped
        driver.store(0, ordering: .releasing)
      }
      throw error
    }
    unsafe native.destroy()
    driver.store(0, ordering: .releasing)
    // Late jobs start only now, because a late job makes its thread the driver.
    state.withLock { $0.lateJobs?.activate() }
  }

  private func drainForClose() throws(EventLoopError) {
    runEverythingAccepted()
    var left = Self.drainItems
    for _ in 0..<Self.drainPasses where left > 0 {
      left -= runBatch(limit: left)
      runDeferred()
      while unsafe closingHandles > 0 { unsafe uv_run(native.loop, UV_RUN_NOWAIT) }
      let (isDone, cancelled) = try state.withLock { state throws(EventLoopError) -> (Bool, [TimerAction]) in
        guard unsafe batch.isUsedUp, state.queue.isEmpty, unsafe deferred.isEmpty else {
          if unsafe batch.isUsedUp { unsafe batch.refill(from: &state.queue) }
          return (false, [])
        }
        guard ledger.openTotal == 0 else {
          throw EventLoopError(.openHandles, "close an event loop", detail: describeOpenHandles())
        }
        guard state.timers.isEmpty else { return (false, state.timers.removeAll()) }
        state.phase = .closed
        state.lateJobs = Self.makeLateQueue()
        return (true, [])
      }
      if isDone { return }
      for case .wake(let sleeper) in cancelled {
        sleeper.finish(on: self, throwing: EventLoopError(.loopClosed, "sleep on an event loop"))
      }
    }
    throw EventLoopError(.notDrained, "close an event loop")
  }

  // MARK: One turn

  /// Takes the work that other threads have queued, and returns whether the loop stops after this turn.
  private func beginTurn() -> Bool {
    state.withLock { state in
      state.isWaiting = false
      if unsafe batch.isUsedUp { unsafe batch.refill(from: &state.queue) }
      return state.stopRequested
    }
  }

  /// Runs items of the batch, and returns their number.
  @discardableResult
  private func runBatch(limit: Int) -> Int {
    var left = limit
    while left > 0, let item = unsafe batch.take() {
      left -= 1
      run(item)
    }
    return limit - left
  }

  func run(_ item: WorkItem) {
    switch item {
    case .closure(let closure): closure()
    case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    case .taskJob(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    case .taken: break
    }
  }

  private func runDeferred() {
    guard unsafe !deferred.isEmpty else { return }
    var now: [() -> Void] = []
    unsafe swap(&now, &deferred)
    for closure in now { closure() }
  }

  /// Runs the timers that were due when the loop last polled its sockets. A timer that one of them sets waits for the
  /// next turn.
  private func runDueTimers(limit: Int) {
    let time = unsafe lastLook
    for _ in 0..<limit {
      // Timers are popped one at a time, so that a timer can still cancel the one after it.
      guard let action = state.withLock({ $0.timers.popDue(at: time) }) else { return }
      switch action {
      case .run(let closure): closure()
      case .wake(let sleeper): sleeper.finish(on: self)
      }
    }
    // More timers are due. The memory that so many have released is merged now, and not in a later turn.
    Allocator.joinReleased()
  }

  private func waitForEvents() {
    let now = Deadline.now
    unsafe lastLook = now
    let hasWork = unsafe !batch.isUsedUp || !deferred.isEmpty
    // Released at the end of this method, outside the lock; the next turn takes the next part.
    var emptied: TimerHeap.Emptied?
    let waitEnd = state.withLock { state -> UInt64? in
      emptied = state.timers.takeEmptied()
      let earliest = state.timers.earliest
      guard emptied == nil, !hasWork, state.queue.isEmpty, !state.stopRequested, earliest > now else { return nil }
      state.isWaiting = true
      state.waitEnd = earliest
      return earliest
    }
    guard let waitEnd else {
      unsafe uv_run(native.loop, UV_RUN_NOWAIT)
      return
    }
    unsafe native.alarm.set(waitEnd, now: now)
    unsafe uv_run(native.loop, UV_RUN_ONCE)
  }

  /// Runs the accepted work until none is left, and ends the run in the same critical section.
  private func finishRun() {
    runEverythingAccepted()
    // Closures that keep adding closures, and threads that add work faster than it runs, must not keep the loop from
    // stopping: `close()` runs the rest.
    var left = Self.drainItems
    for _ in 0..<Self.drainPasses where left > 0 {
      let isDone = state.withLock { state in
        if unsafe batch.isUsedUp, state.queue.isEmpty, unsafe deferred.isEmpty {
          endRun(&state)
          return true
        }
        if unsafe batch.isUsedUp { unsafe batch.refill(from: &state.queue) }
        return false
      }
      if isDone { return }
      left -= runBatch(limit: left)
      runDeferred()
    }
    state.withLock { endRun(&$0) }
  }

  /// Runs all work that was accepted before the call, without a limit.
  private func runEverythingAccepted() {
    runBatch(limit: .max)
    state.withLock { unsafe batch.refill(from: &$0.queue) }
    runBatch(limit: .max)
    runDeferred()
  }

  private func endRun(_ state: inout LoopState) {
    state.phase = .stopped
    state.stopRequested = false
    driver.store(0, ordering: .releasing)
  }

  // MARK: For the other files of this module

  static var thisThread: UInt { UInt(pthread_self()) }

  /// Runs `closure` on the loop's thread once no user code is on the stack. Called only on the loop's thread, or during
  /// setup.
  func afterwards(_ closure: @escaping () -> Void) { unsafe deferred.append(closure) }

  /// Makes the calling thread the loop's during `body`. Called only on the serial queue of late jobs.
  func driveLate(_ body: () -> Void) {
    driver.store(Self.thisThread, ordering: .releasing)
    body()
    driver.store(0, ordering: .releasing)
  }

  /// Interrupts the wait of the loop. Called under the lock of `state`, which also keeps `close()` from freeing the
  /// handle.
  func wakeIfWaiting(_ state: inout LoopState) {
    // On the loop's own thread there is no wait to interrupt: `uv_run` returns after the current callback.
    guard state.isWaiting, !isCurrent, state.takeWait() else { return }
    unsafe native.wakeUp.send()
  }
}
