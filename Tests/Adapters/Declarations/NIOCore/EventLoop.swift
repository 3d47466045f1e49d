// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on SwiftNIO: the signatures are those of NIOCore, the rest is as little
// as the listings need to run.

public protocol EventLoopGroup: AnyObject, Sendable {
  func next() -> any EventLoop
}

public protocol EventLoop: EventLoopGroup {
  var inEventLoop: Bool { get }
  var taskExecutor: any TaskExecutor { get }
  func execute(_ task: @escaping @Sendable () -> Void)
}

extension EventLoop {
  public func next() -> any EventLoop { self }

  public func makeCompletedFuture<Success: Sendable>(
    withResultOf body: () throws -> Success
  ) -> EventLoopFuture<Success> { EventLoopFuture(Result(catching: body)) }
}

/// A result that is known from the beginning.
public final class EventLoopFuture<Value: Sendable>: Sendable {
  public let result: Result<Value, any Error>

  public init(_ result: Result<Value, any Error>) { self.result = result }

  public func get() async throws -> Value { try result.get() }
}

public struct EventLoopPromise<Value: Sendable>: Sendable {}
