public import Beans
public import Testing

/// One environment of one test, from its declarations to the checks after its end.
struct TestEnvironment {
  /// The name of test environments in errors.
  static let name = "test"
  /// The time limit of the end where children are open.
  static let limit = Duration.seconds(60)
  /// The time limit for references to disappear after the end, because other threads may be about to drop them.
  static let patience = Duration.seconds(2)

  /// The environment of the running test, and the id of the test where a trait has made the environment.
  @TaskLocal static var current: (environment: Environment, test: Test.ID?)?

  let environment: Environment
  private let journal: TestJournal
  private let overrides: TestOverrides
  private let origins: Set<EnvironmentError.Origin>
  private let sourceLocation: Testing.SourceLocation

  /// Makes the environment with all declarations. Builds no bean.
  ///
  /// - Parameters:
  ///   - overrides: the overrides of several places. Later places win over earlier ones.
  ///   - sourceLocation: the place of issues without a place of their own.
  ///   - declare: the declarations.
  init(
    _ overrides: [TestOverrides], _ sourceLocation: Testing.SourceLocation, _ declare: (Environment) throws -> Void
  ) throws {
    journal = TestJournal()
    self.sourceLocation = sourceLocation
    var (all, merged): ([BeanOverride], TestOverrides) = ([], TestOverrides())
    for place in overrides {
      let own = place.makers.map { [journal] in $0(journal) }
      // Two overrides from one place for one declaration are a fault.
      all.removeAll { old in own.contains { $0.isSame(as: old) } }
      all += own
      merged.openScopes.formUnion(place.openScopes)
      merged.referencedTypes += place.referencedTypes
    }
    self.overrides = merged
    origins = Set(all.map(\.origin))
    environment = try Environment(name: Self.name)
    environment.install(TestHook(all, journal))
    try declare(environment)
  }

  /// Ends the environment, and records violations: failed releases, open children, leaks, and forbidden beans.
  func end(isolation: isolated (any Actor)? = #isolation) async {
    let open = environment.openBelow.filter { !$0.path.contains(where: overrides.openScopes.contains) }
    let stalled = environment.stalledBelow
    var failures: [any Error] = []
    do {
      // No thread runs a loop that only the test turns, so the end does not wait for its releases.
      environment.finishStalled()
      // A loop that stops meanwhile may have to release the children that are still open.
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
        // Objects that an override has made belong to the test.
        !origins.contains(leak.origin) && !overrides.referencedTypes.contains { $0 == leak.type }
      }
      if leaks.isEmpty || ContinuousClock.now >= end { return leaks }
      // There is no notification when another thread drops its reference.
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Records an error at the place of its declaration.
  private func record(_ error: any Error) {
    Issue.record(error, sourceLocation: Testing.SourceLocation(error) ?? sourceLocation)
  }

  /// Returns the failures that an error contains.
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
  /// The place of the declaration that an error names; nil for a declaration outside of Swift sources.
  init?(_ error: any Error) {
    guard let origin = (error as? EnvironmentError)?.origin else { return nil }
    self.init(swift: origin)
  }

  /// Creates the place of an origin; nil for an origin outside of Swift sources.
  init?(swift origin: EnvironmentError.Origin) {
    guard origin.line > 0, !origin.file.hasPrefix("/"), origin.file.contains("/"), origin.file.hasSuffix(".swift")
    else { return nil }
    self.init(fileID: origin.file, filePath: origin.file, line: origin.line, column: origin.column ?? 1)
  }
}

extension Test {
  /// The environment of the running test, made by a `.beans` trait or by `withTestEnvironment`.
  ///
  ///     let cart = try Test.environment.getBean(Cart.self)
  ///
  /// Available in the test's task, its child tasks, and all code that they call. Pass the environment to a thread or a
  /// detached task, where it can be used as well.
  ///
  /// - Throws: `.scopeNotActive` outside of a test environment.
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
/// There is no global state: concurrent tests have separate environments. When `body` ends, with any outcome, the
/// environment is shut down, and the call waits for that. The following become issues of the test, at the line of the
/// declaration where there is one: a failed release, here or in a child; a child environment that has not been
/// finished; an instance of a class that the container has made and released and that is still referenced; an
/// attempt to build a forbidden bean.
///
/// Environments that the code under test creates below it with `Environment(name:parent:)` have the same overrides.
///
/// - Parameters:
///   - declare: makes the declarations of the program, in an environment that has not started.
///   - overriding: makes the overrides of the test.
///   - isolation: the actor on which `body` runs, the caller's.
///   - sourceLocation: the place of issues without a declaration.
///   - body: the test. Its result must not be a bean, which would be referenced after the end.
/// - Returns: the result of `body`.
/// - Throws: any error of `declare`, the startup or `body`. An override without a matching declaration is a fault of
///   the startup.
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
  /// Starts the environment, runs `body` with it as the current environment, and ends it.
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
