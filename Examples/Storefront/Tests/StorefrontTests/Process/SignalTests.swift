import BeansEventLoop
import Dispatch
import Foundation
import Glibc
import Testing

@testable import Storefront

/// The service as a process, and the effect of signals on it.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct SignalTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  @Test(arguments: [SIGTERM, SIGINT]) func aSignalEndsTheServiceWithABalancedReport(_ signal: Int32) throws {
    let service = try ServiceProcess(database: database.path)
    let client = try TestClient(port: try service.port())
    try client.get("/")
    _ = try client.receive()
    service.signal(signal)
    let end = try service.end(signal: false)
    #expect(end.isClean, "\(end.output)")
    #expect(end.count("answered") == 1)
  }

  /// Signals that go on until the process is gone.
  @Test func repeatedSignalsDoNotCutTheReportShort() throws {
    for _ in 0..<20 {
      let service = try ServiceProcess(database: database.path)
      _ = try service.port()
      let id = service.id
      let stop = Flag()
      let sender = Thread {
        while !stop.isRaised {
          kill(id, SIGTERM)
          usleep(50)
        }
      }
      sender.start()
      defer { stop.raise() }
      let end = try service.end()
      #expect(end.isClean, "\(end.status), \(end.isSignal): \(end.output)")
    }
  }

  /// A terminal that closes, or an operator who asks for new configuration, loses no request.
  @Test func aHangUpEndsNothing() throws {
    let service = try ServiceProcess(database: database.path)
    try service.waitUntilSignalsAreHeld()
    // While it starts, while it serves, and while it ends.
    service.signal(SIGHUP)
    let client = try TestClient(port: try service.port())
    try client.get("/")
    #expect(try client.receive().status == 200)
    service.signal(SIGHUP)
    try client.get("/")
    #expect(try client.receive().status == 200)
    service.signal(SIGTERM)
    for _ in 0..<20 { service.signal(SIGHUP) }
    let end = try service.end(signal: false)
    #expect(end.isClean, "\(end.status), \(end.isSignal): \(end.output)")
    #expect(end.count("answered") == 2)
  }

  /// From before the environment is built until all listeners are open.
  @Test(arguments: [2, 8]) func aSignalDuringTheStartEndsWithAReport(loops: Int) throws {
    // The duration of a start on this machine.
    let began = ContinuousClock.now
    let first = try ServiceProcess(database: database.path, environment: ["LOOPS": "\(loops)"])
    _ = try first.port()
    let start = ContinuousClock.now - began
    #expect(try first.end().isClean)
    for step in 0..<30 {
      let service = try ServiceProcess(database: database.path, environment: ["LOOPS": "\(loops)"])
      // The shell and the dynamic linker come first; a signal there ends any process.
      try service.waitUntilSignalsAreHeld()
      let delay = start * step / 30
      usleep(UInt32(delay.components.attoseconds / 1_000_000_000_000))
      let end = try service.end()
      #expect(end.isClean, "after \(delay): \(end.status), \(end.isSignal): \(end.output)")
    }
  }

  /// Clients connect all the time to a known port: each is answered as always, or not at all.
  @Test(arguments: [2, 8]) func aSignalDuringTheStartShowsNoClientAnError(loops: Int) throws {
    let port = try Self.freePort()
    let environment = ["LOOPS": "\(loops)", "PORT": "\(port)"]
    let began = ContinuousClock.now
    let first = try ServiceProcess(database: database.path, environment: environment)
    _ = try first.port()
    let start = ContinuousClock.now - began
    #expect(try first.end().isClean)
    let (isOver, hasBeenAnswered) = (Flag(), DispatchSemaphore(value: 0))
    let clients = (0..<4).map { number in
      BackgroundThread {
        var statuses: Set<Int> = []
        while !isOver.isRaised {
          // Refused, or gone before there was an answer.
          guard let client = try? TestClient(port: port),
            (try? client.get(["/api/products", "/"][number % 2])) != nil, let response = try? client.receive()
          else { continue }
          statuses.insert(response.status)
          hasBeenAnswered.signal()
        }
        return statuses
      }
    }
    for step in 0..<30 {
      let service = try ServiceProcess(database: database.path, environment: environment)
      try service.waitUntilSignalsAreHeld()
      if step % 3 == 2 {
        // In the middle of requests.
        while hasBeenAnswered.wait(timeout: .now()) == .success {}
        hasBeenAnswered.wait()
      } else {
        // The moment of the start is under test: no event marks all of them.
        usleep(UInt32((start * step / 30) / .microseconds(1)))
      }
      let end = try service.end()
      #expect(end.isClean, "step \(step): \(end.status), \(end.isSignal): \(end.output)")
    }
    isOver.raise()
    #expect(Set(try clients.flatMap { try $0.value() }) == [200])
  }

  /// Returns a port without a listener, below those that the system gives to clients: one of them could connect to
  /// itself.
  static func freePort() throws -> Int {
    for _ in 0..<1_000 {
      // Another process that runs these tests looks for one, too.
      let port = Int.random(in: 20_000..<30_000)
      let loop = try EventLoop()
      defer { try? loop.close() }
      guard let listener = try? TCPListener(on: loop, port: port, onConnection: { $0.close() }) else { continue }
      listener.close()
      return port
    }
    throw ServiceProcess.Failure(description: "no port is free")
  }
}

/// Something that is raised once. Safe from any thread.
final class Flag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false  // guarded by the lock

  var isRaised: Bool { lock.withLock { value } }
  func raise() { lock.withLock { value = true } }
}
