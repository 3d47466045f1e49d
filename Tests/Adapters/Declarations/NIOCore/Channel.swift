// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol Channel: AnyObject, Sendable {
  var eventLoop: any EventLoop { get }
  var pipeline: ChannelPipeline { get }
  func close() async throws
  /// Closes the channel, on its loop.
  func closeNow()
  /// Writes to the other end, on the loop.
  func writeNow(_ data: NIOAny)
}

public struct NIOAny {
  public let value: Any

  public init<T>(_ value: T) { self.value = value }
}

public struct ByteBuffer: Sendable, Hashable {
  fileprivate let text: String

  public init(string: String) { text = string }
}

extension String {
  public init(buffer: ByteBuffer) { self = buffer.text }
}

public protocol ChannelHandler: AnyObject {}

public protocol _EmittingChannelHandler {
  associatedtype OutboundOut = Never
}

extension _EmittingChannelHandler {
  public func wrapOutboundOut(_ value: OutboundOut) -> NIOAny { NIOAny(value) }
}

public protocol _ChannelInboundHandler: ChannelHandler {
  func channelActive(context: ChannelHandlerContext)
  func channelInactive(context: ChannelHandlerContext)
  func channelRead(context: ChannelHandlerContext, data: NIOAny)
  func errorCaught(context: ChannelHandlerContext, error: any Error)
}

public protocol ChannelInboundHandler: _ChannelInboundHandler, _EmittingChannelHandler {
  associatedtype InboundIn
}

extension ChannelInboundHandler {
  public func unwrapInboundIn(_ value: NIOAny) -> InboundIn {
    guard let content = value.value as? InboundIn else { preconditionFailure("the pipeline has another type") }
    return content
  }
}

/// The context of the one handler of a channel.
public final class ChannelHandlerContext {
  public let channel: any Channel

  public init(channel: any Channel) { self.channel = channel }

  public var eventLoop: any EventLoop { channel.eventLoop }

  public func fireChannelActive() {}
  public func fireChannelInactive() {}
  public func fireErrorCaught(_ error: any Error) {}

  public func writeAndFlush(_ data: NIOAny, promise: EventLoopPromise<Void>?) { channel.writeNow(data) }

  public func close(promise: EventLoopPromise<Void>?) { channel.closeNow() }
}

public final class ChannelPipeline: @unchecked Sendable {  // used on the loop only
  public private(set) var handler: (any _ChannelInboundHandler)?

  public init() {}

  public var syncOperations: SynchronousOperations { SynchronousOperations(pipeline: self) }

  public struct SynchronousOperations {
    fileprivate let pipeline: ChannelPipeline

    public func addHandler(_ handler: any ChannelHandler) throws {
      pipeline.handler = handler as? any _ChannelInboundHandler
    }
  }
}
