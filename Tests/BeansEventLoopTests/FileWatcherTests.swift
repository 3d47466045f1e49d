import BeansEventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20)))
struct FileWatcherTests {
  @Test func aWatcherReportsNewWrittenAndRenamedEntries() throws {
    let directory = try TemporaryDirectory()
    let names = Box<[String]>([])
    let event = Event()
    try EventLoop.withThread { loop in
      let watcher = try perform(on: loop) {
        try loop.onFileChange(directory.path) { change in
          #expect(loop.isCurrent)
          names.update { $0.append(change.name ?? "?") }
          event.signal()
        }
      }
      #expect(watcher.path == directory.path)
      #expect(loop.openHandles == ["FileWatcher": 1])
      try directory.write("a", to: "first")
      while !names.value.contains("first") { event.wait() }
      try directory.rename("first", to: "second")
      while !names.value.contains("second") { event.wait() }
      watcher.cancel()
    }
  }

  @Test func aWatcherReportsChangesOfAFile() throws {
    let directory = try TemporaryDirectory()
    try directory.write("a", to: "file")
    let event = Event()
    try EventLoop.withThread { loop in
      let watcher = try perform(on: loop) {
        try loop.onFileChange(directory.path + "/file") { _ in event.signal() }
      }
      try directory.write("b", to: "file")
      event.wait()
      watcher.cancel()
      watcher.cancel()
    }
  }

  @Test func aMissingFileCannotBeWatched() throws {
    let loop = try EventLoop()
    #expect(code { try loop.onFileChange("/nowhere/at/all") { _ in } } == .notFound)
    try loop.close()
    #expect(loop.handleTotals.opened == 1)
    #expect(loop.handleTotals.closed == 1)
  }

  /// C would read the path up to the NUL, and watch another file.
  @Test func aPathWithANulIsRefused() throws {
    let directory = try TemporaryDirectory()
    try directory.write("a", to: "file")
    let loop = try EventLoop()
    for path in ["\(directory.path)\0", "\(directory.path)/file\0x", "\0"] {
      #expect(code { try loop.onFileChange(path) { _ in } } == .invalidArgument)
    }
    try loop.close()
    #expect(loop.handleTotals.opened == 0)
  }

  @Test func anUnclosedWatcherIsReported() throws {
    let loop = try EventLoop()
    let watcher = try loop.onFileChange("/") { _ in }
    let failure = #expect(throws: EventLoopError.self) { try loop.close() }
    #expect(failure?.description.contains("FileWatcher made at") == true)
    watcher.close()
    try loop.close()
  }

  @Test func aClosedWatcherReleasesItsClosure() throws {
    let loop = try EventLoop()
    let population = Box(0)
    let watcher: FileWatcher
    do {
      let canary = Canary(population)
      watcher = try loop.onFileChange("/") { _ in canary.sing() }
    }
    #expect(population.value == 1)
    watcher.close()
    try loop.close()
    #expect(population.value == 0)
  }

  @Test func aWatcherMayCloseItselfInItsCallback() throws {
    let directory = try TemporaryDirectory()
    let loop = try EventLoop()
    let held = Box<FileWatcher?>(nil)
    let watcher = try loop.onFileChange(directory.path) { _ in
      held.value?.close()
      loop.stop()
    }
    held.update { $0 = watcher }
    loop.execute { try? directory.write("a", to: "file") }
    try loop.run()
    #expect(!watcher.isOpen)
    try loop.close()
  }
}

/// A directory that goes with the object.
private final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/beans-watch-XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
  }

  deinit {
    for name in ["first", "second", "file"] { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  func write(_ text: String, to name: String) throws {
    let file = try #require(fopen("\(path)/\(name)", "w"))
    fputs(text, file)
    fclose(file)
  }

  func rename(_ old: String, to new: String) throws {
    #expect(Glibc.rename("\(path)/\(old)", "\(path)/\(new)") == 0)
  }
}

/// Runs `body` on the loop's thread and waits for it.
private func perform<R: Sendable>(
  on loop: EventLoop, _ body: @escaping @Sendable () throws -> R
) throws -> R {
  let result = Box<Result<R, any Error>?>(nil)
  let done = Event()
  loop.execute {
    let outcome = Result { try body() }
    result.update { $0 = outcome }
    done.signal()
  }
  done.wait()
  return try #require(result.value).get()
}
