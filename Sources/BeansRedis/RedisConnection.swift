import BeansEventLoop
import BeansLogging

/// The connection of one event loop to a Redis server. It pipelines commands: it sends them without waiting for
/// replies.
///
/// The connection is opened when a command has to be sent. After a failed attempt, the next attempt follows after a
/// pause, as long as a command waits. While the server refuses connections, commands fail at once until the pause is
/// over, except for second attempts. When the connection is lost, sent commands fail, and unsent commands wait for the
/// next connection. A connection with a late reply is closed, because the next reply on it might be taken for the reply
/// to another command. An unusable server is logged once, and so is its return.
///
/// Belongs to its loop's thread.
final class RedisConnection: @unchecked Sendable {
  // Safe to send: only the loop's thread accesses mutable state, as `send` and `close` check.

  private enum Phase {
    /// There is no connection, and no attempt to connect.
    case idle
    /// A connection is being established, or the greeting is in flight: login, scripts, time.
    case greeting(TCPConnection)
    case ready(TCPConnection)
    /// A timer runs until the next attempt to connect.
    case pausing(isRefused: Bool)
    case closed
  }

  /// A part of the greeting.
  private enum Greeting {
    case login
    case script(RedisScript)
    case time
  }

  private static let logger = LogManager.getLogger(forName: "Beans.Sessions.Redis")
  private let loop: EventLoop
  private let address: SocketAddress
  private let options: RedisOptions
  private var phase = Phase.idle
  private var parser = RESPParser()
  /// The digests of the scripts on the server.
  private var digests: [RedisScript: [UInt8]] = [:]
  /// The server's time as of the greeting, or of the last command that came too late.
  var clock = RedisClock(time: 0)
  /// The parts of the greeting without a reply so far, in order.
  private var greetings: [Greeting] = []
  /// The commands that have not been sent.
  private var waiting: [RedisCommand] = []
  /// The commands without a reply so far, in the order of their replies.
  private var sent = FirstInFirstOut<RedisCommand>()
  /// The reply to the `TIME` of the first sent command, which reads, when only this reply has arrived.
  private var timeReply: RESPValue?
  private var pause: Duration
  /// The last reason why there is no usable connection.
  private var trouble: String?
  /// Whether a warning that the server cannot be used has been logged, and not yet its end.
  private var hasWarned = false
  /// The time at which `deadlineTimer` fires.
  private var watched: ContinuousClock.Instant?
  private var deadlineTimer: EventLoop.Scheduled?
  private var connectTimer: EventLoop.Scheduled?
  private var pauseTimer: EventLoop.Scheduled?

  init(on loop: EventLoop, to address: SocketAddress, options: RedisOptions) {
    self.loop = loop
    self.address = address
    self.options = options
    pause = options.firstPause
  }

  // MARK: commands

  func send(_ command: RedisCommand) {
    loop.preconditionIsCurrent()
    if case .closed = phase { return command.reply(.failure(.notSent("the store has been closed"))) }
    guard waiting.count + sent.count < options.maximumWaiting else {
      return command.reply(.failure(.notSent("too many calls wait for it")))
    }
    if case .pausing(isRefused: true) = phase, !command.isSecond {
      return command.reply(.failure(.notSent(trouble ?? "it refuses connections")))
    }
    waiting.append(command)
    switch phase {
    case .idle: connect()
    case .ready(let connection): flush(connection)
    case .greeting, .pausing, .closed: break
    }
    watch(command.deadline)
  }

  private func flush(_ connection: TCPConnection) {
    var count = 0
    while count < waiting.count, connection.isWritable {
      let command = waiting[count]
      count += 1
      sent.append(command)
      connection.write(encode(command))
    }
    waiting.removeFirst(count)
  }

  private func encode(_ command: RedisCommand) -> [UInt8] {
    switch command.action {
    case .read(let words): return Self.time + RESPCommand.encode(words)
    case .run(let script, let keys, let arguments):
      var words: [[UInt8]]
      if !command.needsText, let digest = digests[script] {
        words = [Array("EVALSHA".utf8), digest]
      } else {
        words = [Array("EVAL".utf8), Array(script.text.utf8)]
      }
      words.append(Array(String(keys.count).utf8))
      return RESPCommand.encode(words + keys + [clock.text(of: command.deadline)] + arguments)
    }
  }

  private static let time = RESPCommand.encode([Array("TIME".utf8)])

  // MARK: connecting

