import BeansLogging
import Dispatch
import Glibc
import Testing

@Suite struct FileLogTests {
  private let folder = TemporaryFolder()

  private func log(_ name: String = "app.log") throws -> FileLog {
    try FileLog(name: "file", fileName: "\(folder.path)/\(name)", formatter: .message())
  }

  @Test func linesAreAppended() throws {
    try folder.write("first\n", to: "app.log")
    let log = try log()
    log.log(LogEntry(logger: "a", level: .info, message: "zweite ü"))
    #expect(try folder.read("app.log") == "first\nzweite ü\n", "written at once")
    log.log(LogEntry(logger: "a", level: .info, message: "third"))
    #expect(try folder.lines("app.log") == ["first", "zweite ü", "third"])
  }

  @Test func theFileIsCreated() throws {
    _ = try log("new.log")
    #expect(folder.names == ["new.log"])
  }

  @Test func aFileThatCannotBeOpenedIsAnErrorAtOnce() throws {
    let error = #expect(throws: LogError.self) {
      try FileLog(name: "file", fileName: "\(folder.path)/missing/app.log", formatter: .message())
    }
    #expect(error?.number == 2)
    #expect(
      error?.description == "cannot open the log file '\(folder.path)/missing/app.log': No such file or directory")
    #expect(throws: LogError.self) { try FileLog(name: "file", fileName: folder.path) }
    #expect(throws: LogError.self) { try log("a\0b") }
    #expect(folder.names == [])
  }

  @Test func aFullDiskLosesLinesOnly() throws {
    let log = try FileLog(name: "full", fileName: "/dev/full")
    for _ in 0..<10 { log.log(LogEntry(logger: "a", level: .info, message: "lost")) }
  }

  @Test func aDeletedFileIsCreatedAgain() throws {
    let log = try log()
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    unlink("\(folder.path)/app.log")
    log.log(LogEntry(logger: "a", level: .info, message: "2"))
    #expect(try folder.lines("app.log") == ["2"])
  }

  @Test func aDeletedFolderIsCreatedAgain() throws {
    let inner = "\(folder.path)/a/b"
    mkdir("\(folder.path)/a", 0o755)
    mkdir(inner, 0o755)
    let log = try log("a/b/app.log")
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    unlink("\(inner)/app.log")
    rmdir(inner)
    rmdir("\(folder.path)/a")
    log.log(LogEntry(logger: "a", level: .info, message: "2"))
    log.log(LogEntry(logger: "a", level: .info, message: "3"))
    #expect(try folder.lines("a/b/app.log") == ["2", "3"])
    #expect(log.dropped == 0)
    unlink("\(inner)/app.log")
    rmdir(inner)
    rmdir("\(folder.path)/a")
  }

  @Test func aFileThatIsCreatedAgainHasThePermissionsOfTheOldOne() throws {
    let log = try log()
    chmod("\(folder.path)/app.log", 0o600)
    unlink("\(folder.path)/app.log")
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    var status = stat()
    #expect(stat("\(folder.path)/app.log", &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func aLinkThatLeadsElsewhereIsFollowed() throws {
    try folder.write("", to: "1.log")
    try folder.write("", to: "2.log")
    symlink("1.log", "\(folder.path)/app.log")
    let log = try log()
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    symlink("2.log", "\(folder.path)/next")
    rename("\(folder.path)/next", "\(folder.path)/app.log")
    log.log(LogEntry(logger: "a", level: .info, message: "2"))
    #expect(try folder.lines("1.log") == ["1"])
    #expect(try folder.lines("2.log") == ["2"])
  }

  @Test func aLogIsOpenedAgainOnRequestThroughItsQueue() throws {
    let log = QueuedLog(name: "queue", delegate: try log())
    let manager = LogManager(installing: false).registerLogger("", level: .info, logs: [log])
    rename("\(folder.path)/app.log", "\(folder.path)/app.log.1")
    try manager.reopen()
    #expect(folder.names == ["app.log", "app.log.1"])
    manager.getLogger(forName: "a").info("1")
    manager.flush()
    #expect(try folder.lines("app.log") == ["1"])
  }

  @Test func aFileThatCannotBeOpenedAgainIsAnErrorAndTheOldOneGoesOn() throws {
    let log = try log()
    rename("\(folder.path)/app.log", "\(folder.path)/moved")
    mkdir("\(folder.path)/app.log", 0o755)
    #expect(throws: LogError.self) { try log.reopen() }
    let manager = LogManager(installing: false).registerLogger("", level: .info, logs: [MemoryLog(), log])
    #expect(throws: LogError.self) { try manager.reopen() }
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    #expect(try folder.lines("moved") == ["1"])
    rmdir("\(folder.path)/app.log")
    log.log(LogEntry(logger: "a", level: .info, message: "2"))
    #expect(try folder.lines("app.log") == ["2"])
    #expect(log.dropped == 0)
  }

  @Test func aRelativePathSurvivesAChangeOfTheFolder() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      #expect(chdir(folder.path) == 0)
      let log = try FileLog(name: "file", fileName: "app.log", formatter: .message())
      #expect(chdir("/") == 0)
      log.log(LogEntry(logger: "a", level: .info, message: "1"))
      unlink("\(folder.path)/app.log")
      log.log(LogEntry(logger: "a", level: .info, message: "2"))
      #expect(try folder.lines("app.log") == ["2"])
    }
  }

  /// The lines of standard error, without the path of the file.
  private func reports(_ result: ExitTest.Result?) throws -> [Substring] {
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    return text.split(separator: "\n").filter { $0.hasPrefix("log ") }.map { line in
      line.firstRange(of: "app.log").map { line[$0.upperBound...].drop { $0 == ":" || $0 == " " } } ?? line
    }
  }

  @Test func lostEntriesAreReportedOnceWhenTheFileCanBeWrittenAgain() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let folder = TemporaryFolder()
      signal(SIGXFSZ, SIG_IGN)
      let log = try FileLog(name: "file", fileName: "\(folder.path)/app.log", formatter: .message())
      log.log(LogEntry(logger: "a", level: .info, message: "first"))
      // Four more bytes, as on a full disk.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      limit.rlim_cur = 10
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      for _ in 0..<3 { log.log(LogEntry(logger: "a", level: .info, message: "too long")) }
      #expect(log.dropped == 3)
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      log.log(LogEntry(logger: "a", level: .info, message: "again"))
      log.log(LogEntry(logger: "a", level: .info, message: "and again"))
      #expect(try folder.lines("app.log") == ["first", "too ", "again", "and again"])
      #expect(log.dropped == 3)
    }
    #expect(try reports(result) == ["cannot be written: File too large", "3 entries were lost"])
  }

  @Test func entriesOfADeletedFileThatCannotBeCreatedAreReportedAtTheEnd() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let folder = TemporaryFolder()
      let log = try FileLog(name: "file", fileName: "\(folder.path)/app.log", formatter: .message())
      unlink("\(folder.path)/app.log")
      mkdir("\(folder.path)/app.log", 0o755)
      for _ in 0..<3 { log.log(LogEntry(logger: "a", level: .info, message: "lost")) }
      #expect(log.dropped == 3)
      rmdir("\(folder.path)/app.log")
    }
    #expect(try reports(result) == ["cannot be opened again: Is a directory", "3 entries were lost"])
  }

  @Test func aMovedFileKeepsItsLines() throws {
    let log = try log()
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    rename("\(folder.path)/app.log", "\(folder.path)/app.log.1")
    log.log(LogEntry(logger: "a", level: .info, message: "2"))
    #expect(try folder.lines("app.log.1") == ["1"])
    #expect(try folder.lines("app.log") == ["2"])
  }

  @Test(arguments: [true, false])
  func linesOfSeveralThreadsDoNotMix(_ synchronize: Bool) throws {
    let log = try FileLog(
      name: "file", fileName: "\(folder.path)/app.log", formatter: .message(), synchronize: synchronize)
    let message = String(repeating: "x", count: 5_000)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<50 { log.log(LogEntry(logger: "a", level: .info, message: message)) }
    }
    let lines = try folder.lines("app.log")
    #expect(lines.count == 200)
    #expect(lines.allSatisfy { $0 == message })
  }
}
