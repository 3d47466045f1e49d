public import Beans
@_exported public import Testing

/// A trait that runs each case of a test in its own environment; see `Trait.beans` and `Trait.overrides`.
public struct BeansTrait: TestTrait, SuiteTrait, TestScoping {
  /// The declarations; nil for a trait that only overrides.
  private let declare: (@Sendable (Environment) throws -> Void)?
  private let overriding: @Sendable (inout TestOverrides) throws -> Void
  private let sourceLocation: Testing.SourceLocation

  init(
    _ declare: (@Sendable (Environment) throws -> Void)?,
    _ overriding: @escaping @Sendable (inout TestOverrides) throws -> Void, _ sourceLocation: Testing.SourceLocation
  ) {
    (self.declare, self.overriding, self.sourceLocation) = (declare, overriding, sourceLocation)
  }

  /// Whether the trait of a suite applies to each test in it. Always true.
  public var isRecursive: Bool { true }

  /// Makes the environment, runs the test in it, and checks its end. The testing library calls it for each case.
  ///
  /// - Parameters:
  ///   - test: the test, with the traits of the suites around it.
  ///   - testCase: the running case.
  ///   - function: the test's own code, and the scopes of inner traits.
  /// - Throws: the error of `function`. A fault of the declarations is recorded as an issue instead.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // The outermost trait has made the environment for all traits.
    if TestEnvironment.current?.test == test.id { return try await function() }
    let environment: TestEnvironment
    do {
      let traits = test.traits.compactMap { $0 as? BeansTrait }
      guard let declare = traits.last(where: { $0.declare != nil })?.declare else {
        throw EnvironmentError(
          cause: .nothingToOverride, "there is nothing to override: add .beans(…) to the test or to a suite around it",
          path: [test.name], origin: EnvironmentError.Origin(sourceLocation))
      }
      let overrides = try traits.map { trait in
        var overrides = TestOverrides()
        try trait.overriding(&overrides)
        return overrides
      }
      environment = try TestEnvironment(overrides, test.sourceLocation, declare)
      // Started separately from the test, so that each fault is recorded at its own place.
      try await environment.environment.makeReady()
    } catch {
      for fault in TestEnvironment.parts(of: error) {
        Issue.record(fault, sourceLocation: Testing.SourceLocation(fault) ?? test.sourceLocation)
      }
      return
    }
    try await environment.run(for: test.id) { _ in try await function() }
  }
}

extension Trait where Self == BeansTrait {
  /// Runs each case of the test, or of each test in the suite, in a fresh environment: see `Test.environment`.
  ///
  ///     @Test(.beans(Shop.declare) { $0.override(Clock.self) { FixedClock() } })
  ///     func theCartIsEmpty() throws {
  ///       #expect(try Test.environment.getBean(Cart.self).isEmpty)
  ///     }
  ///
  /// The environment ends as in `withTestEnvironment`. The declarations of a test replace those of its suite. Overrides
  /// of both apply; where both override the same declaration, the test's override wins. Each fault of startup becomes
  /// an issue at its own line, and the test does not run then.
  ///
  /// - Parameters:
  ///   - declare: makes the declarations of the program; called for each case.
  ///   - sourceLocation: the place of the trait.
  ///   - overriding: makes the overrides of the test; called for each case.
  public static func beans(
    _ declare: @escaping @Sendable (Environment) throws -> Void,
    sourceLocation: Testing.SourceLocation = #_sourceLocation,
    overriding: @escaping @Sendable (inout TestOverrides) throws -> Void = { _ in }
  ) -> Self {
    BeansTrait(declare, overriding, sourceLocation)
  }

  /// Adds overrides to those of the suite around the test, whose `.beans` trait declares.
  ///
  /// - Parameters:
  ///   - sourceLocation: the place of the trait.
  ///   - overriding: makes the overrides of the test, which win over those of the suite.
  public static func overrides(
    sourceLocation: Testing.SourceLocation = #_sourceLocation,
    _ overriding: @escaping @Sendable (inout TestOverrides) throws -> Void
  ) -> Self {
    BeansTrait(nil, overriding, sourceLocation)
  }
}
