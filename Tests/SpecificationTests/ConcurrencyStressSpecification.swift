import Beans
import BeansLogging
import Glibc
import Synchronization
import TestSupport
import Testing

/// Threads that meet at the worst moment, many times.
@Suite("Threads that meet at the worst moment", .timeLimit(.minutes(20)), .serialized)
struct ConcurrencyStressSpecification {
  private static let rounds = 80

  @Test("First lookups on four threads start the environment once")
  func concurrentFirstLookupsStartOnce() throws {
    for _ in 0..<Self.rounds {
      let environment = try Environment()
      let counters = Tracked.Counters()
      try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }))
      let beans = try onThreads(4) { _ in ObjectIdentifier(try environment.getBean(Tracked.self)) }
      #expect(Set(beans).count == 1)
      #expect(counters.built.value == 1)
      try environment.shutdown()
      #expect(counters.died.value == 1)
    }
  }

  @Test("A failing startup is tried once and throws its cause on every thread")
  func aFailingStartupThrowsItsCauseOnEveryThread() throws {
    for _ in 0..<Self.rounds {
      let environment = try Environment()
      let attempts = Counter()
      try environment.define(
        environment.bean(Int.self) {
          attempts.increment()
          throw Boom()
        })
      let codes = try onThreads(4) { _ in code { try environment.getBean(Int.self) } }
      #expect(codes.allSatisfy { $0 == .creationFailed })
      #expect(attempts.value == 1)
    }
  }

  @Test("Lookups that race the end return all beans or throw finished; each bean is released once")
  func lookupsRaceTheEnd() throws {
    for _ in 0..<Self.rounds {
      let environment = try Environment()
      let counters = Tracked.Counters()
      try environment.define(environment.bean(Tracked.self, lazy: true, factory: { Tracked(counters) }))
      try environment.define(
        environment.bean(Tracked.self, id: "second", lazy: true, factory: { (_: Environment) in Tracked(counters) }))
      try environment.startup()
      let outcomes = try onThreads(4) { number -> Bool in
        if number == 0 {
          environment.finish()
          return true
        }
        for _ in 0..<20 {
          do {
            let found = try environment.getBeansByType(Tracked.self)
            guard found.count == 2 else { return false }
          } catch {
            return (error as? EnvironmentError)?.code == .finished
          }
        }
        return true
      }
      #expect(!outcomes.contains(false))
      try environment.shutdown()
      #expect(counters.destroyed.value == counters.built.value)
      #expect(counters.died.value == counters.built.value)
    }
  }

  /// The count of lookups survives the end: lookups still arrive while the last state is being set.
  @Test("Lookups that arrive while the end is being marked are refused, and the end completes")
  func lookupsDuringTheEndAreRefused() throws {
    for _ in 0..<Self.rounds * 10 {
      let environment = try Environment()
      try environment.define(environment.bean("bean"))
      let factory = try environment.childFactory("request", seed: Int.self)
      let children = try (0..<8).map { try factory.build($0) }
      let refused = try onThreads(2) { number -> Int in
        var refused = 0
        for child in children {
          if number == 0 { child.finish() }
          while code({ try child.getBean(String.self) }) != .finished {}
          for _ in 0..<4 where code({ try child.getBean(String.self) }) == .finished { refused += 1 }
        }
        return refused
      }
      #expect(refused == [32, 32])
      for child in children { #expect(child.isReleased) }
      try environment.shutdown()
    }
  }

  @Test("Lookups in a child that race its end and its parent's return a bean or throw finished")
  func lookupsInAChildRaceItsEndAndItsParents() throws {
    for _ in 0..<Self.rounds {
      let environment = try Environment()
      let counters = Tracked.Counters()
      try environment.define(environment.bean(Tracked.self, id: "outer", lazy: true, factory: { Tracked(counters) }))
      let factory = try environment.childFactory("request", seed: Int.self) {
        try $0.define(
          $0.bean(Tracked.self, id: "inner", factory: { (_: Tracked) in Tracked(counters) }).argument(0, ref: "outer")
        )
      }
      let child = try factory.build(1)
      let outcomes = try onThreads(4) { number -> Bool in
        switch number {
        case 0: child.finish()
        case 1: environment.finish()
        default:
          do { _ = try child.getBean(Tracked.self, byId: "inner") } catch {
            return (error as? EnvironmentError)?.code == .finished
          }
        }
        return true
      }
      #expect(!outcomes.contains(false))
      try environment.shutdown()
      #expect(child.isReleased)
      #expect(counters.destroyed.value == counters.built.value)
      #expect(counters.died.value == counters.built.value)
    }
  }

  /// Each open either throws `.finished` or is released exactly once.
  @Test("A child opened while its parent ends is refused, or released once")
  func childrenOpenWhileTheParentEnds() throws {
    for _ in 0..<Self.rounds {
      let environment = try Environment()
      let counters = Tracked.Counters()
      let opened = Counter(), refused = Counter()
      let factory = try environment.childFactory(
        "request", seed: Tracked.self,
        configure: { try $0.define($0.bean(Tracked.self, id: "own", factory: { Tracked(counters) })) })
      try environment.startup()
      let seeds = Tracked.Counters()
      let outcomes = try onThreads(4) { number -> Bool in
        if number == 0 {
          environment.finish()
          return true
        }
        for _ in 0..<20 {
          do {
            let child = try factory.build(Tracked(seeds))
            opened.increment()
            _ = try? child.getBean(Tracked.self, byId: "own")
            if number == 1 { child.finish() }
          } catch {
            refused.increment()
            guard (error as? EnvironmentError)?.code == .finished else { return false }
          }
        }
        return true
      }
      #expect(!outcomes.contains(false))
      try environment.shutdown()
      #expect(opened.value + refused.value == 60)
      #expect(seeds.died.value == 60)
      #expect(counters.destroyed.value == counters.built.value)
      #expect(counters.died.value == counters.built.value)
      #expect(!environment.hasOpenChildren)
    }
  }

  /// Compiling a child's plan reads the tables of its ancestors, in which lookups write.
  @Test("Plain children may start on several threads during lookups in the parent")
  func plainChildrenStartOnSeveralThreads() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<60 {
        let environment = try Environment()
        for number in 0..<20 {
          try environment.define(environment.bean(Part.self, id: "\(number)", factory: Part.init))
        }
        try environment.startup()
        let counts = try onThreads(4) { number -> Int in
          if number == 0 {
            return try environment.getBeansByType((any Zero).self).count
              + environment.getBeansByType((any One).self).count + environment.getBeansByType((any Two).self).count
          }
          let child = try Environment(name: "child", parent: environment)
          try child.define(
            child.bean(
              Int.self, factory: { (a: [any Zero], b: [any One], c: [any Two]) in a.count + b.count + c.count }))
          return try child.getBean(Int.self)
        }
        #expect(counts == [60, 60, 60, 60])
        try environment.shutdown() as Void
      }
    }
  }

  @Test("Plain children that start while the parent ends start or throw finished")
  func plainChildrenStartWhileTheParentEnds() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<60 {
        let environment = try Environment()
        for number in 0..<20 {
          try environment.define(environment.bean(Part.self, id: "\(number)", factory: Part.init))
        }
        try environment.startup()
        let children = try (0..<3).map { try Environment(name: "child \($0)", parent: environment) }
        let codes = try onThreads(4) { number -> EnvironmentError.Code? in
          if number == 3 {
            environment.finish()
            return nil
          }
          return code {
            try children[number].define(
              children[number].bean(Int.self, factory: { (parts: [any Zero]) in parts.count })
            )
            .startup()
          }
        }
        #expect(codes.allSatisfy { $0 == nil || $0 == .finished }, "\(codes)")
        try environment.shutdown() as Void
      }
    }
  }

  /// A process of its own may silence the log.
  @Test("Concurrent shutdowns of parent and child throw a failure once")
  func shutdownsMeet() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      _ = LogManager()
      for _ in 0..<80 {
        let environment = try Environment()
        let counters = Tracked.Counters()
        try environment.define(
          environment.bean(Tracked.self, factory: { Tracked(counters) }).onDestroy { _ in throw Boom() })
        let factory = try environment.childFactory(
          "request", seed: Void.self,
          configure: { try $0.define($0.bean(7)) }, scope: { AbstractBeanScope(name: "request") })
        try environment.startup()
        let child = try factory.build(())
        let codes = try onThreads(4) { number in code { try (number < 2 ? environment : child).shutdown() as Void } }
        #expect(codes.filter { $0 == .destructionFailed }.count == 1)
        #expect(codes.filter { $0 == nil }.count == 3)
        #expect(counters.died.value == 1)
      }
    }
  }

  @Test("Two lookups that take the same beans in opposite orders build each of them once")
  func oppositeOrders() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      let environment = try Environment()
      let factory = try environment.childFactory("request", seed: Void.self) { request in
        for number in 0..<6 {
          try request.define(request.bean(Counted.self, id: "\(number)", factory: Counted.init))
        }
        let forth = request.bean(Forth.self, factory: Forth.init)
        let back = request.bean(Back.self, factory: Back.init)
        for number in 0..<6 {
          forth.argument(number, ref: "\(number)")
          back.argument(number, ref: "\(5 - number)")
        }
        try request.define(forth)
        try request.define(back)
      }
      let children = try (0..<4_000).map { _ in try factory.build(()) }
      let arrived = Atomic(0)
      let found = try onThreads(2) { number in
        try children.enumerated().map { round, child in
          arrived.add(1, ordering: .sequentiallyConsistent)
          while arrived.load(ordering: .sequentiallyConsistent) < 2 * (round + 1) { sched_yield() }
          return number == 0 ? try child.getBean(Forth.self).parts : try child.getBean(Back.self).parts.reversed()
        }
      }
      #expect(zip(found[0], found[1]).allSatisfy { zip($0, $1).allSatisfy { $0 === $1 } })
      #expect(Counted.made.load(ordering: .relaxed) == 6 * children.count)
      try environment.shutdown() as Void
    }
  }
}

private final class Counted: Sendable {
  static let made = Atomic(0)

  init() { Self.made.add(1, ordering: .relaxed) }
}

private class Forth {
  let parts: [Counted]

  init(a: Counted, b: Counted, c: Counted, d: Counted, e: Counted, f: Counted) { parts = [a, b, c, d, e, f] }
}

private final class Back: Forth {}

private protocol Zero {}
private protocol One {}
private protocol Two {}
private final class Part: Zero, One, Two {}
