extension TCPConnection {
  /// Connects to a host. Call it on the loop's thread, or before `run()`. See `connect(on:to:options:)`.
  @discardableResult
  package static func connect(
    on loop: EventLoop, host: String, port: Int, noDelay: Bool = true, file: StaticString = #fileID,
    line: UInt = #line, completion: @escaping @Sendable (Result<TCPConnection, EventLoopError>) -> Void
  ) throws(EventLoopError) -> TCPConnection {
    var options = ConnectOptions()
    options.noDelay = noDelay
    return try connect(
      on: loop, to: SocketAddress(host: host, port: port), options: options, file: file, line: line,
      completion: completion)
  }

  /// Connects to a host or to a Unix socket. Call it on the loop's thread, or before `run()`.
  ///
  /// The system resolves a name for each call. All its addresses are tried, one after the other, until one accepts.
  ///
  /// Returns the pending connection, so that the caller can close it (after a timeout, for example) or write to it:
  /// such writes wait. The connection is paused: call `resumeReading()` in `completion`. A loop whose connection was
  /// closed while the system resolved its host can be closed only when the system has returned.
  /// - Parameters:
  ///   - loop: The loop of the connection.
  ///   - address: A host, or the path of a Unix socket.
  ///   - options: The time limit, and the layer between the connection and its socket.
  ///   - file: The source file of the call, for the report of open handles.
  ///   - line: The line of the call.
  ///   - completion: Called exactly once, on the loop's thread: with the connection, or with `.connectionRefused`,
  ///     `.unknownHost`, `.timedOut`, `.layerFailed`, `.cancelled` (closed meanwhile) or another code of the system. A
  ///     connection that failed is closed.
  /// - Throws: Errors that are known at once: `.invalidArgument` for a port out of range, `.loopClosed`.
  @discardableResult
  package static func connect(
    on loop: EventLoop, to address: SocketAddress, options: ConnectOptions, file: StaticString = #fileID,
    line: UInt = #line, completion: @escaping @Sendable (Result<TCPConnection, EventLoopError>) -> Void
  ) throws(EventLoopError) -> TCPConnection {
    try address.checkPort()
    let connection = try TCPConnection(connectingOn: loop, site: CreationSite(file: file, line: line))
    let link = ClientLink(of: connection, to: address, options: options, completion)
    unsafe connection.link = link
    link.connect()
    return connection
  }
}
