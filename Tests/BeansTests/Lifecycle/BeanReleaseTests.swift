import TestSupport
import Testing

@testable import Beans

@Suite struct BeanReleaseTests {
  private func release(_ object: AnyObject, _ callbacks: [BeanCallback] = []) -> BeanRelease {
    let declaration = BeanDeclaration(type: type(of: object), id: "bean", file: "f", line: 1)
    declaration.definedType = Noting.self
    declaration.callbacks = callbacks
    return BeanRelease(object, of: declaration)
  }

  @Test func preDestroyComesFirstAndAllCallbacksRun() {
    let journal = Journal()
    let failure = release(
      Noting(journal, fails: true),
      [
        BeanCallback { (_: Noting) in
          journal.note("one")
          throw Boom()
        }, BeanCallback { (_: Noting) in journal.note("two") },
      ]
    ).runSynchronously()
    #expect(journal.entries == ["preDestroy", "one", "two"])
    #expect(failure?.code == .destructionFailed)
    #expect(failure?.underlying.count == 2)
    #expect(failure?.path == ["Noting 'bean'"])
    #expect(failure?.origin == EnvironmentError.Origin(file: "f", line: 1))
  }

  @Test func successIsSilent() {
    #expect(release(Noting(Journal())).runSynchronously() == nil)
    #expect(release(ValueBox(7)).runSynchronously() == nil)
  }

  @Test func valuesAreReleasedInTheirBoxes() {
    let journal = Journal()
    #expect(
      release(ValueBox(7), [BeanCallback { (number: Int) in journal.note("\(number)") }]).runSynchronously() == nil)
    #expect(journal.entries == ["7"])
  }

  @Test func anAsynchronousBeanIsAFailureWhereNobodyWaits() async {
    let journal = Journal()
    let bean = Waiting(journal)
    let callbacks = [BeanCallback { (_: Waiting) in journal.note("callback") }]
    #expect(release(bean, callbacks).isAsynchronous)
    #expect(release(bean, callbacks).runSynchronously()?.code == .destructionFailed)
    #expect(journal.entries == ["callback"])
    #expect(await release(bean, callbacks).runAsynchronously() == nil)
    #expect(journal.entries == ["callback", "awaited", "callback"])
  }

  @Test func aCallbackForAnotherTypeIsAFailureAndNoTrap() {
    let failure = release(ValueBox(7), [BeanCallback { (_: String) in }]).runSynchronously()
    #expect(failure?.code == .destructionFailed)
  }

  @Test func releasesOfAnEnvironmentRunInReverseOrderWhateverFails() throws {
    let environment = try Environment()
    let journal = Journal()
    for number in 0..<5 {
      try environment.define(
        environment.bean(number, id: "\(number)").onDestroy {
          journal.note("\($0)")
          if $0 == 2 { throw Boom() }
        })
    }
    try environment.startup()
    #expect(code { try environment.shutdown() } == .destructionFailed)
    #expect(journal.entries == ["4", "3", "2", "1", "0"])
    #expect(code { try environment.shutdown() } == nil)
  }

  private final class Noting: DisposableBean {
    let journal: Journal
    let fails: Bool
    init(_ journal: Journal, fails: Bool = false) {
      self.journal = journal
      self.fails = fails
    }
    func preDestroy() throws {
      journal.note("preDestroy")
      if fails { throw Boom() }
    }
  }

  private final class Waiting: AsyncDisposableBean {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func preDestroy() async throws {
      await Task.yield()
      journal.note("awaited")
    }
  }
}
