import Beans
import BeansEventLoop
import BeansServer
import Testing

@Suite("The article on loops and threads") struct LoopsAndThreadsTests {
  private let guide = LoopsAndThreads()

  @Test("A listener is created on the loop, by a task that prefers it")
  func listening() async throws {
    let thread = try EventLoopThread(name: "guide")
    let listener = try await guide.listen(on: thread.loop)
    #expect(listener.port > 0)
    guide.close(listener)
    try thread.stopAndJoin()
  }

  @Test("An actor on a loop runs there")
  func actors() async throws {
    let thread = try EventLoopThread(name: "guide")
    let inbox = LoopsAndThreads.Inbox(on: thread.loop)
    #expect(await inbox.add("hello") == 1)
    let isOnLoop = await Task(executorPreference: thread.loop) {
      thread.loop.isCurrent && inbox.assumeIsolated { $0.add("again") } == 2
    }.value
    #expect(isOnLoop)
    try thread.stopAndJoin()
  }

  @Test("A bean of a request is used and released on the loop of the request")
  func requests() async throws {
    let thread = try EventLoopThread(name: "guide")
    let shop = try Environment(name: "shop")
    let requests = try guide.declareRequests(in: shop, on: thread.loop)
    #expect(try await guide.serve(.init(name: "Ada"), requests, on: thread.loop) == 1)
    try await shop.shutdown()
    try thread.stopAndJoin()
  }

  @Test("A task continues on its loop after work that blocks")
  func blocking() async throws {
    let thread = try EventLoopThread(name: "guide")
    let archive = LoopsAndThreads.Archive()
    let (count, isBack) = await Task(executorPreference: thread.loop) {
      (await archive.write("a line"), thread.loop.isCurrent)
    }.value
    #expect(count == 1 && isBack)
    try thread.stopAndJoin()
  }

  @Test("A closure for the loop has no current environment, and a task in a child has one")
  func currentEnvironment() async throws {
    let thread = try EventLoopThread(name: "guide")
    let shop = try Environment(name: "shop")
    let requests = try guide.declareRequests(in: shop, on: thread.loop)
    let found = try await requests.withChild(.init(name: "Ada")) { request in
      let inTask = await Task { Environment.current === request }.value
      let inClosure = await withCheckedContinuation { result in
        thread.loop.execute { result.resume(returning: Environment.current == nil) }
      }
      return (inTask, inClosure, await Task.detached { Environment.current == nil }.value)
    }
    #expect(found == (true, true, true))
    try await shop.shutdown()
    try thread.stopAndJoin()
  }
}
