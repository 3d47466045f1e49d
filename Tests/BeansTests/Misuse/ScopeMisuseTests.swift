import TestSupport
import Synchronization
import Testing

@testable import Beans

/// Scope objects and scope names where they do not belong, or do more than they should.
@Suite(.timeLimit(.minutes(5)))
struct ScopeMisuseTests {
  // MARK: scope objects of factories

  @Test func aPlainScopeObjectIsPreparedForEveryBeanAndFinishedOnce() throws {
    let environment = try Environment()
    let journal = Journal()
    try environment.define(environment.bean("declared outside").scope("request"))
    let factory = try environment.childFactory(
      "request", seed: Void.self, scope: { NotingScope(journal) },
      configure: {
        try $0.define($0.bean(7))
        try $0.define($0.bean(Tracked.self, lazy: true, factory: { Tracked(Tracked.Counters()) }))
      })
    let child = try factory.build(())
    #expect(journal.entries.sorted() == ["prepare Int", "prepare String", "prepare Tracked"])
    _ = try child.getBean(Tracked.self)
    child.finish()
    child.finish()
    try child.shutdown()
    #expect(journal.entries.dropFirst(3) == ["finish"])
    try environment.shutdown()
  }

  @Test func anAbstractBeanScopeOfAChildKeepsAndReleasesOnce() throws {
    let environment = try Environment()
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Void.self, scope: { AbstractBeanScope(name: "request") },
      configure: { try $0.define($0.bean(Tracked.self, factory: { Tracked(counters) })) })
    try factory.withChild(()) { child in
      let (one, two) = (try child.getBean(Tracked.self), try child.getBean(Tracked.self))
      #expect(one === two)
    }
    #expect(counters.built.value == 1)
    #expect(counters.destroyed.value == 1)
    #expect(counters.died.value == 1)
    try environment.shutdown()
  }

  /// A scope that builds its beans early, in the way `AbstractBeanScope` offers.
  @Test func anEagerScopeObjectDoesNotReleaseTwice() throws {
    let environment = try Environment()
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Void.self, scope: { EagerScope(name: "request") },
      configure: { try $0.define($0.bean(Tracked.self, factory: { Tracked(counters) })) })
    let child = try factory.build(())
    #expect(counters.built.value == 1)
    _ = try child.getBean(Tracked.self)
    try child.shutdown()
    #expect(counters.built.value == 1)
    #expect(counters.destroyed.value == 1)
    #expect(counters.died.value == 1)
    try environment.shutdown()
  }

  @Test func aScopeObjectWhosePrepareThrows() throws {
    let environment = try Environment()
    let journal = Journal()
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Tracked.self, scope: { NotingScope(journal, refuses: "Int") },
      configure: {
        try $0.define($0.bean(7))
      })
    #expect(throws: Boom.self) { try factory.build(Tracked(counters)) }
    #expect(journal.entries == ["prepare Int", "finish"])
    #expect(counters.died.value == 1)
    #expect(!environment.hasOpenChildren)
    try environment.shutdown()
  }

  // MARK: scopes registered or named in odd places

  /// A scope object shared by all children would outlive the beans it keeps.
  @Test func aScopeRegisteredInsideConfigureIsRefusedOrFinished() throws {
    let environment = try Environment()
    let counters = Tracked.Counters()
    var registering: EnvironmentError.Code?
    let factory = try environment.childFactory(
      "request", seed: Void.self,
      configure: { inner in
        registering = code { try inner.registerScope(AbstractBeanScope(name: "own")) }
        if registering == nil {
          try inner.define(inner.bean(Tracked.self, factory: { Tracked(counters) }).scope("own"))
        }
      })
    if registering == nil {
      try factory.withChild(()) { _ = try $0.getBean(Tracked.self) }
      #expect(counters.destroyed.value == 1)
    } else {
      #expect(registering == .invalidDeclaration)
    }
    try environment.shutdown()
  }

  /// The child's plan has been compiled, its slots have been counted.
  @Test func aPlainEnvironmentInsideAChildDeclaresForTheChildsScope() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      let factory = try environment.childFactory("request", seed: Int.self)
      let child = try factory.build(1)
      let plain = try Environment(name: "plain", parent: child)
      for number in 0..<100 {
        try plain.define(plain.bean(Tracked.self, id: "\(number)", factory: { Tracked(.init()) }).scope("request"))
      }
      let found = faults(of: plain)
      #expect(found.count == 100)
      #expect(found.allSatisfy { $0.code == .invalidDeclaration })
      #expect(try child.getBean(Int.self) == 1)
      try environment.shutdown() as Void
    }
  }

  /// Two beans of a caching scope that look each other up on two threads.
  @Test func aCircleOfTwoThreadsThroughAnAbstractBeanScope() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      let environment = try Environment()
      try environment.registerScope(AbstractBeanScope(name: "own"))
      let first = Gate(), second = Gate()
      try environment.define(
        environment.bean(
          String.self,
          factory: { (environment: Environment) in
            first.open()
            try second.wait()
            return "\(try environment.getBean(Int.self))"
          }
        ).scope("own"))
      try environment.define(
        environment.bean(
          Int.self,
          factory: { (environment: Environment) in
            second.open()
            try first.wait()
            return try environment.getBean(String.self).count
          }
        ).scope("own"))
      try environment.startup()
      let one = Worker { code { try environment.getBean(String.self) } }
      let two = Worker { code { try environment.getBean(Int.self) } }
      let codes = [try one.value(), try two.value()]
      #expect(codes.contains(.cyclicDependency))
    }
  }

  @Test func aScopeThatAnswersWithAnotherType() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      try environment.registerScope(LyingScope())
      try environment.define(environment.bean(Tracked.self, factory: { Tracked(.init()) }).scope("lying"))
      try environment.define(environment.bean(7, id: "seven").scope("lying"))
      try environment.startup()
      #expect(code { try environment.getBean(Tracked.self).preDestroy() } == .typeMismatch)
      #expect(code { try environment.getBean(Int.self) } == .typeMismatch)
    }
  }
}

private final class NotingScope: BeanScope {
  let journal: Journal
  let refused: String
  init(_ journal: Journal, refuses: String = "") {
    self.journal = journal
    refused = refuses
  }
  var name: String { "request" }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {
    let type = bean.type.map { "\($0)" } ?? ""
    journal.note("prepare \(type)")
    if type == refused { throw Boom() }
  }
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { try factory.create(bean) }
  func finish() { journal.note("finish") }
}

private final class EagerScope: AbstractBeanScope, @unchecked Sendable {  // adds no state
  override func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {
    _ = try get(bean: bean, factory: factory)
  }
}

/// Answers with an object that is not what was asked for.
private final class LyingScope: BeanScope {
  var name: String { "lying" }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) -> AnyObject { LyingScope() }
  func finish() {}
}
