// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans
import BeansEventLoop
import BeansServer
import Dispatch
import Synchronization

// end

struct LoopsAndThreads {
  struct Visitor: Sendable { let name: String }

  // Confined to the loop of its request.
  final class Basket {
    private(set) var items: [String] = []
    private let visitor: Visitor
    init(visitor: Visitor) { self.visitor = visitor }
    func add(_ item: String) -> Int {
      items.append(item)
      return items.count
    }
  }
}

extension LoopsAndThreads {
  // continued
  func listen(on loop: EventLoop) async throws -> TCPListener {
    try await Task(executorPreference: loop) {
      try TCPListener(on: loop) { connection in connection.closeAfterWrites() }
    }.value
  }

  func close(_ listener: TCPListener) {
    listener.loop.execute { listener.close() }
  }
  // end

  // listing
  actor Inbox {
    private let loop: EventLoop
    private var messages: [String] = []

    init(on loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func add(_ message: String) -> Int {
      messages.append(message)
      return messages.count
    }
  }
  // end

  // listing
  func declareRequests(in shop: Environment, on loop: EventLoop) throws -> EnvironmentFactory<Visitor> {
    try shop.define(Basket.self, factory: Basket.init) {
      $0.scope("request").assumeSendable("the loop of its request uses it")
        .onDestroy { basket in print("\(basket.items.count) items left") }
    }
    return try shop.childFactory("request", seed: Visitor.self, scope: { RequestScope(loop: loop) })
  }

  func serve(_ visitor: Visitor, _ requests: EnvironmentFactory<Visitor>, on loop: EventLoop) async throws -> Int {
    try await Task(executorPreference: loop) {
      try requests.withChild(visitor) { request in try request.getBean(Basket.self).add("tea") }
    }.value
  }
  // end

  // listing
  final class Archive: Sendable {
    private let queue = DispatchQueue(label: "archive")
    private let lines = Mutex<[String]>([])

    func write(_ line: String) async -> Int {
      await withCheckedContinuation { written in
        queue.async { written.resume(returning: self.append(line)) }
      }
    }

    /// Blocks its thread, as a call of a C library does.
    private func append(_ line: String) -> Int {
      lines.withLock {
        $0.append(line)
        return $0.count
      }
    }
  }
  // end
}
