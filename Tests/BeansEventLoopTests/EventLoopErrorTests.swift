import Glibc
import Testing

@testable import BeansEventLoop

@Suite struct EventLoopErrorTests {
  @Test func anErrorHasOperationReasonAndName() {
    let error = EventLoopError(status: -EADDRINUSE, "listen on 127.0.0.1:80")
    #expect(error.code == .addressInUse)
    #expect(error.libuvCode == -EADDRINUSE)
    #expect(error.name == "EADDRINUSE")
    #expect(error.description == "listen on 127.0.0.1:80: address already in use (EADDRINUSE)")
  }

  @Test func ownCodesHaveNames() {
    let error = EventLoopError(.openHandles, "close an event loop", detail: "1 TCPListener")
    #expect(error.libuvCode == nil)
    #expect(error.name == "openHandles")
    #expect(error.description == "close an event loop: handles are still open (openHandles): 1 TCPListener")
  }

  @Test func equalityComparesTheCodeOnly() {
    #expect(EventLoopError(.cancelled, "write") == EventLoopError(.cancelled, "connect", detail: "x"))
    #expect(EventLoopError(.cancelled, "write") != EventLoopError(.endOfFile, "write"))
  }

  @Test func anUnknownNumberHasADescription() {
    #expect(EventLoopError(status: -9_999, "read").description.contains("9999"))
  }
}
