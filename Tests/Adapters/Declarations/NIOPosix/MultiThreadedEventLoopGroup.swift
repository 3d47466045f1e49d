// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation
public import NIOCore

// Declarations for the listings of the article on SwiftNIO, with the signatures of NIOPosix. Connections have no
// sockets: a test connects to a server's channel, and takes the replies from the connection's.

/// A group of one loop.
public final class MultiThreadedEventLoopGroup: EventLoopGroup {
  private static let keyOfLoop = "NIOPosix.currentEventLoop"
  private let loop: ThreadLoop

  public init(numberOfThreads: Int) { loop = ThreadLoop() }

  public static var currentEventLoop: (any EventLoop)? {
    Thread.current.threadDictionary[keyOfLoop] as? ThreadLoop
  }

  public func next() -> any EventLoop { loop }

  public func shutdownGracefully() async throws {
    await withCheckedContinuation { continuation in loop.end { continuation.resume() } }
  }

  fileprivate static func setCurrent(_ loop: ThreadLoop) { Thread.current.threadDictionary[keyOfLoop] = loop }
}

/// A thread that runs tasks in order.
private final class ThreadLoop: EventLoop, TaskExecutor, @unchecked Sendable {  // `condition` guards `tasks`
  private let condition = NSCondition()
  private var tasks: [@Sendable () -> Void] = []
  private var whenEnded: (@Sendable () -> Void)?

  init() {
    Thread.detachNewThread { [self] in
      MultiThreadedEventLoopGroup.setCurrent(self)
      while let task = next() { task() }
      whenEnded?()
    }
  }

  private func next() -> (@Sendable () -> Void)? {
    condition.lock()
    defer { condition.unlock() }
    while tasks.isEmpty, whenEnded == nil { condition.wait() }
    return tasks.isEmpty ? nil : tasks.removeFirst()
  }

  var inEventLoop: Bool { MultiThreadedEventLoopGroup.currentEventLoop === self }
  var taskExecutor: any TaskExecutor { self }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  func execute(_ task: @escaping @Sendable () -> Void) {
    condition.withLock { tasks.append(task) }
    condition.signal()
  }

  func end(_ ended: @escaping @Sendable () -> Void) {
    condition.withLock { whenEnded = ended }
    condition.signal()
  }
}

public final class ServerBootstrap {
  private let group: any EventLoopGroup
  private var initializer: @Sendable (any Channel) -> EventLoopFuture<Void> = { _ in EventLoopFuture(.success(())) }

  public init(group: any EventLoopGroup) { self.group = group }

  public func childChannelInitializer(
    _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) -> Self {
    self.initializer = initializer
    return self
  }

  public func bind(host: String, port: Int) -> EventLoopFuture<any Channel> {
    EventLoopFuture(.success(ServerChannel(loop: group.next(), initializer)))
  }
}

/// A channel that listens.
public final class ServerChannel: Channel {
  public let eventLoop: any EventLoop
  public let pipeline = ChannelPipeline()
  private let initializer: @Sendable (any Channel) -> EventLoopFuture<Void>

  fileprivate init(loop: any EventLoop, _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>) {
    (eventLoop, self.initializer) = (loop, initializer)
  }

  /// Opens a connection, for tests.
  public func accept() -> ConnectionChannel {
    let channel = ConnectionChannel(loop: eventLoop)
    eventLoop.execute { [initializer] in
      _ = initializer(channel)
      channel.pipeline.handler?.channelActive(context: ChannelHandlerContext(channel: channel))
    }
    return channel
  }

  public func close() async throws {}
  public func closeNow() {}
  public func writeNow(_ data: NIOAny) {}
}

/// The channel of a connection.
public final class ConnectionChannel: Channel {
  public let eventLoop: any EventLoop
  public let pipeline = ChannelPipeline()
  /// The output of the handler until the channel is closed, for tests.
  public let replies: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  fileprivate init(loop: any EventLoop) {
    eventLoop = loop
    (replies, continuation) = AsyncStream.makeStream()
  }

  /// Receives a text from the other end, for tests.
  public func receive(_ text: String) {
    eventLoop.execute { [self] in
      let data = NIOAny(ByteBuffer(string: text))
      pipeline.handler?.channelRead(context: ChannelHandlerContext(channel: self), data: data)
    }
  }

  public func close() async throws {
    await withCheckedContinuation { continuation in
      eventLoop.execute { [self] in
        closeNow()
        continuation.resume()
      }
    }
  }

  public func closeNow() {
    pipeline.handler?.channelInactive(context: ChannelHandlerContext(channel: self))
    continuation.finish()
  }

  public func writeNow(_ data: NIOAny) {
    if let buffer = data.value as? ByteBuffer { continuation.yield(String(buffer: buffer)) }
  }
}
