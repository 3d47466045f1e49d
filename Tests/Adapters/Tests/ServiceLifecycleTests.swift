import Beans
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import UnixSignals

@testable import ServiceLifecycleListings

extension SignalTests {
  @Suite("swift-service-lifecycle") struct ServiceLifecycleTests {
    @Test("A signal ends services and running beans one after the other, in the order of the graph")
    func signal() async throws {
      let shop = try Environment(name: "shop")
      try declareServices(in: shop)
      let (runs, isRunning) = AsyncStream.makeStream(of: Void.self)
      try shop.define(
        shop.bean(Watch.self, factory: { (consumer: Consumer, feed: ServiceBean<Feed>) in Watch(isRunning) }))
      async let serving: Void = serve(shop)
      for await _ in runs {}
      let journal = try shop.getBean(Journal.self)
      UnixSignal.sigterm.deliver()
      try await serving
      #expect(
        journal.lines.withLock { $0 } == ["feed runs", "consumer runs", "consumer has ended", "feed has ended"])
    }

    @Test("A service bean that is cancelled before its start ends without an error")
    func cancelledEarly() async throws {
      let bean = ServiceBean(Feed(journal: Journal()))
      let run = Task {
        while !Task.isCancelled { await Task.yield() }
        try await bean.run()
      }
      run.cancel()
      try await run.value
    }

    /// Runs after the beans that it takes.
    final class Watch: RunnableBean {
      private let isRunning: AsyncStream<Void>.Continuation

      init(_ isRunning: AsyncStream<Void>.Continuation) { self.isRunning = isRunning }

      func run() async throws { isRunning.finish() }
    }
  }
}
