import Glibc
import Testing

@testable import BeansEventLoop

/// Connections to names and to Unix sockets.
@Suite(.timeLimit(.minutes(5))) struct HostNameTests {
  /// Connects on a loop of its own, runs `body` with the result on the loop's thread, and closes the loop without a handle.
  private static func connect(
    on loop: EventLoop, to address: SocketAddress, _ options: ConnectOptions = ConnectOptions()
  ) throws -> Result<String, EventLoopError> {
    let outcome = Box<Result<String, EventLoopError>?>(nil)
    try TCPConnection.connect(on: loop, to: address, options: options) { result in
      // A Unix socket has no peer with an address.
      outcome.update { $0 = result.map { $0.peerAddress?.description ?? "" } }
      if case .success(let connection) = result { connection.close() }
      loop.stop()
    }
    try loop.run()
    return try #require(outcome.value)
  }

  private static func failure(_ result: Result<String, EventLoopError>) -> EventLoopError? {
    if case .failure(let error) = result { error } else { nil }
  }

  /// A port at which nothing listens.
  private static func freePort(on loop: EventLoop) throws -> Int {
    let listener = try TCPListener(on: loop) { _ in }
    listener.close()
    return listener.port
  }

  @Test func aNameOfTheSystemIsResolved() throws {
    let loop = try EventLoop()
    // The listener has one of the addresses of the name.
    let listener = try TCPListener(on: loop, host: "127.0.0.1") { $0.close() }
    let peer = try Self.connect(on: loop, to: SocketAddress(host: "localhost", port: listener.port)).get()
    #expect(peer == "127.0.0.1:\(listener.port)")
    listener.close()
    try loop.close()
  }

  @Test func theNextAddressIsTriedWhenOneRefuses() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { $0.close() }
    let (closed, port) = (try Self.freePort(on: loop), listener.port)
    var options = ConnectOptions()
    options.resolve = { _ in
      [
        SocketAddress(host: "::1", port: closed), SocketAddress(host: "127.0.0.1", port: closed),
        SocketAddress(host: "127.0.0.1", port: port),
      ]
    }
    let peer = try Self.connect(on: loop, to: SocketAddress(host: "redis", port: 6379), options).get()
    #expect(peer == "127.0.0.1:\(port)")
    listener.close()
    try loop.close()
  }

  @Test func aFailureNamesTheHostAndEachAddress() throws {
    let loop = try EventLoop()
    let closed = try Self.freePort(on: loop)
    var options = ConnectOptions()
    options.resolve = { _ in
      [SocketAddress(host: "127.0.0.1", port: closed), SocketAddress(host: "127.0.0.2", port: closed)]
    }
    let error = Self.failure(try Self.connect(on: loop, to: SocketAddress(host: "redis", port: 6379), options))
    #expect(error?.code == .connectionRefused)
    #expect(error?.operation == "connect to redis:6379")
    #expect(error?.detail == "127.0.0.1:\(closed): ECONNREFUSED, 127.0.0.2:\(closed): ECONNREFUSED")
    try loop.close()
  }

  @Test func anUnknownHostFailsWithTheReasonOfTheResolver() throws {
    let loop = try EventLoop()
    let error = try #require(
      Self.failure(try Self.connect(on: loop, to: SocketAddress(host: unknownHost, port: 6379))))
    #expect(error.meansNoServer)
    #expect(error.name.hasPrefix("EAI_"), "\(error)")
    #expect("\(error)".contains("\(unknownHost):6379"))
    try loop.close()
  }

  @Test(arguments: ["local\0host", "\0"]) func aHostWithANULIsRefused(host: String) throws {
    let loop = try EventLoop()
    let error = Self.failure(try Self.connect(on: loop, to: SocketAddress(host: host, port: 6379)))
    #expect(error?.code == .invalidArgument)
    #expect(code { try TCPConnection.connect(on: loop, host: "localhost", port: 65_536) { _ in } } == .invalidArgument)
    try loop.close()
  }

  /// A listener whose queue is full does not reply to further connections.
  @Test func anAddressThatDoesNotReplyLeavesTimeForTheNext() throws {
    let full = try FullListener()
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { $0.close() }
    let port = listener.port
    var options = ConnectOptions()
    options.timeout = .seconds(2)
    let silent = full.port
    options.resolve = { _ in
      [SocketAddress(host: "127.0.0.1", port: silent), SocketAddress(host: "127.0.0.1", port: port)]
    }
    let peer = try Self.connect(on: loop, to: SocketAddress(host: "redis", port: 6379), options).get()
    #expect(peer == "127.0.0.1:\(port)")
    options.resolve = { _ in [SocketAddress(host: "127.0.0.1", port: silent)] }
    options.timeout = .milliseconds(50)
    let error = Self.failure(try Self.connect(on: loop, to: SocketAddress(host: "redis", port: 6379), options))
    #expect(error?.code == .timedOut)
    listener.close()
    try loop.close()
  }

  @Test func aConnectionMayBeClosedWhileItsHostIsResolved() throws {
    let loop = try EventLoop()
    let codes = Box<[EventLoopError.Code]>([])
    let count = 200
    for _ in 0..<count {
      let connection = try TCPConnection.connect(on: loop, host: "localhost", port: 1) { result in
        if case .failure(let error) = result { codes.update { $0.append(error.code) } }
      }
      connection.close()
    }
    try loop.close()
    #expect(codes.value == Array(repeating: .cancelled, count: count))
    #expect(loop.handleTotals == (count, count))
  }

  @Test func resolutionsReleaseWhatTheyHold() throws {
    let population = Box(0)
    let loop = try EventLoop()
    for isClosed in [true, false] {
      for _ in 0..<20 {
        let canary = Canary(population)
        let connection = try TCPConnection.connect(on: loop, host: unknownHost, port: 1) { _ in canary.sing() }
        if isClosed { connection.close() }
      }
    }
    while !loop.openHandles.isEmpty { try turn(loop) }
    try loop.close()
    #expect(population.value == 0)
  }

  @Test func aUnixSocketIsConnected() throws {
    let path = "/tmp/beans-\(getpid())-\(UInt32.random(in: 0 ... .max)).sock"
    let address = SocketAddress(host: "unix:\(path)", port: 0)
    let loop = try EventLoop()
    #expect(Self.failure(try Self.connect(on: loop, to: address))?.code == .notFound)
    let listener = try UnixListener(path)
    #expect(try Self.connect(on: loop, to: address).get() == "")
    listener.end()
    let error = Self.failure(try Self.connect(on: loop, to: address))
    #expect(error?.code == .connectionRefused)
    #expect(error?.operation == "connect to unix:\(path)")
    unlink(path)
    for malformed in ["", String(repeating: "a", count: 200), "a\0b"] {
      let error = Self.failure(try Self.connect(on: loop, to: SocketAddress(host: "unix:\(malformed)", port: 0)))
      #expect(error?.code == .invalidArgument)
    }
    try loop.close()
  }

  /// Runs one turn of a loop.
  private func turn(_ loop: EventLoop) throws {
    loop.schedule(after: .milliseconds(1)) { loop.stop() }
    try loop.run()
  }
}

/// A listener that accepts no connection, with a full queue.
private final class FullListener {
  let port: Int
  private let descriptors: [Int32]

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var descriptors = [listener]
    try withUnsafeMutablePointer(to: &address) {
      try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try #require(bind(listener, $0, length) == 0)
        try #require(listen(listener, 0) == 0)
        try #require(getsockname(listener, $0, &length) == 0)
        for _ in 0..<8 {
          let client = socket(
            AF_INET,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
          _ = connect(client, $0, length)
          descriptors.append(client)
        }
      }
    }
    port = Int(address.sin_port.bigEndian)
    self.descriptors = descriptors
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}

/// A Unix socket that listens.
private struct UnixListener {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(status == 0)
    try #require(listen(descriptor, 8) == 0)
  }

  func end() { close(descriptor) }
}
