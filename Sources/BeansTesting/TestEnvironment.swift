public import Beans
public import Testing

/// One environment of one test, from its declarations to the checks after its end.
struct TestEnvironment {
  /// What is said of an environment for tests in errors.
  static let name = "test"
  /// How long the end may take where children are open.
  static let limit = Duration.seconds(60)
  /// How long what is still referenced after the end may take to go: other threads may be about to drop it.
  static let patience = Duration.seconds(2)

  /// The environment of the running test, and the test it is for, where a trait has made it.
  @TaskLocal static var current: (environment: Environment, test: Test.ID?)?

  let environment: Environment
  private let journal: TestJournal
  private let overrides: TestOverrides
  private let origins: Set<EnvironmentError.Origin>
  private let sourceLocation: Testing.SourceLocation

  /// Declares everything; nothing is built yet.
  ///
  /// - Parameters:
  ///   - overrides: what several places say; the later ones win over earlier ones.
  ///   - sourceLocation: of issues that have no other place.
  ///   - declare: the declarations.
  init(
    _ overrides: [TestOverrides], _ sourceLocation: Testing.SourceLocation, _ declare: (Environment) throws -> Void
  ) throws {
    journal = TestJournal()
    self.sourceLocation = sourceLocation
    var (all, merged): ([BeanOverride], TestOverrides) = ([], TestOverrides())
    for place in overrides {
      let own = place.makers.map { [journal] in $0(journal) }
      // Two of one place for one declaration are a fault.
      all.removeAll { old in own.contains { $0.isSame(as: old) } }
      all += own
      merged.openScopes.formUnion(place.openScopes)
      merged.referencedTypes += place.referencedTypes
    }
    self.overrides = merged
    origins = Set(all.map(\.origin))
    environment = try Environment(name: Self.name)
    environment.test(TestSetup(overrides: all, observer: journal))
    try declare(environment)
  }

  /// Ends the environment, and records what should not be so.
  func end(isolation: isolated (any Actor)? = #isolation) async {
    let open = environment.openBelow.filter { !$0.path.contains(where: overrides.openScopes.contains) }
    let stalled = environment.stalledBelow
    var failures: [any Error] = []
    do {
      // No thread runs a loop that only the test turns: its releases are not waited for.
      environment.finishStalled()
      // A loop that stops meanwhile may have to release what is still open.
      if environment.hasOpenChildren {
        try await environment.shutdown(within: Self.limit)
      } else {
        try await environment.shutdown()
      }
    } catch {
      failures = Self.parts(of: error)
    }
    for (path, factory) in open {
      let names = path.map { "'\($0)'" }.joined(separator: " → ")
      let place = factory.flatMap { Testing.SourceLocation(swift: $0) }
      Issue.record("\(names) is still open: finish it before the test ends", sourceLocation: place ?? sourceLocation)
    }
    for path in stalled {
      let names = path.map { "'\($0)'" }.joined(separator: " → ")
      Issue.record(
        "\(names) has been finished, but its loop has not released it: turn the loop before the test ends",
        sourceLocation: sourceLocation)
    }
    let noted = journal.failures
    let known = Set(noted.map(\.description))
    for failure in noted + failures.filter({ !known.contains("\($0)") }) { record(failure) }
    for error in journal.forbidden { record(error) }
    for leak in await leaks() {
      record(
        EnvironmentError(
          cause: .referencedAfterEnd,
          "\(leak.bean) is still referenced although '\(leak.environment)' has ended: something keeps it that lives "
            + "longer", path: [leak.bean], origin: leak.origin))
    }
  }

