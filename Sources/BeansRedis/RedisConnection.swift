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
/// A server that is no longer a primary, or reads its data, refuses commands before they write (READONLY, MASTERDOWN,
/// LOADING). The connection then sends no more, takes the replies that arrive within `RedisOptions.longestPause`, closes,
/// and looks for the primary anew: the name is resolved again, or a Sentinel asked again. The refused commands wait for
/// the next connection.
///
/// Belongs to its loop's thread.
final class RedisConnection: @unchecked Sendable {
  // Safe to send: only the loop's thread accesses mutable state, as `send` and `close` check.

  private enum Phase {
    /// There is no connection, and no attempt to connect.
    case idle
    /// A Sentinel is being asked for the address of the primary.
    case locating
    /// A connection is being established, or the greeting is in flight: login, scripts, time.
    case greeting(TCPConnection)
    case ready(TCPConnection)
    /// The server is not the primary any more: only the replies on the way are taken.
    case draining(TCPConnection)
    /// A timer runs until the next attempt to connect.
    case pausing(isRefused: Bool)
    case closed
  }

  private static let logger = LogManager.getLogger(forName: "Beans.Sessions.Redis")
  private let loop: EventLoop
  private let options: RedisOptions
  /// The Sentinels that name the server; nil for a server with an address.
  private let sentinels: SentinelWatch?
  private var phase = Phase.idle
  private var parser = RESPParser()
  private var greeting: RedisGreeting
  /// The server's time as of the greeting, or of the last command that came too late.
  var clock = RedisClock(time: 0)
  /// The commands that have not been sent.
  private var waiting: [RedisCommand] = []
  /// The commands without a reply so far, in the order of their replies.
  private var sent = FirstInFirstOut<RedisCommand>()
  /// The replies to the first sent command that have arrived, where it gets several.
  private var parts: [RESPValue] = []
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

  init(on loop: EventLoop, options: RedisOptions) {
    self.loop = loop
    self.options = options
    pause = options.firstPause
    sentinels =
      switch options.servers.kind {
      case .server: nil
      case .sentinels(let addresses, let primary):
        SentinelWatch(on: loop, addresses, primary: primary, options: options)
      }
    greeting = RedisGreeting(options, needsRole: sentinels != nil)
    sentinels?.onSwitch = { [weak self] _ in self?.leaveForAnother() }
  }

  // MARK: commands

