// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
import HTTPTypes
public import Logging
public import ServiceLifecycle
import Synchronization
public import UnixSignals

public struct BindAddress: Sendable {
  /// The address as text.
  public let description: String

  public static func hostname(_ host: String = "127.0.0.1", port: Int = 8080) -> Self {
    Self(description: "\(host):\(port)")
  }
}

public struct ApplicationConfiguration: Sendable {
  public var address: BindAddress

  public init(address: BindAddress = .hostname()) { self.address = address }
}

/// Serves requests from its start to its graceful shutdown.
public struct Application: Service {
  public let logger = Logger(label: "Hummingbird")
  package let responder: any HTTPResponder<BasicRequestContext>
  private let address: String
  private var processes: [@Sendable () async throws -> Void] = []

  public init(
    router: Router<BasicRequestContext>, configuration: ApplicationConfiguration = ApplicationConfiguration()
  ) { self.init(responder: router.buildResponder(), configuration: configuration) }

  public init(
    responder: some HTTPResponder<BasicRequestContext>,
    configuration: ApplicationConfiguration = ApplicationConfiguration()
  ) { (self.responder, address) = (responder, configuration.address.description) }

  public mutating func beforeServerStarts(perform process: @escaping @Sendable () async throws -> Void) {
    processes.append(process)
  }

  /// Runs until one of the signals arrives.
  public func runService(gracefulShutdownSignals: [UnixSignal] = [.sigterm, .sigint]) async throws {
    try await ServiceGroup(services: [self], gracefulShutdownSignals: gracefulShutdownSignals, logger: logger).run()
  }

  public func run() async throws {
    for process in processes { try await process() }
    Server.start(responder, at: address)
    try await gracefulShutdown()
    await Server.drain(address)
  }
}

/// The servers of this process, by their addresses.
public enum Server {
  private struct State {
    var responders: [String: any HTTPResponder<BasicRequestContext>] = [:]
    var inFlight: [String: Int] = [:]
    var waiters: [String: [CheckedContinuation<Void, Never>]] = [:]
  }

  private static let state = Mutex(State())

  static func start(_ responder: any HTTPResponder<BasicRequestContext>, at address: String) {
    state.withLock { state in
      state.responders[address] = responder
      return state.waiters.removeValue(forKey: address) ?? []
    }.forEach { $0.resume() }
  }

  static func drain(_ address: String) async {
    state.withLock { state in
      state.responders[address] = nil
      return state.waiters.removeValue(forKey: address) ?? []
    }.forEach { $0.resume() }
    await wait(address) { $0.inFlight[address, default: 0] == 0 }
  }

  /// Returns when the server accepts no requests any more. It must have been started.
  public static func untilDraining(_ address: BindAddress) async {
    let address = address.description
    await wait(address) { $0.responders[address] == nil }
  }

  private static func wait(_ address: String, until isDone: @Sendable (inout State) -> Bool) async {
    while true {
      var isOver = false
      await withCheckedContinuation { continuation in
        isOver = state.withLock { state in
          let isOver = isDone(&state)
          if !isOver { state.waiters[address, default: []].append(continuation) }
          return isOver
        }
        if isOver { continuation.resume() }
      }
      if isOver { return }
    }
  }

  /// Sends a request to a server, as soon as that runs. Returns the response and its body.
  public static func respond(to request: Request, at address: BindAddress) async throws -> (Response, String) {
    let address = address.description
    await wait(address) { $0.responders[address] != nil }
    let responder = state.withLock { state in
      state.inFlight[address, default: 0] += 1
      return state.responders[address]
    }
    defer {
      state.withLock { state in
        state.inFlight[address, default: 0] -= 1
        return state.waiters.removeValue(forKey: address) ?? []
      }.forEach { $0.resume() }
    }
    guard let response = try await responder?.respond(to: request, context: BasicRequestContext()) else {
      throw HTTPError(.internalServerError)
    }
    return (response, try await response.body.text())
  }
}

extension ResponseBody {
  /// Writes the body, and returns it.
  package func text() async throws -> String {
    let text = Text()
    try await write(text)
    return text.content.withLock { $0 }
  }
}

/// A body as text.
private final class Text: ResponseBodyWriter, Sendable {
  let content = Mutex("")

  func write(_ buffer: ByteBuffer) async throws { content.withLock { $0 += buffer.string } }
  func finish(_ trailingHeaders: [String: String]?) async throws {}
}