  private func leaks(isolation: isolated (any Actor)? = #isolation) async -> [ReleasedObject] {
    let end = ContinuousClock.now + Self.patience
    while true {
      let leaks = journal.leaks.filter { leak in
        // What an override has made is the test's own.
        !origins.contains(leak.origin) && !overrides.referencedTypes.contains { $0 == leak.type }
      }
      if leaks.isEmpty || ContinuousClock.now >= end { return leaks }
      // Nobody tells when another thread gives its reference back.
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Records an error where its declaration stands.
  private func record(_ error: any Error) {
    Issue.record(error, sourceLocation: Testing.SourceLocation(error) ?? sourceLocation)
  }

  /// The failures that an error holds.
  static func parts(of error: any Error) -> [any Error] {
    guard let error = error as? EnvironmentError, error.code == .startupFailed || error.code == .destructionFailed
    else {
      return [error]
    }
    let parts = error.underlying.compactMap { $0 as? EnvironmentError }
    return parts.isEmpty || parts.count < error.underlying.count ? [error] : parts
  }
}

extension Testing.SourceLocation {
  /// Where the declaration stands that is at fault; nil for one that is no Swift.
  init?(_ error: any Error) {
    guard let origin = (error as? EnvironmentError)?.origin else { return nil }
    self.init(swift: origin)
  }

  /// Nil for what is no Swift.
  init?(swift origin: EnvironmentError.Origin) {
    guard origin.line > 0, !origin.file.hasPrefix("/"), origin.file.contains("/"), origin.file.hasSuffix(".swift")
    else { return nil }
    self.init(fileID: origin.file, filePath: origin.file, line: origin.line, column: origin.column ?? 1)
  }
}

extension Test {
  /// The environment that a `.beans` trait or `withTestEnvironment` has made for the running test.
  ///
  ///     let cart = try Test.environment.getBean(Cart.self)
  ///
  /// Found by the test's task, its child tasks, and whatever they call. A thread or a detached task is handed the environment,
  /// which may be used anywhere.
  ///
  /// - Throws: `.scopeNotActive` where there is none.
  public static var environment: Environment {
    get throws {
      if let current = TestEnvironment.current { return current.environment }
      throw EnvironmentError(
        cause: .noTestEnvironment,
        "there is no test environment here: add the trait .beans(…) to the test, or hand its environment to the thread "
          + "or the detached task that asks", path: ["'\(TestEnvironment.name)'"])
    }
  }
}

/// Runs `body` in a fresh environment, started from `declare`, then ends it.
///
///     try await withTestEnvironment(Shop.declare, overriding: { $0.override(Clock.self) { FixedClock() } }) { shop in
///       try #expect(shop.getBean(Cart.self).isEmpty)
///     }
///
/// Nothing is global: environments of tests that run side by side do not see each other. When `body` is over, whatever its
/// outcome, the environment is shut down, which is awaited. These become issues of the test, at the line of the declaration
/// where there is one: a release that failed, here or in a child; a child environment that nobody has ended; an instance of
/// a class that the container has made and let go of and that is still referenced; a forbidden bean that was wanted.
///
/// Environments that the code under test creates below it with `Environment(name:parent:)` have the same overrides.
///
/// - Parameters:
///   - declare: declares what the program declares, in an environment that is not started.
///   - overriding: what the test wants otherwise.
///   - isolation: the actor that `body` runs on, which is the caller's.
///   - sourceLocation: of issues that belong to no declaration.
///   - body: the test. What it returns must not be a bean, which would be referenced after the end.
/// - Returns: what `body` returns.
/// - Throws: what `declare`, the startup or `body` throws. Overrides that meet no declaration are faults of the startup.
@discardableResult
public func withTestEnvironment<R>(
  _ declare: (Environment) throws -> Void, overriding: (inout TestOverrides) throws -> Void = { _ in },
  isolation: isolated (any Actor)? = #isolation, sourceLocation: Testing.SourceLocation = #_sourceLocation,
  _ body: (Environment) async throws -> R
) async throws -> R {
  var overrides = TestOverrides()
  try overriding(&overrides)
  return try await TestEnvironment([overrides], sourceLocation, declare).run(for: nil, body)
}

extension TestEnvironment {
  /// Starts the environment, runs `body` with it as the current one, and ends it.
  func run<R>(
    for test: Test.ID?, isolation: isolated (any Actor)? = #isolation, _ body: (Environment) async throws -> R
  ) async throws -> R {
    // A startup that throws releases everything.
    try await environment.makeReady()
    let result: R
    do {
      result = try await Self.$current.withValue((environment, test)) {
        try await Environment.$current.withValue(environment) { try await body(environment) }
      }
    } catch {
      await end()
      throw error
    }
    await end()
    return result
  }
}
