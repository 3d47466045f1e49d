import Beans

/// An application with singletons, sessions and requests, whose beans record their fates. Only the running thread uses
/// mutable state.
final class Shop: @unchecked Sendable {
  final class Clock: Tracked {}
  final class Account: Tracked {}
  final class Cart: Tracked {}
  final class Order: Tracked {}
  final class Page: Tracked {}
  final class Broken: Tracked {}

  let ledger = Ledger()
  let application: Environment
  let sessions: EnvironmentFactory<Int>
  let requests: EnvironmentFactory<Int>
  /// Returns true if the factory of a `Broken` throws; called each time.
  var isBroken: () -> Bool = { true }
  /// An extra action in the factory of an `Order`.
  var ordering: (Environment) throws -> Void = { _ in }
  /// An extra action in the factory of an `Account`.
  var accounting: (Environment) throws -> Void = { _ in }

  struct Broke: Error {}

  init(starts: Bool = true) throws {
    let ledger = ledger
    application = try Environment(name: "application")
    try application.define(application.bean(Clock.self, factory: { Clock(ledger) }).lazy())
    // Factories run on the thread that runs, after this has been set.
    weak var shop: Shop?
    nonisolated(unsafe) let find = { shop }
    sessions = try application.childFactory("session", seed: Int.self) { session in
      try session.define(
        session.bean(
          Account.self,
          factory: { (environment: Environment) in
            try find()?.accounting(environment)
            return Account(ledger)
          }))
      try session.define(session.bean(Cart.self, factory: { (account: Account) in Cart(ledger, account) }))
      try session.define(
        session.bean(
          Broken.self,
          factory: { (account: Account) throws in
            if find()?.isBroken() ?? true { throw Broke() }
            return Broken(ledger, account)
          }))
      try session.define(
        session.bean(
          Order.self,
          factory: { (environment: Environment) in
            try find()?.ordering(environment)
            return Order(ledger)
          }))
    }
    requests = try sessions.childFactory("request", seed: Int.self) { request in
      try request.define(
        request.bean(Page.self, factory: { (cart: Cart, clock: Clock) in Page(ledger, cart, clock) }))
    }
    shop = self
    if starts { try application.startup() }
  }

  /// Returns the result of `body`; nil if it came too late. Any other error is a fault.
  func result<T>(_ body: () throws -> T) -> T? {
    do { return try body() } catch let error as EnvironmentError where error.code == .finished { return nil } catch {
      ledger.fault("\(error)")
      return nil
    }
  }

  func round(_ environments: [Environment] = [], _ bodies: [() -> Void], check: @escaping () throws -> Void = {})
    -> Round
  {
    Round(
      ledger: ledger, environments: [application] + environments, bodies: bodies,
      check: { [self] in
        try check()
        try application.shutdown()
        if !application.isFinished { ledger.fault("the application is not finished") }
      })
  }

  func expect(_ holds: Bool, _ what: String) { if !holds { ledger.fault(what) } }
}

/// A number that the threads of one round share. Only the thread that runs changes it.
private final class Count: @unchecked Sendable {
  var value = 0
}

extension Scenario {
  /// Two threads with a session.
  ///
  /// - Parameters:
  /// - name: the name of the scenario, for a replay.
  ///   - prepare: changes the shop before the threads begin.
  /// - first: the body of the first thread.
  /// - second: the body of the second thread.
  /// - check: checks the outcome when both have finished, before the application is shut down.
  private static func session(
    _ name: String, prepare: @escaping (Shop) -> Void = { _ in }, _ first: @escaping (Shop, Environment) -> Void,
    _ second: @escaping (Shop, Environment) -> Void, check: @escaping (Shop) -> Void = { _ in }
  ) -> Scenario {
    Scenario(name: name) {
      let shop = try Shop()
      prepare(shop)
      let session = try shop.sessions.build(1)
      return shop.round([session], [{ first(shop, session) }, { second(shop, session) }]) { check(shop) }
    }
  }

