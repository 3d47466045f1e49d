import BeansEventLoop

/// The Sentinels of a primary. Asks one of them for the address of the primary, and follows the switches that it
/// announces on the same connection.
///
/// Belongs to its loop's thread.
final class SentinelWatch: @unchecked Sendable {
  // Safe to send: only the loop's thread uses it.

  struct Failure: Error {
    let reason: String
  }

  private let loop: EventLoop
  private let sentinels: [SocketAddress]
  private let primary: String
  private let options: RedisOptions
  /// Receives each address of the primary that nothing has asked for.
  var onSwitch: ((SocketAddress) -> Void)?
  private var completion: ((Result<SocketAddress, Failure>) -> Void)?
  /// The Sentinels that have not been asked.
  private var left: ArraySlice<SocketAddress> = []
  private var failures: [String] = []
  /// The number of questions so far. Each begins with another Sentinel.
  private var turn = 0
  private var connection: TCPConnection?
  private var parser = RESPParser()
  private var timer: EventLoop.Scheduled?
  /// The last address of the primary.
  private var current: SocketAddress?

  init(on loop: EventLoop, _ sentinels: [SocketAddress], primary: String, options: RedisOptions) {
    self.loop = loop
    self.sentinels = sentinels
    self.primary = primary
    self.options = options
  }

  /// Asks the Sentinels, one after the other, until one names the primary. Each has an equal share of
  /// `RedisOptions.connectTimeout`.
  func find(_ completion: @escaping (Result<SocketAddress, Failure>) -> Void) {
    self.completion = completion
    ask()
  }

  func close() {
    (completion, onSwitch, left) = (nil, nil, [])
    leave()
  }

  private func ask() {
    leave()
    let start = sentinels.isEmpty ? 0 : turn % sentinels.count
    turn += 1
    left = (sentinels[start...] + sentinels[..<start])[...]
    failures = []
    askNext()
  }

  /// Closes the connection to a Sentinel.
  private func leave() {
    timer?.cancel()
    let old = connection
    connection = nil
    parser = RESPParser()
    old?.close()
  }

  private func askNext() {
    guard let sentinel = left.popFirst() else { return failed() }
    do throws(EventLoopError) {
      let connection = try TCPConnection.connect(on: loop, to: sentinel, options: options.connect) { [self] result in
        // A failure is also reported to `onClose`.
        guard case .success(let connection) = result, connection === self.connection else { return }
        for words in [["SENTINEL", "GET-MASTER-ADDR-BY-NAME", primary], ["SUBSCRIBE", "+switch-master"]] {
          connection.write(RESPCommand.encode(words.map { Array($0.utf8) }))
        }
        connection.resumeReading()
      }
      self.connection = connection
      unsafe connection.onRead = { [self] bytes in unsafe read(bytes, connection, sentinel) }
      connection.onClose = { [self] reason in ended(connection, sentinel, Self.text(of: reason)) }
      timer = loop.schedule(after: options.connectTimeout / sentinels.count) { [self] in
        ended(connection, sentinel, "it has not replied in time")
      }
    } catch {
      failures.append("\(sentinel): \(error)")
      askNext()
    }
  }

  private static func text(of reason: TCPConnection.CloseReason) -> String {
    switch reason {
    case .failed(let error): "\(error)"
    case .local, .endOfFile: "it has closed the connection"
    }
  }

  private func read(_ bytes: UnsafeRawBufferPointer, _ connection: TCPConnection, _ sentinel: SocketAddress) {
    guard connection === self.connection else { return }
    unsafe parser.append(bytes)
    do throws(RESPError) {
      while connection === self.connection, let reply = try parser.next() { take(reply, connection, sentinel) }
    } catch {
      ended(connection, sentinel, error.description)
    }
  }

  private func take(_ reply: RESPValue, _ connection: TCPConnection, _ sentinel: SocketAddress) {
    switch reply {
    case .null: ended(connection, sentinel, "it knows no primary \(primary)")
    case .error(let text): ended(connection, sentinel, text)
    case .array(let parts):
      let words = parts.map { $0.text ?? "" }
      if words.count == 2 {
        found(words[0], words[1], connection, sentinel)
      } else if words.count == 3, words[0] == "message" {
        // The name, the old address and port, the new address and port.
        let fields = words[2].split(separator: " ").map(String.init)
        if fields.count == 5, fields[0] == primary { found(fields[3], fields[4], connection, sentinel) }
      }
    case .simple, .integer, .bytes: ended(connection, sentinel, "it sends a reply that means nothing")
    }
  }

  private func found(_ host: String, _ port: String, _ connection: TCPConnection, _ sentinel: SocketAddress) {
    guard let port = Int(port) else { return ended(connection, sentinel, "it returns no port") }
    timer?.cancel()
    left = []
    let address = SocketAddress(host: host, port: port)
    let isNew = address != current
    current = address
    if let completion = completion.take() { return completion(.success(address)) }
    if isNew { onSwitch?(address) }
  }

  /// Handles a Sentinel that does not reply, or whose connection has ended after its reply.
  private func ended(_ connection: TCPConnection, _ sentinel: SocketAddress, _ reason: String) {
    guard connection === self.connection else { return }
    leave()
    failures.append("\(sentinel): \(reason)")
    if left.isEmpty { failed() } else { askNext() }
  }

  /// Reports that no Sentinel names the primary; where nothing has asked, another one is found to follow.
  private func failed() {
    if let completion = completion.take() {
      let reason = failures.isEmpty ? "no Sentinel is given" : failures.joined(separator: "; ")
      return completion(.failure(Failure(reason: "no Sentinel names it: \(reason)")))
    }
    guard onSwitch != nil else { return }
    timer = loop.schedule(after: options.longestPause) { [self] in ask() }
  }
}
