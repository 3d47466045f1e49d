import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The threads of the logging library.
enum LogThread {
  private final class Work {
    private let name: String
    private var body: (@Sendable () -> Void)?
    private let whenDone: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void, whenDone: @escaping @Sendable () -> Void) {
      (self.name, self.body, self.whenDone) = (name, body, whenDone)
    }

    /// The body of a thread: runs and releases the work that the argument retains.
    static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let argument = unsafe argument else { return nil }
      unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
      return nil
    }

    private func run() {
      ThreadName.setCurrent(name)
      body?()
      body = nil
      whenDone()
    }
  }

  /// Starts a thread that blocks the signals of the process.
  ///
  /// - Parameters:
  ///   - name: the name of the thread.
  ///   - body: the work of the thread.
  ///   - whenDone: called on the thread when `body` has returned and its captures have been released.
  /// - Returns: 0, or the error number of the system.
  static func start(
    name: String, whenDone: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () -> Void
  ) -> Int32 {
    var blocked = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&blocked)
    // These signals report faults of the thread itself.
    for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { unsafe sigdelset(&blocked, number) }
    unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let work = unsafe Unmanaged.passRetained(Work(name, body, whenDone: whenDone))
    #if canImport(Darwin)
      var thread: pthread_t!
    #else
      var thread = pthread_t()
    #endif
    let status = unsafe pthread_create(&thread, nil, { unsafe Work.run($0) }, unsafe work.toOpaque())
    if status == 0 { pthread_detach(thread) } else { unsafe work.release() }
    return status
  }

  /// Runs `body` on a thread of its own, and waits for its end for at most `limit`.
  ///
  /// A `body` that takes longer continues in the background. If no thread can be created, `body` runs on the calling
  /// thread, without a limit.
  ///
  /// - Returns: whether `body` has returned in time.
  static func run(within limit: Duration, _ body: @escaping @Sendable () -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    let status = start(name: "log flush", whenDone: { done.signal() }, body)
    if status != 0 {
      body()
      return true
    }
    let (seconds, attoseconds) = min(max(limit, .zero), .seconds(1_000_000_000)).components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    return done.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
  }
}
