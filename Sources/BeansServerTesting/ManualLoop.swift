public import BeansEventLoop

/// An event loop that no thread runs: a test turns it, and lets its time pass.
///
///     let manual = try ManualLoop()
///     let sessions = try shop.childFactory(
///       "session", seed: Void.self, scope: { SessionScope(loop: manual.loop, idleTimeout: .seconds(600)) })
///     let session = try sessions.build(())
///     try manual.advance(by: .seconds(600))
///     #expect(session.isFinished)
///
/// What ends a scope on the loop begins the release, which runs at the next turn, on the thread of that. The time of the loop's
/// timers, of tasks that sleep on it and of scopes bound to it passes as usual, and as far as `advance` skips it. A
/// `LoopScope` with both a deadline and an idle time counts towards its deadline what is skipped after its last use.
///
/// A shutdown that is awaited waits for children whose loop is not turned: finish them, and turn the loop, before. The end of a
/// test environment does not wait: it fails the test for each finished child whose loop was not turned.
public final class ManualLoop: Sendable {
  /// What is given to scopes, connections and tasks.
  public let loop: EventLoop

  /// Creates a loop with nothing to do.
  ///
  /// - Throws: where the process is out of file descriptors or memory.
  public init() throws(EventLoopError) { loop = try EventLoop(skips: SkippedTime()) }

  /// One turn: runs what the loop has been handed until now, then timers that are due; looks at sockets without waiting.
  ///
  /// - Returns: whether there was anything to run, so that another turn may find more.
  /// - Throws: `.alreadyRunning` on a second thread or inside of a turn; `.loopClosed`.
  @discardableResult
  public func turn() throws(EventLoopError) -> Bool { try loop.turn() }

  /// Turns the loop until there is nothing left to run.
  ///
  /// - Throws: as `turn()`.
  public func run() throws(EventLoopError) { while try loop.turn() {} }

  /// Lets so much time pass: runs timers in the order in which they become due, and what they hand to the loop.
  ///
  /// - Throws: as `turn()`.
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

  /// Gives everything back; see `EventLoop.close()`.
  ///
  /// - Throws: as that.
  public func close() throws(EventLoopError) { try loop.close() }
}
