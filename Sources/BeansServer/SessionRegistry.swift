public import Beans
@_spi(BeansPackage) import BeansSupport
import Synchronization

/// The sessions of a service, by id. A session leaves by itself when it ends, whatever ended it.
///
/// Safe from any thread; no lock is held while a session is built.
public final class SessionRegistry<Seed>: Sendable {
  private let factory: EnvironmentFactory<Seed>
  private let sessions = Locked<[String: Environment]>([:])

  /// Creates a registry for the children of one factory.
  public init(_ factory: EnvironmentFactory<Seed>) { self.factory = factory }

  /// The number of sessions that have not ended.
  public var count: Int { sessions.withLock { $0.count } }

  /// The session with that id, or nil when there is none or it is ending.
  public func find(_ id: String) -> Environment? {
    sessions.withLock { $0[id] }.flatMap { $0.isFinished ? nil : $0 }
  }

  /// The session with that id, opened if need be. Of two threads that open the same one, both get the same.
  ///
  /// - Throws: what `EnvironmentFactory.build` throws.
  public func open(_ id: String, _ seed: @autoclosure () -> Seed) throws -> Environment {
    if let session = find(id) { return session }
    let opened = try factory.build(seed())
    let session = sessions.withLock { sessions in
      if let other = sessions[id], !other.isFinished { return other }
      sessions[id] = opened
      return opened
    }
    if session === opened { forget(session, as: id) } else { opened.finish() }
    return session
  }

  /// Takes in a session that was built without the registry, such as one that turned out to be worth keeping.
  ///
  /// - Parameters:
  ///   - session: an environment of the registry's factory.
  ///   - id: what it will be found by.
  ///   - limit: how many sessions there may be.
  /// - Returns: false, and nothing has happened, where there are `limit` sessions, or the id is taken.
  public func add(_ session: Environment, as id: String, limit: Int = .max) -> Bool {
    let isIn = sessions.withLock { sessions in
      guard sessions.count < limit, sessions[id] == nil else { return false }
      sessions[id] = session
      return true
    }
    if isIn { forget(session, as: id) }
    return isIn
  }

  /// Makes the session leave when it ends.
  private func forget(_ session: Environment, as id: String) {
    // The registry may go before its sessions; a session that replaced this one stays.
    session.whenFinished { [weak self, weak session] in
      self?.sessions.withLock { sessions in
        if let current = sessions[id], current === session || current.isFinished { sessions[id] = nil }
      }
    }
  }

  /// Ends the session with that id, such as on logout. Does not wait for its loop.
  public func end(_ id: String) { find(id)?.finish() }
}
