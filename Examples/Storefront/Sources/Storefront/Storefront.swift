public import Beans
import BeansEventLoop
import BeansLogging
import BeansOperations
import BeansRedis
import BeansServer
import BeansSessions
import Dispatch
import Glibc

/// The example service.
public enum Storefront {
  /// The time limit for requests that have arrived, once the service is shutting down.
  private static let drainLimit = Duration.seconds(10)
  /// The time limit for the release of everything else after that.
  private static let shutdownLimit = Duration.seconds(30)

  /// Reads the configuration, serves until SIGTERM or SIGINT, responds to all requests that have arrived, writes a
  /// report, and ends the process.
  ///
  /// A reader of the standard streams that has stopped reading delays the end by seconds at most, and changes no exit
  /// code.
  public static func main() {
    holdSignals(SIG_BLOCK)
    do {
      try ServiceLog.install()
      let application = try Environment(name: "application")
      let report = try serve(application, Configuration.ofThisProcess(application))
      ServiceLog.announce(report.text)
      // The exit waits a second for the reader of the log.
      exit(report.isClean ? EXIT_SUCCESS : EXIT_FAILURE)
    } catch let faults as ConfigurationFaults {
      ServiceLog.fail("\(faults)")
      exit(ConfigurationFaults.exitCode)
    } catch {
      ServiceLog.fail("storefront: \(error)")
      exit(EXIT_FAILURE)
    }
  }

  /// Declares the beans of the service, for programs that inspect it; its children have no scope objects then.
  ///
  /// Reads no setting of the process and creates no file, because it runs where the service is built. A caller that
  /// starts the environment gets a database that is removed at the end.
  ///
  /// - Throws: `EnvironmentError` for a declaration that is refused.
  public static func declare(_ application: Environment) throws {
    // All users share the folder: no other user can have put a file there under an unpredictable name.
    let database = "/tmp/storefront-\(UInt64.random(in: .min ... .max)).sqlite"
    let configuration = try Configuration.read(
      in: application,
      variables: ProcessInfoConfigurationSource(variables: ["BEANS_PROFILES": "test", "DATABASE": database]),
      processors: 1, temporaryFolder: "/tmp")
    _ = try ShopEnvironment(application, configuration, currentLoop: nil)
  }

  private static func serve(_ application: Environment, _ configuration: Configuration) throws -> ClosingReport {
    if configuration.accessLog { ServiceLog.writeResponses() }
    let descriptors = FileDescriptors.raiseLimit()
    let loopCount = try FileDescriptors.loops(
      configuration.loops, limit: descriptors, sharesSessions: configuration.redis != nil)
    if loopCount < configuration.loops {
      ServiceLog.logger.warn(
        "storefront: \(descriptors) file descriptors are too few for \(configuration.loops) loops: \(loopCount) will do"
      )
    }
    var threads: [EventLoopThread] = []
    do {
      for number in 0..<loopCount { threads.append(try EventLoopThread(name: "loop \(number)")) }
      try SpareThreads.require()
      return try serve(application, configuration, on: threads, descriptors: descriptors)
    } catch {
      // The end of the process removes libuv state that running loops need: they would end the process by a signal.
      for thread in threads { try? thread.stopAndJoin() }
      throw error
    }
  }

  /// Runs the service on loops.
  ///
  /// - Parameters:
  ///   - application: contains the configuration only.
  ///   - configuration: the settings that the service has read there.
  ///   - threads: the threads whose loops serve; they have ended when this call returns, but not if it throws.
  ///   - descriptors: the limit of file descriptors of the process.
  private static func serve(
    _ application: Environment, _ configuration: Configuration, on threads: [EventLoopThread], descriptors: Int
  ) throws -> ClosingReport {
    let loops = threads.map(\.loop)
    let store = configuration.redis.map { address in
      RedisSessionStore(
        host: address.host, port: Int(address.port), loops: loops,
        limits: SessionLimits(idleLimit: configuration.sessionIdle))
    }
    let shop = try ShopEnvironment(application, configuration, store: store) {
      loops.first { $0.isCurrent } ?? loops[0]
    }
    if let store {
      // Released when the sessions have ended, and before the loops are stopped.
      try shop.application.define(shop.application.bean(store))
    }
    var settings = HTTPServerSettings()
    settings.limitConnections(
      to: FileDescriptors.connections(
        loops: loops.count, limit: descriptors, sharesSessions: configuration.redis != nil))
    let server = HTTPServer(settings: settings)
    settings.limitConnections(to: 8)
    let administration = HTTPServer(settings: settings)
    let lifecycle = ServerLifecycle(
      environment: shop.application, loop: loops[0], drainLimit: drainLimit, shutdownLimit: shutdownLimit
    ) { limit, done in
      server.drain(within: limit) { administration.drain(within: limit, completion: done) }
    }
    let operations = Operations(
      environment: shop.application, lifecycle: lifecycle, sessions: [shop.sessions], lag: shop.lag,
      durations: shop.durations)
    // Before any slow step: a service that gets its signal while starting also ends in order.
    try lifecycle.watchSignals()
    holdSignals(SIG_UNBLOCK)
    // An asynchronous `main` would begin on another thread, while this one already handles signals.
    try makeReady(shop.application)
    try operations.start()
    let service = try shop.application.getBean(ShopService.self)
    // Closes the queue before the sessions are released: a session waits for the requests inside, and those wait for
    // the queue.
    lifecycle.whenFinishing(try shop.application.getBean(WriterQueue.self).close)
    let port = try server.start(
      host: configuration.host.text, port: Int(configuration.port), on: threads, handler: shop.handler(operations),
      onUnanswered: service.noteUnanswered)
    if let port {
      if let wanted = configuration.adminPort,
        let port = try administration.start(
          host: "127.0.0.1", port: Int(wanted), on: [threads[0]], handler: service.administration(operations),
          onUnanswered: service.noteUnanswered)
      {
        shop.lag.watch(loops)
        ServiceLog.announce(
          "Storefront: http://127.0.0.1:\(port)/environments, for this machine alone; all as a page: "
            + "http://127.0.0.1:\(port)/")
      }
      let address = "http://\(configuration.host.forURL):\(port)"
      ServiceLog.announce("Storefront: \(address)\n  try: curl \(address)/api/products")
    }
    try lifecycle.run()

    // Closing a loop fails if a handle is left.
    for thread in threads { try thread.stopAndJoin() }
    let handles = loops.map(\.openHandles).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    return ClosingReport(
      statistics: shop.application.statistics(), requests: server.counts + administration.counts,
      openHandles: handles, droppedLines: ServiceLog.dropped)
  }

  /// Returns when the environment is ready. Blocks the calling thread meanwhile, because it has no other work.
  private static func makeReady(_ application: Environment) throws {
    let outcome = Guarded(Result<Void, any Error>.success(()))
    let done = DispatchSemaphore(value: 0)
    Task {
      do {
        _ = try await application.ready(options: [.requireSendable, .recordTimes])
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    try outcome.withLock { $0 }.get()
  }

  /// Blocks the signals that the service handles, so that they wait, or unblocks them on this thread.
  private static func holdSignals(_ how: Int32) {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(how, &signals, nil)
  }
}
