import BeansEventLoop
import Glibc
import Testing

@Suite(.serialized, .timeLimit(.minutes(20)))
struct SignalSourceTests {
  @Test func aSourceDeliversOnTheLoopsThread() throws {
    let loop = try EventLoop()
    let delivered = Box<[Bool]>([])
    let source = try loop.onSignal(SIGUSR1) {
      delivered.update { $0.append(loop.isCurrent) }
      loop.stop()
    }
    #expect(source.number == SIGUSR1)
    loop.execute { kill(getpid(), SIGUSR1) }
    try loop.run()
    #expect(delivered.value == [true])
    source.close()
    source.close()
    try loop.close()
  }

  @Test func severalLoopsGetTheSameSignal() throws {
    let arrived = Event()
    let ready = Event()
    let sources = Box<[SignalSource]>([])
    let threads = try (0..<2).map { _ in
      try EventLoopThread { loop throws(EventLoopError) in
        let source = try loop.onSignal(SIGUSR1) { arrived.signal() }
        sources.update { $0.append(source) }
        ready.signal()
      }
    }
    for _ in threads { ready.wait() }
    kill(getpid(), SIGUSR1)
    for _ in threads { arrived.wait() }
    for source in sources.value { source.cancel() }
    for thread in threads { try thread.stopAndJoin() }
  }

  @Test func aSourceMayCancelItselfInItsCallback() throws {
    let loop = try EventLoop()
    let count = Box(0)
    let source = Box<SignalSource?>(nil)
    let made = try loop.onSignal(SIGUSR1) {
      count.update { $0 += 1 }
      source.value?.cancel()
      loop.stop()
    }
    source.update { $0 = made }
    loop.execute { kill(getpid(), SIGUSR1) }
    try loop.run()
    #expect(!made.isOpen)
    try loop.close()
    #expect(count.value == 1)
  }

  @Test func signalsThatCannotBeCaughtAreRefused() throws {
    let loop = try EventLoop()
    #expect(code { try loop.onSignal(SIGKILL) {} } == .invalidArgument)
    #expect(code { try loop.onSignal(-3) {} } == .invalidArgument)
    try loop.close()
    #expect(loop.handleTotals.opened == 2)
    #expect(loop.handleTotals.closed == 2)
  }

  @Test func aClosedSourceReleasesItsClosure() throws {
    let loop = try EventLoop()
    let population = Box(0)
    let source: SignalSource
    do {
      let canary = Canary(population)
      source = try loop.onSignal(SIGUSR1) { canary.sing() }
    }
    #expect(population.value == 1)
    source.close()
    try loop.close()
    #expect(population.value == 0)
  }

  @Test(arguments: [false, true]) func aSignalCanBeIgnoredFromTheCloseOn(_ isOutOfDescriptors: Bool) async {
    if isOutOfDescriptors {
      await #expect(processExitsWith: .success) { try Self.closeIgnoring(isOutOfDescriptors: true) }
    } else {
      await #expect(processExitsWith: .success) { try Self.closeIgnoring(isOutOfDescriptors: false) }
    }
  }

  private static func closeIgnoring(isOutOfDescriptors: Bool) throws {
    let loop = try EventLoop()
    let sources = try (0..<2).map { _ in try loop.onSignal(SIGUSR1) {} }
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    getrlimit(kind, &limit)
    let most = limit.rlim_cur
    if isOutOfDescriptors { limit.rlim_cur = 3 }
    precondition(setrlimit(kind, &limit) == 0)
    for source in sources {
      source.closeIgnoringSignal()
      kill(getpid(), SIGUSR1)
    }
    limit.rlim_cur = most
    precondition(setrlimit(kind, &limit) == 0)
    try loop.close()
    kill(getpid(), SIGUSR1)
  }
}
