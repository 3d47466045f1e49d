import Beans
import BeansEventLoop

@testable import Storefront

/// The shop as the service declares it, on a database that is removed at the end.
enum TestShop {
  /// For requests that a test opens itself, by the factories of the `ShopEnvironment`: no loop is there.
  @Sendable static func declare(_ application: Environment) throws { try declare(application, loops: [], [:], nil) }

  /// Declares the shop for a `TestServer`, which finds its beans in the environment.
  ///
  /// - Parameters:
  /// - loops: the number of loops that serve.
  /// - variables: the settings of the service, without the database.
  /// - sharesSessions: true if sessions are kept as nodes share them, in a bean `HookedSessions`.
  static func served(
    loops: Int = 1, _ variables: [String: String] = [:], sharesSessions: Bool = false
  ) -> @Sendable (Environment) throws -> Void {
    { application in
      let loops = try TestLoops(loops)
      try application.define(application.bean(loops))
      try declare(application, loops: loops.threads.map(\.loop), variables, sharesSessions ? HookedSessions() : nil)
    }
  }

  private static func declare(
    _ application: Environment, loops: [EventLoop], _ variables: [String: String],
    _ sessions: HookedSessions?
  ) throws {
    let database = try TemporaryDatabase()
    let configuration = try database.configuration(variables, in: application)
    // First, so that it is released last.
    try application.define(application.bean(database))
    let currentLoop = loops.first.map { first in
      { @Sendable () -> EventLoop in loops.first(where: \.isCurrent) ?? first }
    }
    let shop = try ShopEnvironment(application, configuration, store: sessions, currentLoop: currentLoop)
    try application.define(application.bean(shop))
    if let sessions { try application.define(application.bean(sessions)) }
  }
}

/// The loops of a shop that is served. They run until the server that uses them is ended.
final class TestLoops: Sendable {
  let threads: [EventLoopThread]

  init(_ count: Int) throws { threads = try (0..<count).map { try EventLoopThread(name: "test loop \($0)") } }
}
