/// An event loop without a thread: a test turns the loop and advances its time.
///
///     let manual = try ManualLoop()
///     let sessions = try shop.childFactory(
///       "session", seed: Void.self, scope: { SessionScope(loop: manual.loop, idleTimeout: .seconds(600)) })
///     let session = try sessions.build(())
///     try manual.advance(by: .seconds(600))
///     #expect(session.isFinished)
///
/// The end of a scope on the loop starts its release, which runs in the next turn, on the thread of that turn. The time
/// of the loop's timers, of tasks that sleep on the loop and of scopes bound to it passes with the clock, and in
/// addition by each `advance`. For a `LoopScope` with both a deadline and an idle time, only the time that is skipped
/// after its last use brings its deadline nearer.
///
/// An awaited shutdown waits for children whose loop is not turned: finish these children, and turn the loop, before
/// the shutdown. The end of a test environment does not wait: it fails the test for each finished child whose loop was
/// not turned.
public final class ManualLoop: Sendable {
  /// The loop for scopes, connections and tasks.
  public let loop: EventLoop

  /// Creates a loop with nothing to do.
  ///
  /// - Throws: the error of the system when the process is out of file descriptors or memory.
  public init() throws(EventLoopError) { loop = try EventLoop(skips: SkippedTime()) }

  /// Performs one turn: runs the accepted work, polls the sockets without waiting, then runs the due timers.
  ///
  /// - Returns: whether there was anything to run, so that another turn may find more.
  /// - Throws: `.alreadyRunning` during a turn, on this or another thread; `.loopClosed` after `close()`.
  @discardableResult
  package func turn() throws(EventLoopError) -> Bool { try loop.turn() }

  /// Turns the loop until no work is left to run.
  ///
  /// - Throws: an error during a turn, on this or another thread; `.loopClosed` after `close()`.
  public func run() throws(EventLoopError) { while try loop.turn() {} }

  /// Advances the time by `duration`: runs timers in the order in which they become due, and the work that they add to
  /// the loop.
  ///
  /// - Throws: the errors of `run()`.
  public func advance(by duration: Duration) throws(EventLoopError) {
    try run()
    var rest = duration
    while rest > .zero {
      let step = max(.nanoseconds(1), min(rest, loop.nextTimer ?? rest))
      loop.skip(step)
      rest -= step
      try run()
    }
  }

  /// Closes the loop and releases its resources; see `EventLoop.close()`.
  ///
  /// - Throws: the errors of `EventLoop.close()`.
  public func close() throws(EventLoopError) { try loop.close() }
}
