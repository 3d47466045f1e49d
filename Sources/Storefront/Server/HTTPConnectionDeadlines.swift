import BeansEventLoop

/// How long a connection may stay in what it is waiting for. One timer of the loop, set anew only where the deadline comes
/// closer; where it moves away, the timer finds out when it fires. So a request costs a reading of the clock, no timer.
///
/// Belongs to its connection's loop thread.
struct HTTPConnectionDeadlines {
  /// What the connection waits for.
  enum Waiting: Equatable {
    case input(HTTPRequestParser.Progress)
    case response
    /// That the client takes what is in the write queue. It had taken so many bytes when its time began.
    case output(taken: Int)
    /// That the client closes its side. It had taken so many bytes when its time began; nil where it has been sent all.
    case end(taken: Int?)
  }

  enum Verdict {
    case goOn
    case close
    /// Close in order.
    case finish
    /// Answer `408`.
    case refuse
  }

  private let settings: HTTPServerSettings
  /// In nanoseconds, because it is added after each request.
  private let keepAliveTimeout: UInt64
  private var waiting = Waiting.response
  private var deadline = MonotonicTime.never
  private var alarm = MonotonicTime.never
  private var timer: EventLoop.Scheduled?
  /// When the first bytes of the request that is arriving were seen.
  private var requestBegan: MonotonicTime?
  private var wasActive = true
  /// When the connection was last seen to become idle after a request; at first, when it was opened.
  private var lastActivity: MonotonicTime

  init(settings: HTTPServerSettings, now: MonotonicTime) {
    self.settings = settings
    keepAliveTimeout = MonotonicTime.nanoseconds(settings.keepAliveTimeout)
    lastActivity = now
  }

  /// A request is complete; the next byte belongs to another one.
  mutating func requestEnded() {
    requestBegan = nil
    wasActive = true
  }

  /// Tells what `connection` waits for from now on.
  mutating func update(_ waiting: Waiting, isDraining: Bool, for connection: HTTPConnection) {
    let now = MonotonicTime.now
    let previous = self.waiting
    self.waiting = waiting
    switch waiting {
    case .input(.idle):
      requestBegan = nil
      // An empty line, which is ignored, leads here as well.
      if wasActive { lastActivity = now }
      wasActive = false
      let idle = lastActivity.later(by: keepAliveTimeout)
      // Also where it has passed, not at once: the loop looks at its sockets before the timer runs, and the next request may
      // be there.
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
      // More output does not give more time.
      if case .output = previous { self.waiting = previous } else { deadline = now + settings.writeTimeout }
    case .end(let taken):
      deadline = now + (taken == nil ? settings.lingerTimeout : settings.writeTimeout)
    }
    setTimer(now, connection)
  }

  /// To be called when the timer has fired. `taken`: how many bytes the client has taken by now; nil where it has all.
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
