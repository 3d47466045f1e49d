import Testing

@testable import BeansEventLoop

@Suite struct SocketAddressTests {
  @Test func anAddressDescribesBothFamilies() {
    #expect(SocketAddress(host: "127.0.0.1", port: 80).description == "127.0.0.1:80")
    #expect(SocketAddress(host: "::1", port: 80).description == "[::1]:80")
  }

  @Test(arguments: [
    ("localhost", 80), ("", 80), ("127.0.0.1", -1), ("::1", 65_536), ("1.2.3", 1), ("127.0.0.1\0x", 80), ("::1\0", 80),
    ("127.0.0.1\0", 80), ("\0", 80),
  ])
  func malformedAddressesAreRefused(host: String, port: Int) {
    #expect(code { _ = try SocketAddress(host: host, port: port).native() } == .invalidArgument)
  }
}