  func send(_ command: RedisCommand) {
    loop.checkIsolated()
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
    case .locating, .greeting, .draining, .pausing, .closed: break
    }
    watch(command.deadline)
  }

  private func flush(_ connection: TCPConnection) {
    var count = 0
    while count < waiting.count, connection.isWritable {
      let command = waiting[count]
      count += 1
      sent.append(command)
      connection.write(command.encode(scripts: greeting.digests, clock))
    }
    waiting.removeFirst(count)
  }

  // MARK: connecting

  private func connect() {
    if case .server(let address) = options.servers.kind { return connect(to: address) }
    phase = .locating
    sentinels?.find { [self] result in
      guard case .locating = phase else { return }
      switch result {
      case .success(let address): connect(to: address)
      case .failure(let failure): fail(failure.reason, isRefused: true)
      }
    }
  }

  private func connect(to address: SocketAddress) {
    do throws(EventLoopError) {
      let connection = try TCPConnection.connect(on: loop, to: address, options: options.connect) { [self] result in
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
          let isSecured = !connection.isInHandshake
          let fault = isSecured ? "was not ready" : "may not use TLS on this port: it has not completed the handshake"
          giveUp(connection, "it \(fault) in \(options.connectTimeout)")
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
    greeting = RedisGreeting(options, needsRole: sentinels != nil)
    for command in greeting.commands { connection.write(RESPCommand.encode(command.map { Array($0.utf8) })) }
  }

  private func greeted(_ reply: RESPValue, _ connection: TCPConnection) {
    do throws(RedisGreeting.Refusal) {
      try greeting.take(reply)
    } catch {
      return giveUp(connection, error.reason, isRefused: error.isLasting)
    }
    guard greeting.isComplete else { return }
    clock = greeting.clock
    connectTimer?.cancel()
    phase = .ready(connection)
    trouble = "it does not accept commands"
    if hasWarned {
      hasWarned = false
      // A warning, so that readers of warnings alone also see the end of the outage.
      Self.logger.warn("Redis at \(options.servers) can be used again")
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
    case .greeting: !greeting.isComplete
    case .ready, .draining: sent.count > 0
    case .idle, .locating, .pausing, .closed: false
    }
  }

  private func take(_ reply: RESPValue, _ connection: TCPConnection) {
    if case .greeting = phase { return greeted(reply, connection) }
    guard let command = sent.first else { return giveUp(connection, Self.unasked) }
    parts.append(reply)
    guard parts.count == command.replyCount else { return }
    _ = sent.popFirst()
    let replies = parts
    parts = []
    finish(command, replies, connection)
    if case .draining(let current) = phase, current === connection { endDraining(connection) }
  }

  /// Handles all replies to a command.
  private func finish(_ command: RedisCommand, _ replies: [RESPValue], _ connection: TCPConnection) {
    if let text = command.refusalByRole(replies) {
      sendLater(command)
      return drain(connection, text)
    }
    // A replica may be behind.
    if case .draining = phase, case .read = command.action { return sendLater(command) }
    if case .error(let text) = replies[0], text.hasPrefix("NOSCRIPT"), !command.needsText {
      // The server no longer has its scripts, and has not executed the command.
      var command = command
      command.needsText = true
      sendLater(command)
    } else if case .error(let text) = replies[0], let time = RedisClock(late: text), !command.wasLate {
      // The estimate of the time was wrong or too old, and the server has not executed the command.
      clock = time
      var command = command
      command.wasLate = true
      sendLater(command)
    } else {
      pause = options.firstPause
      command.reply(command.result(of: replies))
    }
    if case .ready = phase { flush(connection) }
  }

  /// Puts a command that has had no effect back to those that have not been sent.
  private func sendLater(_ command: RedisCommand) { waiting.insert(command, at: 0) }

  private func isCurrent(_ connection: TCPConnection) -> Bool { current === connection }

  private var current: TCPConnection? {
    switch phase {
    case .greeting(let current), .ready(let current), .draining(let current): current
    case .idle, .locating, .pausing, .closed: nil
    }
  }

  // MARK: leaving a server that is no primary

  /// Sends no more on a connection, and closes it when the replies on the way have arrived. Those of a server that does
  /// not reply, or waits for replicas that have left it, are not awaited for long.
  private func drain(_ connection: TCPConnection, _ reason: String) {
    guard case .ready(let current) = phase, current === connection else { return }
    trouble = reason
    warnOnce(reason)
    phase = .draining(connection)
    endDraining(connection)
    guard case .draining = phase else { return }
    loop.schedule(after: options.longestPause) { [self] in
      if case .draining(let current) = phase, current === connection { giveUp(connection, reason) }
    }
  }

  private func endDraining(_ connection: TCPConnection) {
    guard sent.count == 0 else { return }
    parser = RESPParser()
    rest(isRefused: false)
    connection.close()
  }

  /// Leaves the server for another primary, which Sentinels have named.
  private func leaveForAnother() {
    pause = options.firstPause
    let reason = "Sentinels have named another primary"
    switch phase {
    case .ready(let connection): drain(connection, reason)
    case .greeting(let connection): giveUp(connection, reason)
    case .pausing:
      pauseTimer?.cancel()
      endPause()
    case .idle, .locating, .draining, .closed: break
    }
  }

  // MARK: losing the connection

  /// Closes the connection from this side. The server may still execute the commands it has received.
  private func giveUp(_ connection: TCPConnection, _ reason: String, isRefused: Bool = false) {
    drop(connection, reason, isRefused: isRefused) { .late($0) }
    connection.close()
  }

  /// Handles a connection that has ended. After a failure of the network, the server may still have the sent commands.
  private func ended(_ connection: TCPConnection, _ reason: TCPConnection.CloseReason) {
    switch reason {
    case .local: drop(connection, "the connection was closed") { .late($0) }
    case .endOfFile: drop(connection, "it has closed the connection") { .lost($0) }
    case .failed(let error):
      drop(connection, "\(error)", isRefused: error.meansNoServer) { error.isByPeer ? .lost($0) : .late($0) }
    }
  }

  /// Drops a connection. Does nothing for a connection that has been dropped before.
  private func drop(
    _ connection: TCPConnection, _ reason: String, isRefused: Bool = false, _ failure: (String) -> RedisFailure
  ) {
    guard isCurrent(connection) else { return }
    (parser, parts) = (RESPParser(), [])
    connectTimer?.cancel()
    if case .greeting = phase { return fail(reason, isRefused: isRefused) }
    trouble = reason
    phase = .idle
    // A server may close an idle connection.
    if sent.count > 0 { warnOnce(reason) }
    for command in sent.removeAll() { command.reply(.failure(failure(reason))) }
    // The server was reachable a moment ago, so there is no pause before the first attempt.
    if case .idle = phase, !waiting.isEmpty { connect() }
  }

  /// Handles an attempt to connect that has failed.
  private func fail(_ reason: String, isRefused: Bool) {
    trouble = reason
    warnOnce(reason)
    rest(isRefused: isRefused)
    if isRefused { failWaiting(reason) }
  }

  private func warnOnce(_ reason: String) {
    if hasWarned { return }
    hasWarned = true
    Self.logger.warn("Redis at \(options.servers) cannot be used: \(reason)")
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
    pauseTimer = loop.schedule(after: length) { [self] in endPause() }
  }

  private func endPause() {
    guard case .pausing = phase else { return }
    phase = .idle
    if !waiting.isEmpty { connect() }
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
    if sent.elements.contains(where: { $0.deadline <= now }), let connection = current {
      giveUp(connection, "it has not replied in time")
    }
    let late = waiting.filter { $0.deadline <= now }
    waiting.removeAll { $0.deadline <= now }
    for command in late { command.reply(.failure(.notSent(trouble ?? "it has not been there in time"))) }
  }

  // MARK: closing

  /// Fails all waiting commands, and closes the connection.
  func close() {
    loop.checkIsolated()
    let connection = current
    phase = .closed
    (parser, parts) = (RESPParser(), [])
    sentinels?.close()
    for timer in [deadlineTimer, connectTimer, pauseTimer] { timer?.cancel() }
    connection?.close()
    let (unanswered, unsent) = (sent.removeAll(), waiting)
    waiting = []
    for command in unanswered { command.reply(.failure(.late("the store has been closed"))) }
    for command in unsent { command.reply(.failure(.notSent("the store has been closed"))) }
  }
}
