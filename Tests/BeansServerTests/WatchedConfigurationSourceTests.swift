import Beans
import BeansEventLoop
import BeansServer
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct WatchedConfigurationSourceTests {
  @Test func changesOfTheFileReachReadersAndListeners() throws {
    let file = try TemporaryFile("port = 80\nname = x\n")
    try withLoops { loops in
      let environment = try Environment()
      let source = WatchedConfigurationSource(path: file.path, on: loops[0], quietTime: .milliseconds(1))
      try environment.addConfigurationSource(source)
      #expect(try environment.getConfigurationValue(Int.self, key: "port") == 80)
      let (changed, added, loop) = (Gate("changed port"), Gate("added size"), loops[0])
      let manager = environment.configurationManager
      manager.addListener(Int.self, key: "port") { value in
        #expect(loop.isCurrent)
        if value == 81 { changed.open() }
      }
      manager.addListener(Int.self, key: "size") { if $0 == 7 { added.open() } }
      try waitForWatcher(on: loop)
      try file.replace("port = 81\nsize = 7\n")
      try changed.wait()
      try added.wait()
      // Keys that are gone are taken back.
      try waitUntil("name is gone") { !manager.hasValue(key: "name") }
      try environment.shutdown()
      source.close()
    }
  }

  @Test func aFileThatIsWrittenInPlaceIsNoticedToo() throws {
    let file = try TemporaryFile("port = 80\n")
    try withLoops { loops in
      let (environment, changed) = (try Environment(), Gate("changed port"))
      try environment.define(
        environment.bean(WatchedConfigurationSource(path: file.path, on: loops[0], quietTime: .milliseconds(1))))
      try environment.startup()
      environment.configurationManager.addListener(Int.self, key: "port") { if $0 == 82 { changed.open() } }
      try waitForWatcher(on: loops[0])
      try file.write("port = 82\n")
      try changed.wait()
      // A bean is closed with its environment.
      try environment.shutdown()
    }
  }

  @Test func aBrokenOrMissingFileKeepsTheOldValues() throws {
    let file = try TemporaryFile("port = 80\n")
    try withLoops { loops in
      let environment = try Environment()
      let (looked, changed) = (Gate("the broken file being read"), Gate("the repaired file"))
      let source = WatchedConfigurationSource(path: file.path, on: loops[0], quietTime: .milliseconds(1)) {
        if String(decoding: $0, as: UTF8.self).hasPrefix("broken") { looked.open() }
        return try PropertyText.items(from: $0, path: $1)
      }
      try environment.addConfigurationSource(source)
      environment.configurationManager.addListener(Int.self, key: "port") { if $0 == 83 { changed.open() } }
      try waitForWatcher(on: loops[0])
      try file.replace("broken")
      try looked.wait()
      try loops[0].perform {}
      #expect(try environment.getConfigurationValue(Int.self, key: "port") == 80)
      file.remove()
      try file.replace("port = 83\n")
      try changed.wait()
      source.close()
      try environment.shutdown()
    }
  }

  @Test func aRedirectedLinkIsNoticed() throws {
    let (old, new) = (try TemporaryFile("port = 80\n"), try TemporaryFile("port = 84\n"))
    let link = try TemporaryFile("")
    link.turn(to: old.path)
    try withLoops { loops in
      let (environment, changed) = (try Environment(), Gate("the new target"))
      let source = WatchedConfigurationSource(path: link.path, on: loops[0], quietTime: .milliseconds(1))
      try environment.addConfigurationSource(source)
      environment.configurationManager.addListener(Int.self, key: "port") { if $0 == 84 { changed.open() } }
      try waitForWatcher(on: loops[0])
      link.turn(to: new.path)
      try changed.wait()
      source.close()
      try environment.shutdown()
    }
  }

  @Test func aFileWithAValueThatAnotherSourceForbidsIsRefusedAsAWhole() throws {
    let file = try TemporaryFile("port = 80\n")
    try withLoops { loops in
      let (environment, looked, changed) = (try Environment(), Gate("the refused file being read"), Gate("port 85"))
      try environment.define(environment.settings().setValue(key: "fixed", value: "settings"))
      let source = WatchedConfigurationSource(
        path: file.path, on: loops[0], canOverrule: false, quietTime: .milliseconds(1)
      ) {
        if String(decoding: $0, as: UTF8.self).hasPrefix("fixed") { looked.open() }
        return try PropertyText.items(from: $0, path: $1)
      }
      try environment.addConfigurationSource(source)
      environment.configurationManager.addListener(Int.self, key: "port") { if $0 == 85 { changed.open() } }
      try waitForWatcher(on: loops[0])
      try file.replace("fixed = file\nport = 84\n")
      try looked.wait()
      try loops[0].perform {}
      #expect(try environment.getConfigurationValue(Int.self, key: "port") == 80)
      try file.replace("port = 85\n")
      try changed.wait()
      #expect(try environment.getConfigurationValue(String.self, key: "fixed") == "settings")
      source.close()
      try environment.shutdown()
    }
  }

  @Test func aFileThatIsMissingOrBrokenAtTheStartFailsIt() throws {
    let loop = try EventLoop()
    let environment = try Environment()
    try environment.define(environment.bean(WatchedConfigurationSource(path: "/nowhere/at/all", on: loop)))
    let fault = #expect(throws: EnvironmentError.self) { try environment.startup() }
    #expect(fault?.code == .missingConfiguration)
    #expect(fault?.description.contains("/nowhere/at/all") == true)
    let file = try TemporaryFile("broken")
    let other = try Environment()
    #expect(throws: EnvironmentError.self) {
      try other.addConfigurationSource(WatchedConfigurationSource(path: file.path, on: loop))
    }
    try loop.close()
  }

  /// C would read the path up to the NUL, and open another file.
  @Test func aPathWithANulIsNoFile() throws {
    let file = try TemporaryFile("port = 80\n")
    try withLoops { loops in
      for path in ["\(file.path)\0", "\(file.path)\0.old"] {
        let environment = try Environment()
        let failure = #expect(throws: EnvironmentError.self) {
          try environment.addConfigurationSource(WatchedConfigurationSource(path: path, on: loops[0]))
        }
        #expect(failure?.code == .missingConfiguration)
        #expect(failure?.message.contains("NUL") == true)
        #expect(failure?.message.contains("\0") == false)
      }
    }
  }

  @Test func aDroppedSourceClosesItsWatcher() throws {
    let file = try TemporaryFile("port = 80\n")
    try withLoops { loops in
      weak var dropped: WatchedConfigurationSource?
      do {
        let environment = try Environment()
        let source = WatchedConfigurationSource(path: file.path, on: loops[0])
        dropped = source
        try environment.addConfigurationSource(source)
        try waitForWatcher(on: loops[0])
        try environment.startup()
        try environment.shutdown()
      }
      #expect(dropped == nil)
      try waitUntil("the watcher being closed") { loops[0].openHandles.isEmpty }
    }
  }

  @Test func aSourceMayBeClosedBeforeItsLoopRuns() throws {
    let file = try TemporaryFile("port = 80\n")
    let loop = try EventLoop()
    let source = WatchedConfigurationSource(path: file.path, on: loop)
    let manager = ConfigurationManager()
    try manager.addSource(source)
    source.close()
    source.close()
    try loop.close()
    #expect(try manager.getValue(Int.self, key: "port") == 80)
  }

  /// The loop has taken up the watch, and has looked once more.
  private func waitForWatcher(on loop: EventLoop) throws {
    try loop.perform { #expect(Array(loop.openHandles.keys) == ["FileWatcher"]) }
  }
}

/// A file in a directory of its own; both go with the object.
private final class TemporaryFile: Sendable {
  private let directory: String
  let path: String

  init(_ text: String) throws {
    var template = Array("/tmp/beans-configuration-XXXXXX".utf8CString)
    directory = try #require(mkdtemp(&template).map { String(cString: $0) })
    path = directory + "/test.properties"
    try write(text)
  }

  deinit {
    unlink(path)
    unlink(path + ".new")
    rmdir(directory)
  }

  func write(_ text: String) throws { try write(text, to: path) }

  func remove() { unlink(path) }

  /// As editors do: under another name, then renamed.
  func replace(_ text: String) throws {
    try write(text, to: path + ".new")
    #expect(rename(path + ".new", path) == 0)
  }

  func turn(to target: String) {
    #expect(symlink(target, path + ".new") == 0)
    #expect(rename(path + ".new", path) == 0)
  }

  private func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
  }
}
