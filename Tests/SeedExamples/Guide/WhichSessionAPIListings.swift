// Each marked listing is in the article to the letter: see SessionsGuideTests.swift.

struct WhichSessionAPI {
  struct Visitor: Sendable { let name: String }
  struct Greeting: Sendable {
    let text: String
    init(visitor: Visitor) { text = "Hello, \(visitor.name)!" }
  }
}

// listing
import Beans
import BeansSessions

// end

extension WhichSessionAPI {
  // continued
  /// The state of one request.
  func greet(_ visitor: Visitor, _ requests: EnvironmentFactory<Visitor>) throws -> String {
    try requests.withChild(visitor) { request in try request.getBean(Greeting.self).text }
  }

  /// The state of one connection, which keeps the handle until it is closed.
  func connect(_ visitor: Visitor, _ requests: EnvironmentFactory<Visitor>) throws -> ChildHandle {
    try requests.open(visitor)
  }

  /// The state of a client with an id, in this process.
  func visit(_ id: String, _ sessions: SessionRegistry<Void>) throws -> Int? {
    try sessions.withSession(id) { session in try session.getBean(Visits.self).next() }
  }

  /// The state of a client with an id, in a store.
  func visit(_ id: String?, _ sessions: SessionManager) async throws -> SessionAnswer<Int> {
    try await sessions.withSession(id) { session in try session.environment.getBean(StoredVisits.self).next() }
  }
  // end
}

// listing
import Beans
import BeansSessions
import Synchronization

// end

extension WhichSessionAPI {
  // continued
  final class Visits: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }

  final class StoredVisits: Sendable {
    private let count: SessionValue<Int>

    init(state: SessionState) throws { count = try state.value("visits", default: 0) }

    func next() -> Int {
      count.update { count in
        count += 1
        return count
      }
    }
  }
  // end
}