  private static func created(_ count: ClosedRange<Int>) -> (Shop) -> Void {
    { $0.expect(count.contains($0.ledger.created), "built \($0.ledger.created) beans") }
  }

  /// Two threads that come into each other's way.
  static var all: [Scenario] { builds + ends + shutdowns }

  /// The scenarios, one for each pair of things that threads do, that have to be tried in all interleavings.
  static let whole: Set = [
    "build/build the same", "build/finish", "finish/finish with a lookup below, once", "open/finish, no lookups",
    "open/shutdown, once",
    "nested lookup/steal, once", "waiter/failing builder", "startup/startup, once",
    "lookup of a built singleton/shutdown",
  ]
  /// Those of these that take more than ten thousand executions.
  static let long: Set = ["finish/finish with a lookup below, once", "lookup of a built singleton/shutdown"]

  // MARK: building

  private static var builds: [Scenario] {
    [
      session(
        "build/build the same", look(for: Shop.Account.self), look(for: Shop.Account.self), check: created(1...1)),
      session(
        "build/build what the other needs", look(for: Shop.Account.self), cartOfTheAccount, check: created(2...2)),
      session("build/build a chain", cartOfTheAccount, cartOfTheAccount, check: created(2...2)),
      session(
        "build/build a chain, once", lookOnce(for: Shop.Cart.self), lookOnce(for: Shop.Cart.self), check: created(2...2)
      ),
      session(
        "build/build, both need the same", prepare: { $0.isBroken = { false } }, look(for: Shop.Cart.self),
        look(for: Shop.Broken.self), check: created(3...3)),
      session(
        "nested lookup/steal", prepare: { $0.ordering = { _ = try $0.getBean(Shop.Cart.self) } },
        look(for: Shop.Order.self), look(for: Shop.Cart.self), check: created(3...3)),
      session(
        "nested lookup/steal, once", prepare: { $0.ordering = { _ = try $0.getBean(Shop.Account.self) } },
        lookOnce(for: Shop.Order.self), lookOnce(for: Shop.Account.self), check: created(2...2)),
      session(
        "nested lookup/nested lookup",
        prepare: { shop in
          shop.ordering = { _ = try $0.getBean(Shop.Account.self) }
          shop.accounting = { _ = try $0.getBean(Shop.Order.self) }
        },
        // Each waits for the other, or comes back to itself: the thread that sees it throws, and no thread waits for
        // ever.
        circular(Shop.Order.self), circular(Shop.Account.self), check: created(0...0)),
      session(
        "waiter/failing builder", fails(looking: Shop.Broken.self), fails(looking: Shop.Broken.self),
        check: created(1...1)),
      Scenario(name: "waiter/builder that fails once") {
        let (shop, calls) = (try Shop(), Count())
        shop.isBroken = {
          calls.value += 1
          return calls.value == 1
        }
        let session = try shop.sessions.build(1)
        var (failed, found) = (0, [Shop.Broken]())
        let body = {
          do { found.append(try session.getBean(Shop.Broken.self)) } catch { failed += 1 }
        }
        return shop.round([session], [body, body]) {
          // A waiting thread receives the error; a later one tries again.
          shop.expect(failed >= 1 && failed + found.count == 2, "\(failed) failed, \(found.count) found")
        }
      },
      session(
        "build/build of a singleton from children", look(for: Shop.Clock.self), look(for: Shop.Clock.self),
        check: created(1...1)),
    ]
  }

  private static func look<T: Tracked>(for type: T.Type) -> (Shop, Environment) -> Void {
    { shop, environment in
      guard let found = shop.result({ try environment.getBean(type) }) else { return }
      let again = shop.result { try environment.getBean(type) }
      shop.expect(again == nil || again === found, "two of \(type)")
    }
  }

  private static func lookOnce<T: Tracked>(for type: T.Type) -> (Shop, Environment) -> Void {
    { shop, environment in _ = shop.result { try environment.getBean(type) } }
  }

  private static func cartOfTheAccount(_ shop: Shop, _ session: Environment) {
    guard let cart = shop.result({ try session.getBean(Shop.Cart.self) }),
      let account = shop.result({ try session.getBean(Shop.Account.self) })
    else { return }
    shop.expect(cart.dependencies[0] === account, "two accounts")
  }