  private func connect() {
    do throws(EventLoopError) {
      let connection = try TCPConnection.connect(on: loop, host: address.host, port: address.port) { [self] result in
        // A failure is also reported to `onClose`.
        if case .success(let connection) = result, isCurrent(connection) { greet(connection) }
      }
      phase = .greeting(connection)
      connection.highWaterMark = 8 << 20
      unsafe connection.onRead = { [self] bytes in unsafe read(bytes, connection) }
      connection.onDrain = { [self] in
        if case .ready(let current) = phase, current === connection { flush(connection) }
      }
      connection.onClose = { [self] reason in ended(connection, reason) }
      connectTimer = loop.schedule(after: options.connectTimeout) { [self] in
        if case .greeting(let connection) = phase {
          giveUp(connection, "it was not ready in \(options.connectTimeout)")
        }
      }
    } catch {
      // No attempt has been made, such as for an invalid address: a retry cannot succeed.
      phase = .idle
      let commands = waiting
      waiting = []
      for command in commands { command.reply(.failure(.notSent("\(error)"))) }
    }
  }

  private func greet(_ connection: TCPConnection) {
    connection.resumeReading()
    var words: [[String]] = []
    if let password = options.password { words.append(["AUTH"] + (options.username.map { [$0] } ?? []) + [password]) }
    if options.database != 0 { words.append(["SELECT", String(options.database)]) }
    greetings = Array(repeating: .login, count: words.count) + RedisScript.allCases.map(Greeting.script) + [.time]
    words += RedisScript.allCases.map { ["SCRIPT", "LOAD", $0.text] }
    words.append(["TIME"])
    for command in words { connection.write(RESPCommand.encode(command.map { Array($0.utf8) })) }
  }

  private func greeted(_ reply: RESPValue, _ connection: TCPConnection) {
    guard !greetings.isEmpty else { return giveUp(connection, Self.unasked) }
    if case .error(let text) = reply { return giveUp(connection, text) }
    switch greetings.removeFirst() {
    case .login: break
    case .script(let script):
      guard case .bytes(let digest) = reply else { return giveUp(connection, "it does not load scripts") }
      digests[script] = digest
    case .time:
      guard let time = RedisClock(reply) else { return giveUp(connection, "it does not return the time") }
      clock = time
    }
    guard greetings.isEmpty else { return }
    connectTimer?.cancel()
    phase = .ready(connection)
    pause = options.firstPause
    trouble = "it does not accept commands"
    if hasWarned {
      hasWarned = false
      // A warning, so that readers of warnings alone also see the end of the outage.
      Self.logger.warn("Redis at \(address) can be used again")
    }
    flush(connection)
  }

  // MARK: replies

  private func read(_ bytes: UnsafeRawBufferPointer, _ connection: TCPConnection) {
    guard isCurrent(connection) else { return }
    guard isAsked else { return giveUp(connection, Self.unasked) }
    unsafe parser.append(bytes)
    do throws(RESPError) {
      while isCurrent(connection), let reply = try parser.next() { take(reply, connection) }
      if isCurrent(connection), !isAsked, parser.hasPart { giveUp(connection, Self.unasked) }
    } catch {
      giveUp(connection, error.description)
    }
  }

  private static let unasked = "it sends replies without a command"

  /// Whether the server owes a reply.
  private var isAsked: Bool {
    switch phase {
    case .greeting: !greetings.isEmpty
    case .ready: sent.count > 0
    case .idle, .pausing, .closed: false
    }
  }

  private func take(_ reply: RESPValue, _ connection: TCPConnection) {
    if case .greeting = phase { return greeted(reply, connection) }
    if case .read = sent.first?.action, timeReply == nil {
      timeReply = reply
      return
    }
    guard var command = sent.popFirst() else { return giveUp(connection, Self.unasked) }
    if let time = timeReply.take() { return command.reply(.success(.array([time, reply]))) }
    if case .error(let text) = reply, text.hasPrefix("NOSCRIPT"), !command.needsText {
      // The server no longer has its scripts, and has not executed the command.
      command.needsText = true
      waiting.insert(command, at: 0)
      return flush(connection)
    }
    if case .error(let text) = reply, let time = RedisClock(late: text), !command.wasLate {
      // The estimate of the time was wrong or too old, and the server has not executed the command.
      clock = time
      command.wasLate = true
      waiting.insert(command, at: 0)
      return flush(connection)
    }
    command.reply(.success(reply))
  }

