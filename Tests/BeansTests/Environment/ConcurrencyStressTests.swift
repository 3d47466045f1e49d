import TestSupport
import BeansLogging
import Testing

@testable import Beans

/// Threads that meet at the worst moment, many times.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct ConcurrencyStressTests {
  private static let rounds = 80

  @Test func concurrentFirstLookupsStartOnce() throws {
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

  @Test func aFailingStartupThrowsItsCauseOnEveryThread() throws {
    for _ in 0..<Self.rounds {
      let environment = try Environment()
      let attempts = Counter()
      try environment.define(
        environment.bean(
          Int.self,
          factory: {
            attempts.increment()
            throw Boom()
          }))
      let codes = try onThreads(4) { _ in code { try environment.getBean(Int.self) } }
      #expect(codes.allSatisfy { $0 == .creationFailed })
      #expect(attempts.value == 1)
    }
  }

  @Test func lookupsRaceTheEnd() throws {
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

  /// What counts lookups has to survive the end: they knock on while the last word is being said.
  @Test func lookupsKnockOnWhileTheEndIsMarked() throws {
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
      for child in children { #expect(Environment.State.entered(child.state) == 0) }
      try environment.shutdown()
    }
  }

  @Test func lookupsInAChildRaceItsEndAndItsParents() throws {
    for _ in 0..<Self.rounds {
      let environment = try Environment()
      let counters = Tracked.Counters()
      try environment.define(environment.bean(Tracked.self, id: "outer", lazy: true, factory: { Tracked(counters) }))
      let factory = try environment.childFactory(
        "request", seed: Int.self,
        configure: {
          try $0.define(
            $0.bean(Tracked.self, id: "inner", factory: { (_: Tracked) in Tracked(counters) }).argument(0, ref: "outer")
          )
        })
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
  @Test func childrenOpenWhileTheParentEnds() throws {
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
  @Test func plainChildrenStartOnSeveralThreads() async {
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

  @Test func plainChildrenStartWhileTheParentEnds() async {
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

  /// In a process of its own, where it may silence the log.
  @Test func shutdownsMeet() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      _ = LogManager()
      for _ in 0..<80 {
        let environment = try Environment()
        let counters = Tracked.Counters()
        try environment.define(
          environment.bean(Tracked.self, factory: { Tracked(counters) }).onDestroy { _ in throw Boom() })
        let factory = try environment.childFactory(
          "request", seed: Void.self, scope: { AbstractBeanScope(name: "request") },
          configure: { try $0.define($0.bean(7)) })
        try environment.startup()
        let child = try factory.build(())
        let codes = try onThreads(4) { number in
          code { try (number < 2 ? environment : child).shutdown() as Void }
        }
        #expect(codes.filter { $0 == .destructionFailed }.count == 1)
        #expect(codes.filter { $0 == nil }.count == 3)
        #expect(counters.died.value == 1)
      }
    }
  }
}

private protocol Zero {}
private protocol One {}
private protocol Two {}
private final class Part: Zero, One, Two {}
