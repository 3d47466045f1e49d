@testable import BeansLogging
import Testing

@Suite struct LogManagerTests {
  private let root = MemoryLog(name: "root")
  private let manager = LogManager(installing: false)

  private final class Inner {}

  @Test func allLoggersAreOffWithoutRegistrations() {
    #expect(manager.getLogger(forName: "").level == .off)
    #expect(!manager.getLogger(forName: "a.b").isEnabled(.fatal))
  }

  @Test func theRootWritesNoEntriesIfItIsOff() {
    manager.registerLogger("", level: .off, logs: [root])
    let logger = manager.getLogger(forName: "")
    #expect(logger.path == "")
    logger.debug("nothing")
    logger.fatal(Boom(), message: "nothing")
    #expect(root.entries.isEmpty)
  }

  @Test func aLoggerWithoutRegistrationHasThatOfItsNearestAncestorAndItsOwnPath() {
    manager.registerLogger("", level: .off, logs: [root])
      .registerLogger("com", level: .warn)
      .registerLogger("com.foo", level: .all)
    let logger = manager.getLogger(forName: "com.bar")
    #expect(logger.path == "com.bar")
    logger.debug("1")
    logger.info("2")
    logger.warn("3")
    logger.fatal(Boom(), message: "4")
    #expect(root.messages == ["3", "4"])
    #expect(root.entries.allSatisfy { $0.logger == "com.bar" })
    // The ancestor has not been renamed by it.
    #expect(manager.getLogger(forName: "com").path == "com")
    manager.getLogger(forName: "com.foo.x.y").debug("5")
    #expect(root.messages == ["3", "4", "5"])
    #expect(manager.getLogger(forName: "come").level == .off)
  }

  @Test func inheritWritesToTheParentsDestinationsToo() {
    let (own, alone) = (MemoryLog(), MemoryLog())
    manager.registerLogger("", level: .all, logs: [root])
      .registerLogger("a", level: .all, logs: [own])
      .registerLogger("a.b", level: .all, logs: [alone], inherit: false)
      .registerLogger("a.b.c", level: .all)
    manager.getLogger(forName: "a").info("1")
    manager.getLogger(forName: "a.b").info("2")
    manager.getLogger(forName: "a.b.c").info("3")
    #expect(root.messages == ["1"])
    #expect(own.messages == ["1"])
    #expect(alone.messages == ["2", "3"])
  }

  @Test func aDestinationRegisteredTwiceGetsAnEntryOnce() {
    manager.registerLogger("", level: .all, logs: [root]).registerLogger("a", level: .all, logs: [root, root])
    manager.getLogger(forName: "a").info("1")
    #expect(root.messages == ["1"])
  }

  @Test func registeringAgainReachesLoggersHandedOutBefore() {
    let other = MemoryLog()
    let logger = manager.getLogger(forName: "a.b")
    logger.fatal("unheard")
    manager.registerLogger("", level: .warn, logs: [root])
    logger.info("unheard")
    logger.warn("1")
    manager.registerLogger("a", level: .debug, logs: [other], inherit: false)
    logger.debug("2")
    manager.registerLogger("a", level: .off)
    logger.fatal("unheard")
    #expect(root.messages == ["1"])
    #expect(other.messages == ["2"])
    // The entries that a replaced destination kept back have been written.
    #expect(other.flushes == 1)
  }

  @Test func theSameLoggerIsHandedOutEachTime() {
    #expect(manager.getLogger(forName: "a") === manager.getLogger(forName: "a"))
    #expect(manager.getLogger(forName: "a") !== manager.getLogger(forName: "b"))
  }

  @Test func aClassMeansItsQualifiedName() {
    struct Local {}
    #expect(manager.getLogger(forClass: MemoryLog.self).path == "BeansLoggingTests.MemoryLog")
    #expect(manager.getLogger(forClass: Inner.self).path == "BeansLoggingTests.LogManagerTests.Inner")
    #expect(manager.getLogger(forClass: Local.self).path == "BeansLoggingTests.LogManagerTests.Local")
    #expect(manager.getLogger(forClass: [Int].self).path == "Swift.Array<Swift.Int>")
  }

