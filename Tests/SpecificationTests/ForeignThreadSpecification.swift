import Beans
import CForeignThread
import Synchronization
import Testing

/// A legal pattern with C libraries: an initializer hands out its object's address uncounted, and another thread
/// retains and releases the object until the address is taken back. A process of its own contains a crash.
@Suite("Objects used by a C library", .timeLimit(.minutes(20)), .serialized)
struct ForeignThreadSpecification {
  /// The test uses several processes: the timing of the two threads differs more between processes than within one.
  @Test(
    "A bean that a foreign thread retains and releases, from init to preDestroy, is taken and released like any other",
    arguments: 1...4)
  func fromInitToPreDestroy(process: Int) async {
    await #expect(processExitsWith: .success) {
      foreign_thread_start()
      let application = try Environment(name: "application")
      try application.define(application.bean(Pool.self, factory: Pool.init))
      let requests = try application.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(Handle.self, factory: Handle.init))
          .define(request.bean(Reader.self, factory: Reader.init))
          .define(request.bean(Writer.self, factory: Writer.init))
          .define(request.bean(Exchange.self, factory: Exchange.init))
      }
      var wrong = 0
      for number in 0..<ForeignThread.rounds {
        let request = try requests.build(number)
        let exchange = try request.getBean(Exchange.self)
        if exchange.handle !== exchange.reader.handle || exchange.handle !== exchange.writer.handle { wrong += 1 }
        if exchange.handle.number != number { wrong += 1 }
        request.finish()
      }
      try application.shutdown() as Void
      foreign_thread_stop()
      #expect(wrong == 0)
      // Without uses, the test has tested nothing.
      #expect(foreign_thread_uses() > 0)
      #expect(Population.made.load(ordering: .relaxed) == 4 * ForeignThread.rounds)
      #expect(Population.gone.load(ordering: .relaxed) == 4 * ForeignThread.rounds)
    }
  }

  /// The use in the other test is legal, independent of the container.
  @Test("Objects that are created and released by hand stay intact, too")
  func byHand() async {
    await #expect(processExitsWith: .success) {
      foreign_thread_start()
      let pool = Pool()
      var wrong = 0
      for number in 0..<ForeignThread.rounds {
        let handle = Handle(number, pool)
        let exchange = Exchange(handle, Reader(handle), Writer(handle))
        if exchange.handle !== exchange.reader.handle || exchange.handle !== exchange.writer.handle { wrong += 1 }
        if exchange.handle.number != number { wrong += 1 }
        handle.preDestroy()
      }
      foreign_thread_stop()
      #expect(wrong == 0)
      #expect(foreign_thread_uses() > 0)
      #expect(Population.made.load(ordering: .relaxed) == 4 * ForeignThread.rounds)
      #expect(Population.gone.load(ordering: .relaxed) == 4 * ForeignThread.rounds)
    }
  }
}

private enum ForeignThread {
  /// The rounds of one process, a quarter of all.
  #if DEBUG
    static let rounds = 25_000
  #else
    static let rounds = 750_000
  #endif
}

/// The numbers of objects created and deallocated.
private enum Population {
  static let made = Atomic(0)
  static let gone = Atomic(0)
}

private class Counted {
  init() { Population.made.add(1, ordering: .relaxed) }
  deinit { Population.gone.add(1, ordering: .relaxed) }
}

private final class Pool: Sendable {}

/// A wrapper of a C library's handle: the library calls back with its address.
private final class Handle: Counted, DisposableBean {
  let number: Int

  init(_ number: Int, _: Pool) {
    self.number = number
    super.init()
    foreign_thread_watch(Unmanaged.passUnretained(self).toOpaque())
  }

  func preDestroy() { foreign_thread_forget(Unmanaged.passUnretained(self).toOpaque()) }
}

private final class Reader: Counted {
  let handle: Handle
  init(_ handle: Handle) { self.handle = handle }
}

private final class Writer: Counted {
  let handle: Handle
  init(_ handle: Handle) { self.handle = handle }
}

private final class Exchange: Counted {
  let handle: Handle
  let reader: Reader
  let writer: Writer
  init(_ handle: Handle, _ reader: Reader, _ writer: Writer) {
    self.handle = handle
    self.reader = reader
    self.writer = writer
  }
}
