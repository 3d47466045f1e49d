import BeansEventLoop
import BeansServer
import Glibc
import Testing

@Suite struct LoopLagTests {
  @Test func theLagIsTheLongestTimeThatALoopWasBusySinceTheLastCall() throws {
    let threads = try (0..<2).map { try EventLoopThread(name: "lag \($0)") }
    let lag = LoopLag()
    lag.watch(threads.map(\.loop))
    // Time itself is under test: a timer comes due within a tenth of a second, and waits for the rest of this.
    threads[0].loop.execute { usleep(250_000) }
    var worst = Duration.zero
    while worst < .milliseconds(100) { worst = max(worst, lag.takeWorst()[0]) }
    #expect(lag.takeWorst().count == 2)
    for thread in threads { try thread.stopAndJoin() }
    _ = lag.takeWorst()
    #expect(lag.takeWorst() == [.zero, .zero])
  }
}
