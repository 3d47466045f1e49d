import Beans
import Glibc
import Synchronization
import Testing

/// Runs the life of an application once for each place at which its code may throw, and throws there.
@Suite("Every failure in turn", .timeLimit(.minutes(20))) struct FaultInjectionSpecification {
  enum End: CaseIterable { case shutdown, finish, asynchronous }

  @Test("Any failure releases the built beans in reverse order; the rest is usable, and nothing leaks")
  func everyPlace() async throws {
    for end in End.allCases {
      let whole = await Run(failingAt: [], end)
      #expect(whole.errors.isEmpty)
      #expect(whole.places.count > 40)
      for (index, place) in whole.places.enumerated() {
        let run = await Run(failingAt: [index], end)
        check(run, "\(end), \(index): \(place)")
        checkUse(run, place, whole)
      }
    }
  }

  @Test("Any second failure releases the built beans in reverse order, and nothing leaks")
  func everyTwoPlaces() async throws {
    for end in End.allCases {
      let whole = await Run(failingAt: [], end)
      for first in whole.places.indices {
        // The places include releases after a failed startup.
        let once = await Run(failingAt: [first], end)
        // The test tries all first failures that make startup fail, and for one way of ending some of the many others.
        if once.hasStarted, end != .shutdown || first % 4 != 0 { continue }
        // An awaited release waits for the threads that all tests share.
        if end == .asynchronous, first % 8 != 0 { continue }
        for second in once.places.indices.dropFirst(first + 1) {
          let run = await Run(failingAt: [first, second], end)
          check(run, "\(end), \(first): \(whole.places[first]), then \(second): \(once.places[second])", failures: 2)
        }
      }
    }
  }

  /// Checks the facts that hold wherever the run throws, once or several times.
  private func check(_ run: Run, _ place: Comment, failures: Int = 1) {
    #expect(run.live == 0, place)
    #expect(run.environments == 0, place)
    // The error is thrown once, or, if it makes startup fail, by every later call.
    #expect(!run.errors.isEmpty, place)
    for (_, error) in run.errors {
      #expect((1...failures).contains(error.causes.count), "\(place), \(error)")
      #expect(error.causes.allSatisfy { $0 == Boom() }, "\(place), \(error)")
    }
    for environment in ["application", "request1", "request2"] {
      let built = run.lines("built \(environment)")
      #expect(run.lines("released \(environment)") == built.reversed(), place)
      #expect(run.lines("ended \(environment)") == built.reversed(), place)
    }
  }

  /// Checks that the rest of the application is usable afterwards.
  private func checkUse(_ run: Run, _ place: String, _ whole: Run) {
    let failed = run.errors.map(\.action)
    guard run.hasStarted else {
      #expect(failed == ["startup", "lazy", "lazy", "custom", "custom", "request", "request"], "\(place): \(failed)")
      return
    }
    // The next lookup builds a bean that could not be built; the shutdown throws the failure of a release.
    #expect(failed.count == 1, "\(place): \(failed)")
    #expect(Set(run.journal) == Set(whole.journal), "\(place)")
    if place.hasPrefix("released") || place.hasPrefix("ended") {
      #expect(failed.allSatisfy { $0.hasPrefix("shutdown") }, "\(place): \(failed)")
    }
  }
}

// MARK: - one run

/// One life of an application that has lazy beans, a scope of the user's own, and requests, one of which has a scope object.
private final class Run {
  private struct Weak { weak var environment: Environment? }

  private(set) var errors: [(action: String, error: EnvironmentError)] = []
  private(set) var hasStarted = false
  private let injector: Injector
  private var opened: [Weak] = []

  var journal: [String] { injector.journal.entries }
  var places: [String] { injector.places.withLock { $0 } }
  var live: Int { injector.live.load(ordering: .relaxed) }
  /// The number of live environments. A thread that resumes the task that awaits an end drops its reference after that.
  var environments: Int {
    var rounds = 1_000_000
    while rounds > 0, opened.contains(where: { $0.environment != nil }) {
      sched_yield()
      rounds -= 1
    }
    return opened.count { $0.environment != nil }
  }

  /// Returns the entries of the journal for one event, in order.
  func lines(_ prefix: String) -> [String] {
    journal.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
  }

  init(failingAt indices: Set<Int>, _ end: FaultInjectionSpecification.End) async {
    injector = Injector(failingAt: indices)
    do { try await live(end) } catch { Issue.record("\(error)") }
  }

  private func attempt(_ action: String, _ body: () throws -> Void) {
    do { try body() } catch let error as EnvironmentError { errors.append((action, error)) } catch {
      Issue.record("\(action): \(error)")
    }
  }

