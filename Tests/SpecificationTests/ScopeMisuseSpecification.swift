import Beans
import Synchronization
import TestSupport
import Testing

/// Scope objects and scope names in wrong places, or with too many effects.
@Suite("Scopes in wrong places", .timeLimit(.minutes(20)))
struct ScopeMisuseSpecification {
  @FreshEnvironment private var environment

  // MARK: scope objects of factories

  @Test("A scope object is prepared for every bean of its child, and finished once")
  func aPlainScopeObjectIsPreparedForEveryBeanAndFinishedOnce() throws {
    let journal = Journal()
    try environment.define(environment.bean("declared outside").scope("request"))
    let factory = try environment.childFactory(
      "request", seed: Void.self,
      configure: {
        try $0.define($0.bean(7))
        try $0.define($0.bean(Tracked.self, lazy: true, factory: { Tracked(Tracked.Counters()) }))
      }, scope: { NotingScope(journal) })
    let child = try factory.build(())
    #expect(journal.entries == ["prepare 0", "prepare 1", "prepare 2"])
    // Each bean is one of the prepared ones, and each is another one.
    _ = try child.getBean(Tracked.self)
    _ = try child.getBean(Int.self)
    _ = try child.getBean(String.self)
    child.finish()
    child.finish()
    try child.shutdown()
    #expect(journal.entries.dropFirst(3) == ["finish"])
    try environment.shutdown()
  }

  @Test("An AbstractBeanScope as the scope object of a child keeps its beans, and releases them once")
  func anAbstractBeanScopeOfAChildKeepsAndReleasesOnce() throws {
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Void.self,
      configure: { try $0.define($0.bean(Tracked.self, factory: { Tracked(counters) })) },
      scope: { AbstractBeanScope(name: "request") })
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
  @Test("A scope object that builds its beans early does not release them twice")
  func anEagerScopeObjectDoesNotReleaseTwice() throws {
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Void.self,
      configure: { try $0.define($0.bean(Tracked.self, factory: { Tracked(counters) })) },
      scope: { EagerScope(name: "request") })
    let child = try factory.build(())
    #expect(counters.built.value == 1)
    _ = try child.getBean(Tracked.self)
    try child.shutdown()
    #expect(counters.built.value == 1)
    #expect(counters.destroyed.value == 1)
    #expect(counters.died.value == 1)
    try environment.shutdown()
  }

  @Test("A scope object whose prepare throws is finished, and no child is left")
  func aScopeObjectWhosePrepareThrows() throws {
    let journal = Journal()
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Tracked.self,
      configure: {
        try $0.define($0.bean(7))
      }, scope: { NotingScope(journal, refuses: true) })
    #expect(throws: Boom.self) { try factory.build(Tracked(counters)) }
    #expect(journal.entries == ["prepare 0", "finish"])
    #expect(counters.died.value == 1)
    #expect(!environment.hasOpenChildren)
    try environment.shutdown()
  }

  // MARK: scopes registered or named in odd places

  /// A scope object shared by all children would outlive the beans it keeps.
  @Test("A scope registered inside configure is refused, or finished with each child")
  func aScopeRegisteredInsideConfigureIsRefusedOrFinished() throws {
    let counters = Tracked.Counters()
    var registering: EnvironmentError.Code?
    let factory = try environment.childFactory("request", seed: Void.self) { inner in
      registering = code { try inner.registerScope(AbstractBeanScope(name: "own")) }
      if registering == nil {
        try inner.define(inner.bean(Tracked.self, factory: { Tracked(counters) }).scope("own"))
      }
    }
    if registering == nil {
      try factory.withChild(()) { _ = try $0.getBean(Tracked.self) }
      #expect(counters.destroyed.value == 1)
    } else {
      #expect(registering == .invalidDeclaration)
    }
    try environment.shutdown()
  }

  /// The child's plan has been compiled, and its slots have been counted.
  @Test("A plain environment inside a child cannot declare for the scope of that child")
  func aPlainEnvironmentInsideAChildDeclaresForTheChildsScope() async {
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
  @Test("Two beans of an AbstractBeanScope that look each other up on two threads are a circle")
  func aCircleOfTwoThreadsThroughAnAbstractBeanScope() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      let environment = try Environment()
      try environment.registerScope(AbstractBeanScope(name: "own"))
      let first = Gate(), second = Gate()
      try environment.define(
        environment.bean(String.self) { (environment: Environment) in
          first.open()
          try second.wait()
          return "\(try environment.getBean(Int.self))"
        }.scope("own"))
      try environment.define(
        environment.bean(Int.self) { (environment: Environment) in
          second.open()
          try first.wait()
          return try environment.getBean(String.self).count
        }.scope("own"))
      try environment.startup()
      let one = BackgroundThread { code { try environment.getBean(String.self) } }
      let two = BackgroundThread { code { try environment.getBean(Int.self) } }
      let codes = [try one.value(), try two.value()]
      #expect(codes.contains(.cyclicDependency))
    }
  }

  @Test("A scope that returns an object of another type is a type mismatch")
  func aScopeThatReturnsAnotherType() async {
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

private final class NotingScope: ChildScope {
  let journal: Journal
  let refuses: Bool
  private let prepared = Guarded<[ObjectIdentifier]>([])
  init(_ journal: Journal, refuses: Bool = false) {
    self.journal = journal
    self.refuses = refuses
  }
  var name: String { "request" }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {
    let id = ObjectIdentifier(bean)
    let number = prepared.withLock {
      $0.append(id)
      return $0.firstIndex(of: id) ?? -1
    }
    journal.note("prepare \(number)")
    if refuses { throw Boom() }
  }
  func finish() { journal.note("finish") }
}

private final class EagerScope: AbstractBeanScope, @unchecked Sendable {  // adds no state
  override func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {
    _ = try get(bean: bean, factory: factory)
  }
}

/// Returns an object of a type that was not requested.
private final class LyingScope: BeanScope {
  var name: String { "lying" }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) -> AnyObject { LyingScope() }
  func finish() {}
}
