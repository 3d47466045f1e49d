// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the articles on services: the signatures are those of ServiceLifecycle, the rest is
// as little as the listings need to run.
public import Logging
public import UnixSignals

public protocol Service: Sendable {
  func run() async throws
}

public struct ServiceGroupError: Error, Hashable, Sendable {
  private let text: String

  public static func alreadyFinished(file: String = #fileID, line: Int = #line) -> Self { Self(text: "finished") }

  public static func serviceFinishedUnexpectedly(
    file: String = #fileID, line: Int = #line, service: String? = nil
  ) -> Self { Self(text: "unexpected end") }
}

/// Runs services side by side; a graceful shutdown ends them one after the other, the last one first.
public actor ServiceGroup: Sendable {
  private enum Event {
    case shutdown
    case ended(Int, (any Error)?)
  }

  private let services: [any Service]
  private let signals: [UnixSignal]
  private let shutdown = AsyncStream.makeStream(of: Void.self)
  private var isFinished = false

  public init(
    services: [any Service], gracefulShutdownSignals: [UnixSignal] = [], cancellationSignals: [UnixSignal] = [],
    logger: Logger
  ) { (self.services, signals) = (services, gracefulShutdownSignals) }

  public func triggerGracefulShutdown() async {
    isFinished = true
    shutdown.continuation.finish()
  }

  public func run() async throws {
    if isFinished { throw ServiceGroupError.alreadyFinished() }
    let (services, shutdown) = (services, shutdown)
    UnixSignal.listen(signals) { shutdown.continuation.finish() }
    try await withGracefulShutdownHandler {
      try await Self.run(services, until: shutdown.stream)
    } onGracefulShutdown: {
      shutdown.continuation.finish()
    }
  }

  private static func run(_ services: [any Service], until shutdown: AsyncStream<Void>) async throws {
    let managers = services.map { _ in GracefulShutdownManager() }
    try await withThrowingTaskGroup(of: Event.self) { group in
      for (number, service) in services.enumerated() {
        group.addTask {
          do {
            try await GracefulShutdownManager.$current.withValue(managers[number]) { try await service.run() }
          } catch { return .ended(number, error) }
          return .ended(number, nil)
        }
      }
      group.addTask {
        for await _ in shutdown {}
        return .shutdown
      }
      var isEnding = false
      var running = Set(services.indices)
      while !running.isEmpty, let event = try await group.next() {
        switch event {
        case .shutdown: isEnding = true
        case .ended(_, let error?): throw error
        case .ended(let number, nil):
          if !isEnding { throw ServiceGroupError.serviceFinishedUnexpectedly() }
          running.remove(number)
        }
        if isEnding, let last = running.max() { managers[last].shutDown() }
      }
      group.cancelAll()
    }
  }
}
