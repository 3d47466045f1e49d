import Beans
import NIOCore

// listing
/// Opens an environment for its connection, and ends it with the connection.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let connections: EnvironmentFactory<Connection>
  private var environment: Environment?

  init(_ connections: EnvironmentFactory<Connection>) { self.connections = connections }

  func channelActive(context: ChannelHandlerContext) {
    do {
      environment = try connections.build(Connection(channel: context.channel))
      context.fireChannelActive()
    } catch { errorCaught(context: context, error: error) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    do {
      let reply = try environment?.getBean(Dialogue.self).reply(to: String(buffer: unwrapInboundIn(data)))
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: reply ?? "")), promise: nil)
    } catch { errorCaught(context: context, error: error) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    environment?.finish()
    environment = nil
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
// end