  @Test func destinationsAreFoundByName() {
    let (named, replaced) = (MemoryLog(name: "named"), MemoryLog(name: "named"))
    manager.registerLogger("", level: .all, logs: [root]).registerLog(replaced).registerLog(named)
    #expect(manager.log("named") === named)
    #expect(manager.log("root") === root)
    #expect(manager.log("unknown") == nil)
  }

  /// One of a user's own, which uses the manager when it goes.
  private final class Parting: Log, @unchecked Sendable {
    let manager: LogManager
    init(_ manager: LogManager) {
      self.manager = manager
      super.init(name: "parting")
    }
    deinit { manager.getLogger(forName: "parted").warn("gone") }
  }

  @Test func aDestinationMayLogWhenItIsDropped() {
    let other = LogManager(installing: false).registerLogger("", level: .all, logs: [root])
    _ = manager.getLogger(forName: "a")
    manager.registerLogger("a", level: .all, logs: [Parting(other)]).registerLogger("a", level: .all)
    #expect(root.messages == ["gone"])
    manager.registerLog(Parting(other)).registerLog(MemoryLog(name: "parting"))
    #expect(root.messages == ["gone", "gone"])
  }

  @Test func flushReachesEveryDestinationOnce() {
    let named = MemoryLog(name: "named")
    manager.registerLogger("", level: .all, logs: [root]).registerLogger("a", level: .all, logs: [root, named])
      .registerLog(named)
    manager.flush()
    #expect(root.flushes == 1)
    #expect(named.flushes == 1)
  }

  @Test func noEntryIsWrittenAfterShutdown() {
    manager.registerLogger("", level: .all, logs: [root])
    let logger = manager.getLogger(forName: "a")
    logger.info("1")
    manager.shutdown()
    #expect(root.flushes == 1)
    logger.fatal("unheard")
    manager.registerLogger("a", level: .all, logs: [root])
    logger.fatal("unheard")
    manager.getLogger(forName: "b").fatal("unheard")
    #expect(root.messages == ["1"])
  }

  @Test func aLevelThatIsSetHoldsUntilItIsGivenBack() {
    manager.registerLogger("", level: .info, logs: [root]).registerLogger("a.b", level: .error)
    let (a, b, c) = (
      manager.getLogger(forName: "a"), manager.getLogger(forName: "a.b"), manager.getLogger(forName: "a.c")
    )
    manager.setLevel(.debug, forName: "a")
    #expect([a.level, b.level, c.level] == [.debug, .error, .debug])
    manager.setLevel(.off, forName: "a.b")
    manager.registerLogger("a.b", level: .fatal)
    #expect(b.level == .off)
    #expect(
      manager.levels() == [
        LoggerLevel(path: "", configured: .info, effective: .info),
        LoggerLevel(path: "a", configured: .debug, effective: .debug),
        LoggerLevel(path: "a.b", configured: .off, effective: .off),
        LoggerLevel(path: "a.c", configured: nil, effective: .debug),
      ])
    c.debug("written")
    #expect(root.messages == ["written"])
    manager.setLevel(nil, forName: "a")
    manager.setLevel(nil, forName: "a.b")
    #expect([a.level, b.level, c.level] == [.info, .fatal, .info])
  }

  @Test func aDestinationMayReconfigure() {
    let manager = manager
    let root = root
    let switching = MemoryLog { _ in manager.registerLogger("", level: .info, logs: [root]) }
    manager.registerLogger("", level: .info, logs: [switching])
    let logger = manager.getLogger(forName: "a")
    logger.info("switches")
    logger.info("arrives")
    #expect(root.messages == ["arrives"])
  }
}
