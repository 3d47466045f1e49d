import Beans
@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import BeansJSON
import BeansServer
import BeansYAML
import TestSupport
import Testing

/// A watched file that is reached through links and directories, any of which is replaced.
@Suite(.timeLimit(.minutes(20))) struct WatchedLinkTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// The directories `releases/7` and `releases/8`, with the ports 7 and 8, and a link to the first.
  private func makeReleases() throws {
    try directory.makeDirectory("releases")
    for release in [7, 8] {
      try directory.makeDirectory("releases/\(release)")
      try directory.write("releases/\(release)/app.conf", "port = \(release)\n")
    }
    try directory.link("current", to: "releases/7")
  }

  @Test func aDirectoryLinkReplacedByRenamingIsNoticed() throws {
    try makeReleases()
    try watching("current/app.conf", port: 7) { service in
      try directory.link("current.new", to: "releases/8")
      try directory.rename("current.new", to: "current")
      try service.wait(forPort: 8)
      // The target of the new link is watched, too.
      try directory.replace("releases/8/app.conf", "port = 9\n")
      try service.wait(forPort: 9)
    }
  }

  @Test func aDirectoryLinkRemovedAndCreatedAgainIsNoticed() throws {
    try makeReleases()
    try watching("current/app.conf", port: 7) { service in
      try directory.remove("current")
      try directory.link("current", to: directory.path("releases/8"))
      try service.wait(forPort: 8)
    }
  }

  @Test func aLinkBehindALinkIsNoticed() throws {
    try makeReleases()
    try directory.makeDirectory("links")
    try directory.link("links/inner", to: "../current/../../current")
    try directory.link("outer.conf", to: "links/inner/app.conf")
    try watching("outer.conf", port: 7) { service in
      try directory.link("next", to: "releases/8")
      try directory.rename("next", to: "current")
      try service.wait(forPort: 8)
    }
  }

  /// The kubelet renames a link over `..data`, and thereby replaces all files of a volume at once.
  @Test func aChangedVolumeOfKubernetesIsNoticed() throws {
    func makeVersion(_ number: Int) throws {
      try directory.makeDirectory("..2026_\(number)")
      try directory.write("..2026_\(number)/app.conf", "port = \(number)\n")
      try directory.link("..data_tmp", to: "..2026_\(number)")
      try directory.rename("..data_tmp", to: "..data")
    }
    try makeVersion(1)
    try directory.link("app.conf", to: "..data/app.conf")
    try watching("app.conf", port: 1) { service in
      for number in 2...4 {
        try makeVersion(number)
        try service.wait(forPort: number)
        try directory.remove("..2026_\(number - 1)/app.conf")
      }
    }
  }

  @Test func aDirectoryRenamedAwayIsNoticed() throws {
    try makeReleases()
    try watching("releases/7/app.conf", port: 7) { service in
      for (port, name) in [(70, "old"), (71, "older")] {
        try directory.makeDirectory("next")
        try directory.write("next/app.conf", "port = \(port)\n")
        try directory.rename("releases/7", to: name)
        try directory.rename("next", to: "releases/7")
        try service.wait(forPort: port)
      }
      try directory.write("releases/7/app.conf", "port = 72\n")
      try service.wait(forPort: 72)
    }
  }

  @Test func aPathThatIsMissingForAWhileIsNoticed() throws {
    try makeReleases()
    try watching("releases/7/app.conf", port: 7) { service in
      try directory.rename("releases", to: "away")
      // The source has noticed: it waits for `releases` in the directory around it.
      try waitUntil("the shorter way") { service.loop.openHandles["FileWatcher"] == service.watcherCount - 3 }
      #expect(service.port == 7)
      try directory.makeDirectory("releases")
      try directory.makeDirectory("releases/7")
      try directory.write("releases/7/app.conf", "port = 17\n")
      try service.wait(forPort: 17)
    }
  }

  /// A file that is mounted by itself is written in place, or replaced where the mount allows it.
  @Test func aChangedFileWithoutLinksIsNoticed() throws {
    try directory.write("app.conf", "port = 1\n")
    try watching("app.conf", port: 1) { service in
      try directory.write("app.conf", "port = 2\n")
      try service.wait(forPort: 2)
      try directory.replace("app.conf", "port = 3\n")
      try service.wait(forPort: 3)
      try directory.write("app.conf", "port = 4\n")
      try service.wait(forPort: 4)
    }
  }

  /// Changes in quick succession, each of which may come while the source renews its watchers.
  @Test(arguments: 1...8 as ClosedRange<UInt64>) func theLastOfManyChangesIsNoticed(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    try makeReleases()
    try watching("current/app.conf", port: 7) { service in
      for port in 100..<160 {
        let text = "port = \(port)\n"
        switch Int.random(in: 0..<5, using: &random) {
        case 0: try directory.write("current/app.conf", text)
        case 1: try directory.replace("current/app.conf", text)
        case 2:
          // Another release, and the link to it renamed or made again.
          try directory.makeDirectory("releases/\(port)")
          try directory.write("releases/\(port)/app.conf", text)
          if Bool.random(using: &random) {
            try directory.link("next", to: "releases/\(port)")
            try directory.rename("next", to: "current")
          } else {
            try directory.remove("current")
            try directory.link("current", to: directory.path("releases/\(port)"))
          }
        case 3:
          // All releases renamed away, and others to their place.
          try directory.rename("releases", to: "old\(port)")
          try directory.makeDirectory("releases")
          try directory.makeDirectory("releases/\(port)")
          try directory.write("releases/\(port)/app.conf", text)
          try directory.remove("current")
          try directory.link("current", to: "releases/\(port)")
        default:
          try directory.remove("current/app.conf")
          try directory.write("current/app.conf", text)
        }
        if Int.random(in: 0..<4, using: &random) == 0 { try service.wait(forPort: port) }
        if port == 159 { try service.wait(forPort: port) }
      }
    }
  }

  /// Readers and listeners never see values of two versions of the file.
  @Test func twentyKeysChangeTogether() throws {
    let keys = (1...20).map { "key\($0)" }
    func text(_ value: Int) -> String { keys.map { "\($0) = \(value)\n" }.joined() + "port = \(value)\n" }
    try directory.write("app.conf", text(1))
    try watching("app.conf", port: 1) { service in
      let (manager, mixtures, calls) = (service.manager, Counter(), Counter())
      for key in keys {
        manager.addListener(Int.self, key: key) { value in
          calls.increment()
          for key in keys where (try? manager.getValue(Int.self, key: key)) != value { mixtures.increment() }
        }
      }
      try directory.replace("app.conf", text(2))
      try service.wait(forPort: 2)
      // All listeners of one change are called in one turn of the loop.
      try service.loop.perform {}
      #expect(calls.value == keys.count && mixtures.value == 0)
    }
  }

  @Test func filesOfJSONAreFollowed() throws {
    try directory.write("app.json", "{\"port\": 1, \"servers\": [{\"host\": \"a\"}]}")
    try watching("app.json", port: 1, format: JSONText.items) { service in
      let items = service.manager
      #expect(try items.getValue(String.self, key: "servers.0.host") == "a")
      try directory.replace("app.json", "{\"port\": 2, \"servers\": [{\"host\": \"b\"}, {\"host\": null}]}")
      try service.wait(forPort: 2)
      #expect(try items.getValue(String.self, key: "servers.0.host") == "b")
      #expect(!items.hasValue(key: "servers.1.host"))
      #expect(items.report().contains("app.json"))
    }
  }

  @Test func filesOfYAMLAreFollowed() throws {
    try directory.write("app.yaml", "port: 1\nhosts: [a, b]\n")
    try watching("app.yaml", port: 1, format: YAMLText.items) { service in
      try directory.replace("app.yaml", "port: 2\nhosts:\n  - c\n")
      try service.wait(forPort: 2)
      #expect(try service.manager.getValue([String].self, key: "hosts") == ["c"])
    }
  }

  // MARK: a service with a watched source

  private struct Service {
    let loop: EventLoop
    let manager: ConfigurationManager
    let ports: Ports
    let watcherCount: Int

    var port: Int? { try? manager.getValue(Int.self, key: "port") }
    func wait(forPort port: Int) throws { try ports.gate(port).wait() }
  }

  /// The gates of the values that a listener has received or will receive.
  private final class Ports: Sendable {
    private let gates = Locked<[Int: Gate]>([:])

    func gate(_ port: Int) -> Gate {
      gates.withLock { gates in
        let gate = gates[port] ?? Gate("port \(port)")
        gates[port] = gate
        return gate
      }
    }
  }

  private func watching(
    _ name: String, port: Int,
    format: @escaping @Sendable ([UInt8], String) throws -> [ConfigurationItem] = PropertyText.items,
    _ body: (Service) throws -> Void
  ) throws {
    try withLoops { loops in
      let (manager, ports) = (ConfigurationManager(), Ports())
      let source = WatchedConfigurationSource(
        path: directory.path(name), on: loops[0], quietTime: .milliseconds(1), format: format)
      defer { source.close() }
      try manager.addSource(source)
      manager.addListener(Int.self, key: "port") { ports.gate($0).open() }
      // The loop has begun to watch.
      let count = try loops[0].perform { [loop = loops[0]] in loop.openHandles["FileWatcher"] ?? 0 }
      let service = Service(loop: loops[0], manager: manager, ports: ports, watcherCount: count)
      #expect(service.port == port)
      try body(service)
    }
  }
}