  private static func circular<T: Tracked>(_ type: T.Type) -> (Shop, Environment) -> Void {
    { shop, session in
      do {
        _ = try session.getBean(type)
        shop.ledger.fault("a circle was built")
      } catch let error as EnvironmentError {
        shop.expect(error.code == .cyclicDependency, "\(error)")
      } catch { shop.ledger.fault("\(error)") }
    }
  }

  private static func fails<T: Tracked>(looking type: T.Type) -> (Shop, Environment) -> Void {
    { shop, session in
      do {
        _ = try session.getBean(type)
        shop.ledger.fault("nothing failed")
      } catch let error as EnvironmentError {
        shop.expect(error.code == .creationFailed && error.underlying.first is Shop.Broke, "\(error)")
      } catch { shop.ledger.fault("\(error)") }
    }
  }

  // MARK: ends of sessions and requests

  private static var ends: [Scenario] {
    [
      session("build/finish", look(for: Shop.Cart.self)) { shop, session in
        session.finish()
        shop.expect(shop.result { try session.getBean(Shop.Cart.self) } == nil, "found after the end")
      },
      session(
        "found/finish", look(for: Shop.Account.self),
        { _, session in session.finish() }),
      session(
        "finish/finish", { _, session in session.finish() },
        { _, session in session.finish() }, check: { $0.expect($0.sessionCount == 0, "the session is still there") }),
      Scenario(name: "finish/finish with a lookup below") {
        let shop = try Shop()
        let session = try shop.sessions.build(1)
        let request = try shop.requests.build(1, in: session)
        let body = {
          session.finish()
          shop.expect(shop.result { try request.getBean(Shop.Page.self) } == nil, "found below what is finished")
        }
        return shop.round([session, request], [body, body])
      },
      Scenario(name: "finish/finish with a lookup below, once") {
        let shop = try Shop()
        let session = try shop.sessions.build(1)
        let request = try shop.requests.build(1, in: session)
        return shop.round(
          [session, request],
          [
            { session.finish() },
            {
              session.finish()
              shop.expect(shop.result { try request.getBean(Shop.Page.self) } == nil, "found below what is finished")
            },
          ])
      },
      Scenario(name: "lookup below/finish") {
        let shop = try Shop()
        let session = try shop.sessions.build(1)
        let request = try shop.requests.build(1, in: session)
        return shop.round([session, request], [{ look(for: Shop.Page.self)(shop, request) }, { session.finish() }])
      },
      Scenario(name: "finish below/finish") {
        let shop = try Shop()
        let session = try shop.sessions.build(1)
        let request = try shop.requests.build(1, in: session)
        _ = try request.getBean(Shop.Page.self)
        return shop.round([session, request], [{ request.finish() }, { session.finish() }]) {
          shop.expect(shop.ledger.released == 3, "released \(shop.ledger.released) of 3")
        }
      },
      Scenario(name: "finish below/shutdown") {
        let shop = try Shop()
        let session = try shop.sessions.build(1)
        let request = try shop.requests.build(1, in: session)
        _ = try request.getBean(Shop.Page.self)
        return shop.round(
          [session, request],
          [
            { request.finish() },
            {
              shop.end(session)
              shop.expect(shop.ledger.released == 3, "released \(shop.ledger.released) of 3")
            },
          ])
      },
      session("open/finish", openARequest) { shop, session in
        session.finish()
        shop.expect(shop.result { try shop.requests.build(2, in: session) } == nil, "opened after the end")
      },
      session("open/finish, no lookups", openOnce) { _, session in session.finish() },
      session("open/open", openARequest, openARequest),
      session("open/open, no lookups", openOnce, openOnce),
      session("open and look/open and look", openAndLookOnce, openAndLookOnce),
    ]
  }

  private static func openOnce(_ shop: Shop, _ session: Environment) {
    shop.result { try shop.requests.build(1, in: session) }?.finish()
  }

