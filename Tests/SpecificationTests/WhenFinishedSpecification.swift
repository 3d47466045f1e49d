import Beans
import TestSupport
import Testing

@Suite("whenFinished", .timeLimit(.minutes(20)))
struct WhenFinishedSpecification {
  @Test("A child that has ended already calls its callback at once")
  func aChildThatHasEndedCallsAtOnce() throws {
    let environment = try Environment()
    let factory = try environment.childFactory("request", seed: Void.self)
    let child = try factory.build(())
    child.finish()
    let called = Counter()
    child.whenFinished { called.increment() }
    #expect(called.value == 1)
    try environment.shutdown()
  }

  @Test("Every callback is called once, after the last release")
  func everyCallbackOnceAfterTheLastRelease() throws {
    let environment = try Environment()
    let journal = Journal()
    try environment.define(environment.bean(7).onDestroy { _ in journal.note("destroyed") }).startup()
    environment.whenFinished { journal.note("one") }
    environment.whenFinished { journal.note("two") }
    environment.finish()
    environment.finish()
    #expect(journal.entries == ["destroyed", "one", "two"])
  }

  @Test("Callbacks registered while the child ends are each called once")
  func registrationsRaceTheEnd() throws {
    var lost = 0
    for _ in 0..<300 {
      let environment = try Environment()
      let factory = try environment.childFactory("request", seed: Void.self)
      let child = try factory.build(())
      let called = Counter()
      _ = try onThreads(2) { number in
        if number == 0 { child.finish() } else { child.whenFinished { called.increment() } }
      }
      if called.value != 1 { lost += 1 }
      try environment.shutdown()
    }
    #expect(lost == 0)
  }
}
