import BeansEventLoop

/// The deadlines of a connection, one for each kind of event that it waits for. They share one timer of the loop, which
/// is set anew only if the deadline moves closer. If the deadline moves away, the timer fires early and is set again.
/// So a request costs a reading of the clock, no timer.
///
/// Belongs to its connection's loop thread.
struct HTTPConnectionDeadlines {
  /// The event that the connection waits for.
  enum Waiting: Equatable {
    case input(HTTPRequestParser.Progress)
    case response
    /// The client reads output from the write queue. `taken` is the number of bytes sent when its time began.
    case output(taken: Int)
    /// The client closes its side. `taken` is the number of bytes sent when its time began; nil if no byte is queued.
    case end(taken: Int?)
  }

  enum Verdict {
    case goOn
    case close
    /// The connection is to be closed in order.
    case finish
    /// The request is to get `408`.
    case refuse
  }

  private let settings: HTTPServerSettings
  /// The keep-alive timeout in nanoseconds, because it is added after each request.
  private let keepAliveTimeout: UInt64
  private var waiting = Waiting.response
  private var deadline = MonotonicTime.never
  private var alarm = MonotonicTime.never
  private var timer: EventLoop.Scheduled?
  /// The time at which the first bytes of the arriving request were seen.
  private var requestBegan: MonotonicTime?
  private var wasActive = true
  /// The time at which the connection was last seen to become idle after a request; at first, the time at which it was
  /// opened.
  private var lastActivity: MonotonicTime

  init(settings: HTTPServerSettings, now: MonotonicTime) {
    self.settings = settings
    keepAliveTimeout = MonotonicTime.nanoseconds(settings.keepAliveTimeout)
    lastActivity = now
  }

  /// Records the end of a request; the next byte belongs to another one.
  mutating func requestEnded() {
    requestBegan = nil
    wasActive = true
  }

  /// Sets the event that `connection` waits for from now on.
  mutating func update(_ waiting: Waiting, isDraining: Bool, for connection: HTTPConnection) {
    let now = MonotonicTime.now
    let previous = self.waiting
    self.waiting = waiting
    switch waiting {
    case .input(.idle):
      requestBegan = nil
      // An empty line, which is ignored, has the same effect.
      if wasActive { lastActivity = now }
      wasActive = false
      let idle = lastActivity.later(by: keepAliveTimeout)
      // Even a deadline that has passed does not close at once: the loop polls its sockets before the timer runs, and
      // the next request may have arrived.
      deadline = isDraining ? min(idle, lastActivity + settings.drainGrace) : idle
    case .input(let progress):
      let began = requestBegan ?? now
      requestBegan = began
      deadline =
        began + (progress == .head ? min(settings.headTimeout, settings.requestTimeout) : settings.requestTimeout)
    case .response:
      requestBegan = nil
      deadline = .never
    case .output:
      requestBegan = nil
      // More output does not extend the time.
      if case .output = previous { self.waiting = previous } else { deadline = now + settings.writeTimeout }
    case .end(let taken):
      deadline = now + (taken == nil ? settings.lingerTimeout : settings.writeTimeout)
    }
    setTimer(now, connection)
  }

  /// Checks the deadline when the timer has fired. `taken` is the number of bytes sent to the client so far; nil if no
  /// byte is queued.
  mutating func check(taken: Int?, for connection: HTTPConnection) -> Verdict {
    timer = nil
    alarm = .never
    let now = MonotonicTime.now
    switch waiting {
    case .output(let before):
      if let taken, taken - before >= settings.leastTaken {
        waiting = .output(taken: taken)
        deadline = now + settings.writeTimeout
      }
    case .end(let before?):
      if taken.map({ $0 - before >= settings.leastTaken }) ?? true {
        waiting = .end(taken: taken)
        deadline = now + (taken == nil ? settings.lingerTimeout : settings.writeTimeout)
      }
    default: break
    }
    if deadline > now {
      setTimer(now, connection)
      return .goOn
    }
    switch waiting {
    case .input(.idle): return .finish
    case .input: return .refuse
    case .output, .end: return .close
    case .response: return .goOn
    }
  }

  mutating func cancel() {
    timer?.cancel()
    timer = nil
  }

  private mutating func setTimer(_ now: MonotonicTime, _ connection: HTTPConnection) {
    guard deadline < alarm else { return }
    timer?.cancel()
    alarm = deadline
    timer = connection.loop.schedule(after: deadline.since(now)) { connection.timedOut() }
  }
}