  private func live(_ end: FaultInjectionSpecification.End) async throws {
    let application = try Environment(name: "application")
    opened.append(Weak(environment: application))
    let factories = try declare(application, end)
    attempt("startup") { try application.startup() }
    hasStarted = errors.isEmpty
    // The lookup is repeated: the next one builds a bean whose build has failed once.
    for _ in 0..<2 { attempt("lazy") { _ = try application.getBean(Part.self, byId: "lazy") } }
    for _ in 0..<2 { attempt("custom") { _ = try application.getBean(Part.self, byId: "custom") } }
    for (index, factory) in factories.enumerated() {
      var request: Environment?
      attempt("request") { request = try factory.build(Place(number: index + 1)) }
      guard let request else { continue }
      opened.append(Weak(environment: request))
      for _ in 0..<2 {
        attempt("lookup") {
          _ = try request.getBean(Part.self, byId: "third")
          _ = try request.getBean([Part].self)
        }
      }
      switch end {
      case .shutdown: attempt("shutdown of a request") { try request.shutdown() }
      case .finish:
        request.finish()
        attempt("shutdown after finish of a request") { try request.shutdown() }
      case .asynchronous: break
      }
    }
    switch end {
    case .shutdown: attempt("shutdown") { try application.shutdown() }
    case .finish:
      application.finish()
      attempt("shutdown after finish") { try application.shutdown() }
    case .asynchronous:
      do { try await application.shutdown() } catch let error as EnvironmentError { errors.append(("shutdown", error)) }
    }
  }

  private func declare(
    _ application: Environment, _ end: FaultInjectionSpecification.End
  ) throws -> [EnvironmentFactory<Place>] {
    let injector = injector
    try application.registerScope(AbstractBeanScope(name: "custom"))
    try application.registerConversion(from: String.self, to: Label.self) { text in
      try injector.pass("conversion")
      return Label(text: text)
    }
    try application.define(
      application.bean(Inspector.self) {
        Inspector { if let part = $0 as? Part { try injector.pass("processed \(part.name)") } }
      })
    func define(
      _ id: String, _ environment: Environment, needs: String? = nil, _ change: (BeanDeclaration) -> Void = { _ in }
    ) throws {
      let isAsynchronous = end == .asynchronous && ["middle", "custom", "second"].contains(id)
      let part = environment.bean(Part.self, id: id) { (place: Place) in
        let name = place.number == 0 ? "application \(id)" : "request\(place.number) \(id)"
        return
          isAsynchronous ? try AsynchronousPart(name, injector) : try SynchronousPart(name, injector)
      }
      .property(\.label, resolve: id)
      .postConstruct {
        try injector.pass("constructed \($0.name)")
        injector.journal.note("built \($0.name)")
      }
      .onDestroy {
        injector.journal.note("ended \($0.name)")
        try injector.pass("ended \($0.name)")
      }
      if let needs { part.requires(id: needs) }
      change(part)
      try environment.define(part)
    }
    try application.define(application.bean(Place(number: 0)))
    try define("base", application)
    try define("middle", application, needs: "base")
    try define("below", application) { $0.lazy() }
    try define("lazy", application, needs: "below") { $0.lazy() }
    try define("custom", application, needs: "base") { $0.scope("custom") }
    func requests(_ child: Environment) throws {
      try define("first", child, needs: "base")
      try define("second", child, needs: "first")
      try define("third", child, needs: "second")
    }
    return [
      try application.childFactory("request", seed: Place.self, configure: requests),
      try application.childFactory(
        "visit", seed: Place.self, configure: requests, scope: { AbstractBeanScope(name: "visit") }),
    ]
  }
}

/// The environment whose beans a factory creates: 0 for the application, then the number of the request.
private struct Place { let number: Int }

/// Throws at some places, once each, and notes all places that are passed.
private final class Injector: Sendable {
  let journal = Journal()
  let places = Guarded<[String]>([])
  let live = Atomic(0)
  private let failing: Set<Int>

  init(failingAt indices: Set<Int>) { failing = indices }

  func pass(_ place: String) throws {
    let index = places.withLock {
      $0.append(place)
      return $0.count - 1
    }
    if failing.contains(index) { throw Boom() }
  }
}

private struct Label { let text: String }

private class Part: Bean {
  let name: String
  var label = Label(text: "")
  let injector: Injector

  init(_ name: String, _ injector: Injector) throws {
    self.name = name
    self.injector = injector
    injector.live.add(1, ordering: .relaxed)
    try injector.pass("factory \(name)")
  }

  func postConstruct() throws { try injector.pass("postConstruct \(name)") }

  deinit { injector.live.subtract(1, ordering: .relaxed) }
}

private final class SynchronousPart: Part, DisposableBean {
  func preDestroy() throws {
    injector.journal.note("released \(name)")
    try injector.pass("released \(name)")
  }
}

private final class AsynchronousPart: Part, AsyncDisposableBean {
  func preDestroy() async throws {
    await Task.yield()
    injector.journal.note("released \(name)")
    try injector.pass("released \(name)")
  }
}

/// A post processor that may fail.