  /// The shutdown has to finish it.
  private static func openAndLookOnce(_ shop: Shop, _ session: Environment) {
    guard let request = shop.result({ try shop.requests.build(1, in: session) }) else { return }
    lookOnce(for: Shop.Page.self)(shop, request)
  }

  private static func openARequest(_ shop: Shop, _ session: Environment) {
    guard let request = shop.result({ try shop.requests.build(1, in: session) }) else { return }
    look(for: Shop.Page.self)(shop, request)
    request.finish()
    shop.expect(shop.result { try request.getBean(Shop.Page.self) } == nil, "found after the end")
  }

  // MARK: ends of the application

  private static var shutdowns: [Scenario] {
    [
      session("open/shutdown", openARequest, shutDown),
      session("open/shutdown, no lookups", openOnce, shutDownOnce),
      Scenario(name: "open/shutdown, once") {
        let shop = try Shop()
        return shop.round([], [{ _ = shop.result { try shop.sessions.build(1) } }, { shop.end(shop.application) }])
      },
      session("open and look/shutdown", openAndLookOnce, shutDownOnce),
      session("open a session/shutdown", { shop, _ in openASession(shop) }, shutDown),
      session("build/shutdown", look(for: Shop.Cart.self), shutDown),
      session("shutdown/shutdown", shutDown, shutDown),
      session("shutdown/shutdown, once", shutDownOnce, shutDownOnce),
      session("finish/shutdown", { _, session in session.finish() }, shutDown),
      Scenario(name: "lookup of a singleton/shutdown") {
        let shop = try Shop()
        return shop.round([], [{ look(for: Shop.Clock.self)(shop, shop.application) }, { shutDown(shop) }])
      },
      Scenario(name: "lookup of a built singleton/shutdown") {
        let shop = try Shop()
        _ = try shop.application.getBean(Shop.Clock.self)
        return shop.round(
          [], [{ lookOnce(for: Shop.Clock.self)(shop, shop.application) }, { shop.end(shop.application) }])
      },
      Scenario(name: "lookup of a singleton/shutdown, once") {
        let shop = try Shop()
        return shop.round(
          [], [{ lookOnce(for: Shop.Clock.self)(shop, shop.application) }, { shop.end(shop.application) }])
      },
      Scenario(name: "use of a singleton/shutdown") {
        let shop = try Shop()
        _ = try shop.application.getBean(Shop.Clock.self)
        return shop.round(
          [],
          [
            {
              _ = shop.result {
                try shop.application.withBean(Shop.Clock.self) { clock in
                  shop.expect(!clock.isReleased, "lent when it was released")
                  // A step, before which the other thread may come.
                  _ = shop.application.isFinished
                  shop.expect(!clock.isReleased, "released while it was lent")
                }
              }
            },
            {
              shutDown(shop)
              shop.expect(shop.ledger.released == 1, "not released")
            },
          ])
      },
      Scenario(name: "use of a singleton in a child/shutdown") {
        let shop = try Shop()
        let session = try shop.sessions.build(1)
        _ = try shop.application.getBean(Shop.Clock.self)
        return shop.round(
          [session],
          [
            {
              _ = shop.result {
                try session.withBean(Shop.Clock.self) { clock in
                  // A step, before which the other thread may come.
                  _ = session.isFinished
                  shop.expect(!clock.isReleased, "released while it was lent")
                }
              }
            },
            { shutDown(shop) },
          ])
      },
      Scenario(name: "startup/startup") {
        let shop = try Shop(starts: false)
        let body = { look(for: Shop.Clock.self)(shop, shop.application) }
        return shop.round([], [body, body]) { created(1...1)(shop) }
      },
      Scenario(name: "startup/shutdown") {
        let shop = try Shop(starts: false)
        return shop.round([], [{ look(for: Shop.Clock.self)(shop, shop.application) }, { shutDown(shop) }])
      },
      Scenario(name: "startup/startup, once") {
        let shop = try Shop(starts: false)
        let body = { shop.start() }
        return shop.round([], [body, body])
      },
      Scenario(name: "startup/shutdown, once") {
        let shop = try Shop(starts: false)
        return shop.round([], [{ shop.start() }, { shop.end(shop.application) }])
      },
      Scenario(name: "startup/open, once") {
        let shop = try Shop(starts: false)
        return shop.round([], [{ shop.start() }, { shop.result { try shop.sessions.build(2) }?.finish() }])
      },
      Scenario(name: "startup/open") {
        let shop = try Shop(starts: false)
        return shop.round([], [{ look(for: Shop.Clock.self)(shop, shop.application) }, { openASession(shop) }])
      },
    ]
  }

