@_spi(BeansPackage) import BeansErrors
import TestSupport
import Testing

@testable import BeansConfiguration

@Suite(.timeLimit(.minutes(20))) struct ConfigurationListenerTests {
  private let manager = ConfigurationManager()
  private let source = FixedSource("source", ["k": "1"])

  init() throws { try manager.addSource(source) }

  private func change(_ value: any Sendable, key: String = "k", scope: String = "") throws {
    try manager.configurationChanged(ConfigurationItem(key: key, value: value, scope: scope), source: source)
  }

  @Test func aListenerGetsTheConvertedValueOnceItCanBeRead() throws {
    let seen = Seen<[Int]>()
    let manager = manager
    let listener = manager.addListener(Int.self, key: "k") { value in
      seen.note([value, (try? manager.getValue(Int.self, key: "k")) ?? -1])
    }
    // The listener holds the manager that holds it.
    defer { listener.cancel() }
    #expect(seen.all.isEmpty)
    try change("2")
    try change("x", key: "other")
    try change(3)
    #expect(seen.all == [[2, 2], [3, 3]])
  }

  @Test func cancelledListenersAreNotCalledAndAreReleased() throws {
    let seen = Seen<Int>()
    weak var canary: Canary?
    let listener: ConfigurationListener
    do {
      let bird = Canary()
      canary = bird
      listener = manager.addListener(Int.self, key: "k") {
        seen.note($0)
        bird.sing()
      }
    }
    try change("2")
    #expect(canary != nil)
    listener.cancel()
    listener.cancel()
    #expect(canary == nil)
    try change("3")
    #expect(seen.all == [2])
    #expect(manager.state.withLock { $0.listeners.isEmpty })
  }

  @Test func aListenerMayCancelItselfAndChangeTheConfiguration() throws {
    let seen = Seen<Int>()
    let handle = Seen<ConfigurationListener>()
    let (manager, source) = (manager, source)
    handle.note(
      manager.addListener(Int.self, key: "k") { value in
        seen.note(value)
        if value < 5 {
          try? manager.configurationChanged(ConfigurationItem(key: "k", value: value + 1), source: source)
        } else {
          handle.all[0].cancel()
        }
      })
    try change(2)
    try change(9)
    #expect(seen.all == [2, 3, 4, 5])
  }

  @Test func aValueThatDoesNotConvertIsSkipped() throws {
    let seen = Seen<Int>()
    manager.addListener(Int.self, key: "k") { seen.note($0) }
    try change("no number")
    try change("4")
    #expect(seen.all == [4])
  }

  @Test func theRemovalOfAValueRevealsAnother() throws {
    let seen = Seen<Int>()
    let other = FixedSource("other", canOverrule: true, ["k": 7])
    manager.addListener(Int.self, key: "k") { seen.note($0) }
    try manager.addSource(other)
    try manager.configurationReplaced(with: [], source: other)
    try manager.configurationReplaced(with: [], source: source)
    #expect(seen.all == [7, 1])
  }

  @Test func listenersGetChangesOfTheirScopesOnly() throws {
    let (general, specific) = (Seen<Int>(), Seen<Int>())
    manager.addListener(Int.self, key: "k") { general.note($0) }
    manager.addListener(Int.self, key: "k", scope: "a.b") { specific.note($0) }
    try change(2)
    try change(3, scope: "a")
    try change(4, scope: "a.b.c")
    try change(5)
    try change(6, scope: "a.b")
    #expect(general.all == [2, 5])
    #expect(specific.all == [2, 3, 6])
  }

  @Test func childrenGetChangesOfTheParentUnlessTheyOverride() throws {
    let seen = Seen<Int>()
    let middle = ConfigurationManager(parent: manager)
    let child = ConfigurationManager(parent: middle)
    child.addListener(Int.self, key: "k") { seen.note($0) }
    try change(2)
    let override = FixedSource("child", ["k": 10])
    try middle.addSource(override)
    try change(3)
    try middle.configurationReplaced(with: [], source: override)
    #expect(seen.all == [2, 10, 3])
  }

  @Test func theListenersOfADeallocatedChildAreNotCalled() throws {
    let seen = Seen<Int>()
    do {
      let child = ConfigurationManager(parent: manager)
      child.addListener(Int.self, key: "k") { seen.note($0) }
      try change(2)
    }
    try change(3)
    #expect(seen.all == [2])
    #expect(manager.state.withLock { $0.listeners.isEmpty })
  }

  @Test func theLastOfManyChangesArrivesLast() throws {
    let seen = Seen<Int>()
    let (manager, sources) = (manager, (0..<4).map { _ in source })
    manager.addListener(Int.self, key: "k") { seen.note($0) }
    _ = try onThreads(4) { number in
      for round in 0..<200 {
        try manager.configurationChanged(
          ConfigurationItem(key: "k", value: number * 1000 + round), source: sources[number])
      }
    }
    #expect(try seen.all.last == manager.getValue(Int.self, key: "k"))
  }

  @Test func aListenerIsNotCalledUnderALock() throws {
    let done = Gate()
    let manager = manager
    let listener = manager.addListener(Int.self, key: "k") { _ in
      // Another thread can read and change meanwhile.
      let value = try? BackgroundThread {
        manager.addListener(Int.self, key: "k") { _ in }.cancel()
        return try manager.getValue(Int.self, key: "k")
      }.value()
      if value == 2 { done.open() }
    }
    defer { listener.cancel() }
    try change(2)
    try done.wait()
  }
}

private final class Canary: Sendable {
  func sing() {}
}
