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

  @Test func theFileIsMade() throws {
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

  @Test func aFullDiskLosesLinesAndNothingElse() throws {
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