  private static func openASession(_ shop: Shop) {
    guard let session = shop.result({ try shop.sessions.build(2) }) else { return }
    look(for: Shop.Cart.self)(shop, session)
    session.finish()
  }

  private static func shutDown(_ shop: Shop) {
    shop.end(shop.application)
    shop.expect(shop.ledger.created == shop.ledger.released, "shutdown returned before everything was released")
    shop.expect(shop.result { try shop.sessions.build(3) } == nil, "opened after the end")
  }

  private static func shutDown(_ shop: Shop, _ session: Environment) { shutDown(shop) }

  private static func shutDownOnce(_ shop: Shop, _ session: Environment) { shop.end(shop.application) }
}

// MARK: four threads

extension Scenario {
  /// Possible calls of four threads at one moment, made up from a seed.
  static func random(_ seed: UInt64) -> Scenario {
    Scenario(name: "random \(seed)", threads: 4) {
      var numbers = Numbers(seed)
      let shop = try Shop()
      // Some builds ask for more by themselves, some fail.
      if numbers.below(2) == 0 { shop.ordering = { _ = try $0.getBean(Shop.Cart.self) } }
      let failures = Count()
      failures.value = numbers.below(3)
      shop.isBroken = {
        failures.value -= 1
        return failures.value >= 0
      }
      let sessions = [try shop.sessions.build(1), try shop.sessions.build(2)]
      let bodies = (0..<4).map { _ in
        let actions = (0..<3).map { _ in action(&numbers, shop, sessions[numbers.below(2)]) }
        return { for action in actions { action() } }
      }
      return shop.round(sessions, bodies)
    }
  }

  private static func action(_ numbers: inout Numbers, _ shop: Shop, _ session: Environment) -> () -> Void {
    switch numbers.below(20) {
    case 0..<3: { look(for: Shop.Account.self)(shop, session) }
    case 3..<6: { cartOfTheAccount(shop, session) }
    case 6..<8: { look(for: Shop.Order.self)(shop, session) }
    case 8..<10: { _ = try? session.getBean(Shop.Broken.self) }
    case 10..<14: { openARequest(shop, session) }
    case 14..<16: { openASession(shop) }
    case 16..<18: { session.finish() }
    case 18: { look(for: Shop.Clock.self)(shop, shop.application) }
    default: { shutDown(shop) }
    }
  }
}

/// Lets any thread go on, the one that runs most often.
final class Random: Chooser {
  private var numbers: Numbers
  private(set) var schedule = Schedule(choices: [])

  init(_ seed: UInt64) { numbers = Numbers(seed) }

  func choose(_ choice: Choice) -> ThreadNumber {
    var next = choice.enabled[numbers.below(choice.enabled.count)]
    if let last = choice.last, choice.enabled.contains(last), numbers.below(8) != 0 { next = last }
    schedule.choices.append(next)
    return next
  }
}

/// Numbers that a seed gives again (SplitMix64).
struct Numbers {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func below(_ limit: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var number = state
    number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
    number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
    return Int((number ^ number >> 31) % UInt64(limit))
  }
}

extension Shop {
  /// The sessions that are open.
  var sessionCount: Int {
    application.statistics().filter { $0.scope == "session" }.map { $0.opened - $0.finished }.reduce(0, +)
  }

  func start() { _ = result { try application.startup() } }

  func end(_ environment: Environment) {
    do { try environment.shutdown() } catch { ledger.fault("\(error)") }
  }
}
