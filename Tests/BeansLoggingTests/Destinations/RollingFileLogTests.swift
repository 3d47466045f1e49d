@testable import BeansLogging
import Dispatch
import Glibc
import Testing

@Suite struct RollingFileLogTests {
  private let folder = TemporaryFolder()
  /// Noon, local time, of a day in 2026: an hour more or less does not change the day.
  private static let noon: Int64 = {
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday, fields.tm_hour, fields.tm_isdst) = (126, 2, 1, 12, -1)
    return Int64(mktime(&fields))
  }()

  private func log(_ baseName: String = "app", keepDays: Int = 7, maxSize: Int? = nil) throws -> RollingFileLog {
    try RollingFileLog(
      name: "rolling", directory: folder.path, baseName: baseName, formatter: .message(), keepDays: keepDays,
      maxSize: maxSize)
  }

  /// An entry of the 1 March 2026, or so many days later.
  private func entry(_ message: String, day: Int64 = 0, seconds: Int64 = 0) -> LogEntry {
    LogEntry(
      logger: "a", level: .info, message: message,
      timestamp: LogTimestamp(seconds: Self.noon + day * 86_400 + seconds))
  }

  @Test func eachDayHasAFile() throws {
    let log = try log()
    log.log(entry("1"))
    log.log(entry("2", seconds: 60))
    log.log(entry("3", day: 1))
    log.log(entry("4", day: 3))
    #expect(folder.names == ["app-2026-03-01.log", "app-2026-03-02.log", "app.log"])
    #expect(try folder.lines("app-2026-03-01.log") == ["1", "2"])
    #expect(try folder.lines("app-2026-03-02.log") == ["3"])
    #expect(try folder.lines("app.log") == ["4"])
  }

  @Test func anEntryThatWasOvertakenAtMidnightGoesIntoTheNewFile() throws {
    let log = try log()
    log.log(entry("1"))
    log.log(entry("2", day: 1))
    log.log(entry("late"))
    log.log(entry("3", day: 1))
    #expect(folder.names == ["app-2026-03-01.log", "app.log"])
    #expect(try folder.lines("app.log") == ["2", "late", "3"])
  }

  @Test func aFileOfAnEarlierDayIsKeptAsACopyOfThatDay() throws {
    try folder.write("old\n", to: "app.log")
    folder.touch("app.log", seconds: Self.noon - 86_400)
    let log = try log()
    #expect(folder.names == ["app.log"])
    log.log(entry("new"))
    #expect(folder.names == ["app-2026-02-28.log", "app.log"])
    #expect(try folder.lines("app-2026-02-28.log") == ["old"])
    #expect(try folder.lines("app.log") == ["new"])
  }

  @Test func aFileOfTheSameDayIsContinued() throws {
    try folder.write("before\n", to: "app.log")
    folder.touch("app.log", seconds: Self.noon)
    try log().log(entry("after"))
    #expect(folder.names == ["app.log"])
    #expect(try folder.lines("app.log") == ["before", "after"])
  }

  @Test func aFileThatWouldGrowTooLargeIsKept() throws {
    let log = try log(maxSize: 10)
    log.log(entry("1234"))
    log.log(entry("5678"))
    log.log(entry("a"))
    log.log(entry("a line that is longer than a file may be"))
    log.log(entry("b"))
    log.log(entry("c", day: 1))
    #expect(
      folder.names
        == [
          "app-2026-03-01.1.log", "app-2026-03-01.2.log", "app-2026-03-01.3.log", "app-2026-03-01.log", "app.log",
        ])
    #expect(try folder.lines("app-2026-03-01.log") == ["1234", "5678"])
    #expect(try folder.lines("app-2026-03-01.1.log") == ["a"])
    #expect(try folder.lines("app-2026-03-01.2.log") == ["a line that is longer than a file may be"])
    #expect(try folder.lines("app-2026-03-01.3.log") == ["b"])
    #expect(try folder.lines("app.log") == ["c"])
  }

  @Test func noCopyIsOverwritten() throws {
    try folder.write("kept\n", to: "app-2026-03-01.log")
    try folder.write("kept\n", to: "app-2026-03-01.7.log")
    let log = try log()
    log.log(entry("1"))
    log.log(entry("2", day: 1))
    #expect(try folder.lines("app-2026-03-01.log") == ["kept"])
    #expect(try folder.lines("app-2026-03-01.7.log") == ["kept"])
    #expect(try folder.lines("app-2026-03-01.8.log") == ["1"])
  }

  @Test func onlyOldCopiesAreDeleted() throws {
    let others = [
      "app-2020-01-01.log.gz", "app-2020-01-01.txt", "app-2020-13-01.log", "app-2020-01-01.x.log",
      "app-2020-01-01.0.log",
      "app-2020-01-01-.log", "app2-2020-01-01.log", "my-app-2020-01-01.log", "app-x-2020-01-01.log", "app-.log",
      "app--2020-01-01.log", "2020-01-01.log", "app-2020-01-01", "app-2026-02-26.log", "app-2027-01-01.log",
    ]
    let old = ["app-2020-01-01.log", "app-2026-02-25.log", "app-2026-02-25.3.log"]
    for name in others + old { try folder.write("x", to: name) }
    let log = try log(keepDays: 3)
    #expect(folder.names.count == others.count + old.count + 1, "not before there is an entry")
    log.log(entry("1"))
    #expect(folder.names == (others + ["app.log"]).sorted())
    log.log(entry("2", day: 1))
    #expect(!folder.names.contains("app-2026-02-26.log"))
    #expect(folder.names.contains("app-2026-03-01.log"))
  }

  @Test func baseNamesMayHaveDigitsAndDashes() throws {
    for baseName in ["app2", "app-2", "7", "app-2026", "app-2026-03", "v1.2", "größe"] {
      let log = try log(baseName, keepDays: 0)
      log.log(entry("1"))
      log.log(entry("2", day: 1))
      // No copy of yesterday is kept, and the day before is gone at the latest now.
      log.log(entry("3", day: 2))
      #expect(folder.names.filter { $0.hasPrefix("\(baseName)-2026-03-01") } == [])
    }
    // Each has deleted its own only.
    #expect(folder.names.filter { !$0.contains("-2026-03-02") }.count == 7)
  }

  @Test(arguments: ["app-2026-03-01", "app-2026-03-01.2", "-2026-03-01", "", "a/b", "a\0b"])
  func namesThatWouldBeMistakenAreRefused(_ baseName: String) {
    #expect(throws: LogError.self) { try log(baseName) }
    #expect(folder.names == [])
  }

  @Test func senselessParametersAreRefused() {
    #expect(throws: LogError.self) { try log(keepDays: -1) }
    #expect(throws: LogError.self) { try log(maxSize: 0) }
    #expect(throws: LogError.self) {
      try RollingFileLog(name: "x", directory: "\(folder.path)/missing", baseName: "app", keepDays: 1)
    }
  }

  @Test func extremeParametersAndMomentsDoNoHarm() throws {
    let log = try log(keepDays: .max, maxSize: .max)
    for seconds in [.min, -10_000_000_000, 0, 10_000_000_000, .max] as [Int64] {
      log.log(LogEntry(logger: "", level: .info, message: "x", timestamp: LogTimestamp(seconds: seconds)))
    }
    #expect(try folder.names.flatMap { try folder.lines($0) } == ["x", "x", "x", "x", "x"])
  }

  @Test func aFileThatCannotBeRenamedGrowsOn() throws {
    // The names of its copies are longer than a name may be.
    let name = String(repeating: "x", count: 245)
    let log = try log(name)
    log.log(entry("1"))
    log.log(entry("2", day: 1))
    log.log(entry("3", day: 2))
    #expect(try folder.lines("\(name).log") == ["1", "2", "3"])
  }

  @Test func aDeletedFileIsCreatedAgain() throws {
    let log = try log()
    log.log(entry("1"))
    unlink("\(folder.path)/app.log")
    log.log(entry("2", day: 1))
    log.log(entry("3", day: 2))
    #expect(folder.names == ["app-2026-03-02.log", "app.log"])
    #expect(try folder.lines("app-2026-03-02.log") == ["2"])
    #expect(try folder.lines("app.log") == ["3"])
  }

  @Test func aDeletedFolderIsCreatedAgain() throws {
    let inner = "\(folder.path)/logs"
    mkdir(inner, 0o755)
    let log = try RollingFileLog(name: "x", directory: inner, baseName: "app", formatter: .message(), keepDays: 1)
    log.log(entry("1"))
    unlink("\(inner)/app.log")
    rmdir(inner)
    log.log(entry("2", day: 1))
    #expect(try folder.lines("logs/app.log") == ["2"])
    unlink("\(inner)/app.log")
    rmdir(inner)
  }

  @Test func aFileIsOpenedAgainOnRequest() throws {
    let log = try log()
    log.log(entry("1"))
    rename("\(folder.path)/app.log", "\(folder.path)/moved")
    try log.reopen()
    #expect(folder.names == ["app.log", "moved"])
    log.log(entry("2"))
    #expect(try folder.lines("app.log") == ["2"])
    #expect(log.dropped == 0)
  }

  @Test func aMovedFileKeepsItsLines() throws {
    let log = try log()
    log.log(entry("1"))
    rename("\(folder.path)/app.log", "\(folder.path)/moved")
    log.log(entry("2", day: 1))
    #expect(folder.names == ["app.log", "moved"])
    #expect(try folder.lines("moved") == ["1"])
    #expect(try folder.lines("app.log") == ["2"])
  }

  @Test func aClockThatIsSetBackRollsAgain() throws {
    let log = try log(keepDays: 3)
    log.log(entry("before"))
    log.log(entry("wrong", day: 10_000))
    log.log(entry("after"))
    log.log(entry("tomorrow", day: 1))
    let wrong = CivilTime(entry("", day: 10_000).timestamp).day.text
    #expect(folder.names == ["app-2026-03-01.1.log", "app-2026-03-01.log", "app-\(wrong).log", "app.log"])
    #expect(try folder.lines("app-2026-03-01.log") == ["before"])
    #expect(try folder.lines("app-\(wrong).log") == ["wrong"])
    #expect(try folder.lines("app-2026-03-01.1.log") == ["after"])
    #expect(try folder.lines("app.log") == ["tomorrow"])
  }

  @Test func aFileOfAWrongClockIsKeptAsACopyOfItsDay() throws {
    try folder.write("wrong\n", to: "app.log")
    folder.touch("app.log", seconds: Self.noon + 86_400 * 10)
    let log = try log()
    log.log(entry("after"))
    log.log(entry("tomorrow", day: 1))
    #expect(folder.names == ["app-2026-03-01.log", "app-2026-03-11.log", "app.log"])
  }

  @Test func aClockThatIsSetForwardDeletesNoCopyOfTheLastDays() throws {
    try folder.write("yesterday\n", to: "app-2026-02-28.log")
    let log = try log(keepDays: 3)
    log.log(entry("before"))
    log.log(entry("wrong", day: 10_000))
    log.log(entry("after"))
    #expect(try folder.lines("app-2026-02-28.log") == ["yesterday"])
    #expect(try folder.lines("app-2026-03-01.log") == ["before"])
    // The copies of days that have passed are deleted with the next day.
    log.log(entry("4", day: 4))
    log.log(entry("5", day: 5))
    #expect(!folder.names.contains("app-2026-02-28.log") && !folder.names.contains("app-2026-03-01.log"))
  }

  @Test func threadsShareARollingFile() throws {
    let log = try log(maxSize: 1_000)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<100 { log.log(entry("\(thread) \(number)")) }
    }
    let lines = try folder.names.flatMap { try folder.lines($0) }
    #expect(lines.count == 400)
    #expect(Set(lines).count == 400)
    #expect(try folder.names.allSatisfy { try folder.read($0).utf8.count <= 1_000 })
  }
}