  private func isCurrent(_ connection: TCPConnection) -> Bool {
    switch phase {
    case .greeting(let current), .ready(let current): current === connection
    case .idle, .pausing, .closed: false
    }
  }

  // MARK: losing the connection

  /// Closes the connection from this side. The server may still execute the commands it has received.
  private func giveUp(_ connection: TCPConnection, _ reason: String) {
    drop(connection, reason) { .late($0) }
    connection.close()
  }

  /// Handles a connection that has ended. After a failure of the network, the server may still have the sent commands.
  private func ended(_ connection: TCPConnection, _ reason: TCPConnection.CloseReason) {
    switch reason {
    case .local: drop(connection, "the connection was closed") { .late($0) }
    case .endOfFile: drop(connection, "it has closed the connection") { .lost($0) }
    case .failed(let error):
      let isByServer = error.code == .connectionReset || error.code == .brokenPipe
      drop(connection, "\(error)", isRefused: error.code == .connectionRefused) {
        isByServer ? .lost($0) : .late($0)
      }
    }
  }

  /// Drops a connection. Does nothing for a connection that has been dropped before.
  private func drop(
    _ connection: TCPConnection, _ reason: String, isRefused: Bool = false, _ failure: (String) -> RedisFailure
  ) {
    guard isCurrent(connection) else { return }
    (parser, timeReply) = (RESPParser(), nil)
    connectTimer?.cancel()
    trouble = reason
    guard case .ready = phase else {
      warnOnce(reason)
      rest(isRefused: isRefused)
      if isRefused { failWaiting(reason) }
      return
    }
    phase = .idle
    // A server may close an idle connection.
    if sent.count > 0 { warnOnce(reason) }
    for command in sent.removeAll() { command.reply(.failure(failure(reason))) }
    // The server was reachable a moment ago, so there is no pause before the first attempt.
    if case .idle = phase, !waiting.isEmpty { connect() }
  }

  private func warnOnce(_ reason: String) {
    if hasWarned { return }
    hasWarned = true
    Self.logger.warn("Redis at \(address) cannot be used: \(reason)")
  }

  /// Fails the commands that do not wait for the server to return.
  private func failWaiting(_ reason: String) {
    let failed = waiting.filter { !$0.isSecond }
    waiting.removeAll { !$0.isSecond }
    for command in failed { command.reply(.failure(.notSent(reason))) }
  }

  private func rest(isRefused: Bool) {
    phase = .pausing(isRefused: isRefused)
    let length = pause * Double.random(in: 0.5...1)
    pause = min(pause * 2, options.longestPause)
    pauseTimer = loop.schedule(after: length) { [self] in
      guard case .pausing = phase else { return }
      phase = .idle
      if !waiting.isEmpty { connect() }
    }
  }

  // MARK: deadlines

  /// Schedules a check of deadlines at the given time, or earlier.
  private func watch(_ deadline: ContinuousClock.Instant) {
    if let watched, watched <= deadline { return }
    deadlineTimer?.cancel()
    watched = deadline
    deadlineTimer = loop.schedule(after: ContinuousClock.now.duration(to: deadline)) { [self] in
      watched = nil
      expire()
      if let next = sent.elements.lazy.map(\.deadline).min() { watch(next) }
      if let next = waiting.lazy.map(\.deadline).min() { watch(next) }
    }
  }

  private func expire() {
    let now = ContinuousClock.now
    if sent.elements.contains(where: { $0.deadline <= now }), case .ready(let connection) = phase {
      giveUp(connection, "it has not replied in time")
    }
    let late = waiting.filter { $0.deadline <= now }
    waiting.removeAll { $0.deadline <= now }
    for command in late { command.reply(.failure(.notSent(trouble ?? "it has not been there in time"))) }
  }

  // MARK: closing

  /// Fails all waiting commands, and closes the connection.
  func close() {
    loop.preconditionIsCurrent()
    let connection: TCPConnection? =
      switch phase {
      case .greeting(let connection), .ready(let connection): connection
      case .idle, .pausing, .closed: nil
      }
    phase = .closed
    (parser, timeReply) = (RESPParser(), nil)
    for timer in [deadlineTimer, connectTimer, pauseTimer] { timer?.cancel() }
    connection?.close()
    let (unanswered, unsent) = (sent.removeAll(), waiting)
    waiting = []
    for command in unanswered { command.reply(.failure(.late("the store has been closed"))) }
    for command in unsent { command.reply(.failure(.notSent("the store has been closed"))) }
  }
}
