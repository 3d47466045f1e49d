import Beans
import BeansEventLoop
import BeansServer

/// Sessions as children of a factory, each with a `SessionScope`.
final class ContainerSessions: SessionStore, @unchecked Sendable {
  // `opened` is used on the loop's thread alone; the rest is never written.
  private let application: Environment
  private let factory: EnvironmentFactory<SessionKey>
  private let key = SessionKey()
  private var opened: [Unmanaged<Environment>] = []

  init(on loop: EventLoop, idle: Duration) throws {
    application = try Environment(name: "application")
    factory = try application.childFactory("session", seed: SessionKey.self) { session in
      try session.define(session.bean(Basket.self, factory: Basket.init))
      try session.define(session.bean(Profile.self, factory: Profile.init))
    } scope: {
      SessionScope(loop: loop, idleTimeout: idle)
    }
    try application.startup()
  }

  func open(_ count: Int) throws {
    opened.reserveCapacity(opened.count + count)
    for _ in 0..<count {
      let session = try factory.build(key)
      use(try session.getBean(Profile.self))
      // Held by the application until it ends.
      opened.append(.passUnretained(session))
    }
  }

  func useAll() throws {
    for session in opened { try session._withUnsafeGuaranteedRef { use(try $0.getBean(Profile.self)) } }
    opened = []
  }

  func endAll() {
    for session in opened { session._withUnsafeGuaranteedRef { $0.finish() } }
    opened = []
  }

  private var statistics: ScopeStatistics? { application.statistics().first { $0.scope == "session" } }

  var live: Int { statistics.map { $0.opened - $0.finished } ?? 0 }

  var expired: Int { statistics.map(\.finished) ?? 0 }
}
