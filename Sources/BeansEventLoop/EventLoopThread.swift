import CLibuv
import Dispatch
import Glibc

/// A thread that runs a loop of its own: one per core for a server, one per test.
///
/// The thread runs the loop until the loop is stopped, and then closes it. The object may be used from any thread.
/// Dropping the object does not stop the thread: the owner has to call `stopAndJoin()`.
public final class EventLoopThread: Sendable {
  /// The loop that the thread runs.
  public let loop: EventLoop
  private let end: ThreadEnd

  /// Creates a loop and starts a thread that runs it. Returns when the loop runs, before `setUp`.
  /// - Parameters:
  ///   - name: The thread's name; Linux keeps the first 15 bytes.
  ///   - setUp: The first work of the loop's thread. An error of `setUp` stops the loop and is thrown by `join()`.
  /// - Throws: When the loop or the thread cannot be created, or the name contains a NUL.
  public init(
    name: String = "event loop", setUp: (@Sendable (EventLoop) throws(EventLoopError) -> Void)? = nil
  ) throws(EventLoopError) {
    guard !name.utf8.contains(0) else {
      throw EventLoopError(
        .invalidArgument, "start the thread \(name.debugDescription)", detail: "the name contains a NUL")
    }
    loop = try EventLoop()
    end = ThreadEnd(loop: loop, name: String(decoding: name.utf8.prefix(15), as: UTF8.self))
    loop.execute { [end] in end.started.signal() }
    if let setUp {
      loop.execute { [loop, end] in
        do throws(EventLoopError) {
          try setUp(loop)
        } catch {
          end.note(error)
          loop.stop()
        }
      }
    }
    let argument = unsafe Unmanaged.passRetained(end)
    var thread = pthread_t()
    let status = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<ThreadEnd>.fromOpaque(argument).takeRetainedValue().runLoop()
        return nil
      }, unsafe argument.toOpaque())
    guard status == 0 else {
      unsafe argument.release()
      throw EventLoopError(status: -status, "start the thread of an event loop")
    }
    // Any number of callers wait for the end through `ThreadEnd`, so the system may reclaim the thread by itself.
    pthread_detach(thread)
    // A scope of a loop that does not run releases its beans on any thread.
    end.started.wait()
  }

  /// Stops the loop; `join()` waits for the end of the thread.
  package func stop() { loop.stop() }

  /// Blocks until the thread has run, stopped and closed its loop. Any number of threads may wait, any number of times.
  ///
  /// - Throws: the first error of `setUp`, `run()` and `close()`: `.openHandles`, for example, after which the caller
  ///   can close the handles and call `loop.close()` again; an error on the loop's thread.
  public func join() throws(EventLoopError) {
    guard !loop.isCurrent else { throw EventLoopError(.wouldDeadlock, "join the thread of an event loop") }
    end.done.wait()
    try end.check()
  }

  /// Stops the loop, and waits as `join()`.
  ///
  /// - Throws: the errors of `join()`.
  public func stopAndJoin() throws(EventLoopError) {
    stop()
    try join()
  }

  /// Waits like `join()`, but suspends the task instead of blocking a thread.
  ///
  /// - Throws: the first error of `setUp`, `run()` and `close()`.
  public func waitForEnd() async throws(EventLoopError) {
    unsafe await withUnsafeContinuation { continuation in
      end.done.notify(queue: .global()) { unsafe continuation.resume() }
    }
    try end.check()
  }
}

/// The state that the thread shares with the callers that wait for its end.
private final class ThreadEnd: Sendable {
  let done = DispatchGroup()
  /// Sent when the loop runs, or cannot run.
  let started = DispatchSemaphore(value: 0)
  private let failure = Lock<EventLoopError?>(nil)
  private let loop: EventLoop
  private let name: String

  init(loop: EventLoop, name: String) {
    self.loop = loop
    self.name = name
    done.enter()
  }

  func runLoop() {
    unsafe clibuv_name_current_thread(name)
    do throws(EventLoopError) {
      try loop.run()
      try loop.close()
    } catch {
      note(error)
    }
    started.signal()
    done.leave()
  }

  /// Records an error; the first one wins.
  func note(_ error: EventLoopError) {
    failure.withLock { if $0 == nil { $0 = error } }
  }

  func check() throws(EventLoopError) {
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

extension EventLoop {
  /// Runs a loop on a thread of its own during `body`, then stops and closes the loop and joins the thread. Blocks the
  /// calling thread.
  ///
  /// - Throws: the error of `body`, or else of the end of the thread; the error of the start of the thread.
  package static func withThread<Result>(
    name: String = "event loop", _ body: (EventLoop) throws -> Result
  ) throws -> Result {
    let thread = try EventLoopThread(name: name)
    let result: Result
    do {
      result = try body(thread.loop)
    } catch {
      try? thread.stopAndJoin()
      throw error
    }
    try thread.stopAndJoin()
    return result
  }

  /// Runs a loop on a thread of its own during `body`, then stops and closes the loop, without blocking a thread.
  ///
  /// - Throws: the error of `body`, or else of the end of the thread; the error of the start of the thread.
  package nonisolated(nonsending) static func withThread<Result>(
    name: String = "event loop", _ body: nonisolated(nonsending) (EventLoop) async throws -> Result
  ) async throws -> Result {
    let thread = try EventLoopThread(name: name)
    let result: Result
    do {
      result = try await body(thread.loop)
    } catch {
      thread.stop()
      try? await thread.waitForEnd()
      throw error
    }
    thread.stop()
    try await thread.waitForEnd()
    return result
  }
}
