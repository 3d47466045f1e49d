import Beans
import BeansEventLoop
import BeansLogging
import BeansServer
import TestSupport
import Testing

private struct OrderPlaced: Sendable {}

/// The threads on which listeners are called if their scope is bound to a loop.
@Suite(.timeLimit(.minutes(20)))
struct EventTests {
  private let journal = Journal()
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  /// A cart that notes at each order where it hears of it, then opens the gate.
  private func cart(
    _ name: String, in environment: Environment, on loop: EventLoop, _ heard: Gate? = nil
  ) -> TypedBeanDeclaration<Cart> {
    let journal = journal
    return environment.bean(Cart.self, id: name, lazy: true, factory: { Cart() }).listens { (_, _: OrderPlaced) in
      journal.note("\(name)\(loop.place)")
      heard?.open()
    }
  }

  private func requests(on loop: EventLoop, _ heard: Gate? = nil) throws -> EnvironmentFactory<Int> {
    try application.childFactory("request", seed: Int.self) {
      try $0.define(cart("request", in: $0, on: loop, heard))
    } scope: {
      RequestScope(loop: loop)
    }
  }

  @Test func aListenerOfTheLoopThatPublishesIsCalledInPlace() throws {
    try withLoops { loops in
      try application.define(cart("application", in: application, on: loops[0]))
      let request = try requests(on: loops[0]).build(1)
      let seen = try loops[0].perform { [journal] in
        try request.publish(OrderPlaced())
        return journal.entries
      }
      #expect(seen == ["request on the loop", "application on the loop"])
      try application.shutdown()
    }
  }

  @Test func anEventIsSentToAListenerOfAnotherLoopWithoutAWait() throws {
    try withLoops { loops in
      let (blocked, heard) = (Gate("the loop"), Gate("the order"))
      try application.define(cart("application", in: application, on: loops[0]))
      let request = try requests(on: loops[0], heard).build(1)
      try loops[0].block(by: blocked)
      try request.publish(OrderPlaced())
      #expect(journal.entries == ["application elsewhere"])
      blocked.open()
      try heard.wait()
      #expect(journal.entries == ["application elsewhere", "request on the loop"])
      try application.shutdown()
    }
  }

  @Test func eachListenerIsCalledOnTheLoopOfItsEnvironment() throws {
    try withLoops(2) { loops in
      let (own, other) = (loops[0], loops[1])
      let heard = Gate("the order")
      let sessions = try application.childFactory("session", seed: Int.self) {
        try $0.define(cart("session", in: $0, on: other, heard))
      } scope: {
        SessionScope(loop: other, idleTimeout: .seconds(3_600))
      }
      let requests = try sessions.childFactory("request", seed: Int.self) {
        try $0.define(cart("request", in: $0, on: own))
      } scope: {
        RequestScope(loop: own)
      }
      let request = try requests.build(1, in: try sessions.build(1))
      try own.perform { try request.publish(OrderPlaced()) }
      try heard.wait()
      #expect(Set(journal.entries) == ["request on the loop", "session on the loop"])
      try application.shutdown()
    }
  }

  @Test func aBeanOfARegisteredScopeIsCalledOnItsLoop() throws {
    try withLoops { loops in
      let heard = Gate("the order")
      let scope = LoopScope(name: "shift", loop: loops[0])
      try application.registerScope(scope)
      try application.define(cart("shift", in: application, on: loops[0], heard).scope("shift"))
      try application.publish(OrderPlaced())
      try heard.wait()
      #expect(journal.entries == ["shift on the loop"])
      scope.finish()
      try application.publish(OrderPlaced())
      try application.shutdown()
      #expect(journal.entries == ["shift on the loop"])
    }
  }

  @Test func anEnvironmentThatHasEndedMeanwhileReceivesNoEvent() throws {
    try withLoops { loops in
      let blocked = Gate("the loop")
      let request = try requests(on: loops[0]).build(1)
      try loops[0].block(by: blocked)
      try request.publish(OrderPlaced())
      request.finish()
      blocked.open()
      try request.waitForEnd()
      try loops[0].perform {}
      #expect(journal.entries == [])
      try application.shutdown()
    }
  }

  @Test func aListenerIsCalledInPlaceIfNoThreadRunsItsLoop() throws {
    let loop = try EventLoop()
    let request = try requests(on: loop).build(1)
    try request.publish(OrderPlaced())
    #expect(journal.entries == ["request elsewhere"])
    try application.shutdown()
    try loop.close()
  }

  @Test func aListenerOfALoopMayEndItsEnvironment() throws {
    try withLoops { loops in
      let journal = journal
      let requests = try application.childFactory("request", seed: Int.self) { request in
        try request.define(
          request.bean(Cart.self) { (_: Environment) in Cart() }
            .listens { (_, _: OrderPlaced) in try Environment.current?.shutdown() }
            .onDestroy { _ in journal.note("released") })
      } scope: {
        RequestScope(loop: loops[0])
      }
      let request = try requests.build(1)
      try loops[0].perform {
        try Environment.$current.withValue(request) { try request.publish(OrderPlaced()) }
      }
      try request.waitForEnd()
      #expect(journal.entries == ["released"])
      try application.shutdown()
    }
  }

  /// Runs in a process of its own, whose log is its own.
  @Test func anErrorOfAListenerOfAnotherLoopIsLogged() async {
    await #expect(processExitsWith: .success) {
      final class Lines: BeansLogging.Log, @unchecked Sendable {  // the journal is locked
        let journal = Journal()
        override func log(_ entry: LogEntry) { journal.note(entry.message) }
      }
      let lines = Lines(name: "lines")
      LogManager().registerLogger("Beans", level: .error, logs: [lines])
      let application = try Environment(name: "application")
      try withLoops { loops in
        let requests = try application.childFactory("request", seed: Int.self) {
          try $0.define(
            $0.bean(Cart.self, id: "cart", factory: { Cart() }).listens { (_, _: OrderPlaced) in throw Boom() })
        } scope: {
          RequestScope(loop: loops[0])
        }
        let request = try requests.build(1)
        try request.publish(OrderPlaced())
        try loops[0].perform {}
        #expect(lines.journal.entries.count == 1)
        let line = lines.journal.entries.first ?? ""
        #expect(line.hasPrefix("'request': listenerFailed: Cart 'cart' could not receive OrderPlaced"), "\(line)")
        #expect(line.contains("EventTests.swift:"), "\(line)")
        try application.shutdown() as Void
      }
    }
  }
}
