public import Beans
public import Testing

/// Gives each case of a test an environment of its own; see `Trait.beans` and `Trait.overrides`.
public struct BeansTrait: TestTrait, SuiteTrait, TestScoping {
  /// nil for a trait that only overrides.
  private let declare: (@Sendable (Environment) throws -> Void)?
  private let overriding: @Sendable (inout TestOverrides) throws -> Void
  private let sourceLocation: Testing.SourceLocation

  init(
    _ declare: (@Sendable (Environment) throws -> Void)?,
    _ overriding: @escaping @Sendable (inout TestOverrides) throws -> Void, _ sourceLocation: Testing.SourceLocation
  ) {
    (self.declare, self.overriding, self.sourceLocation) = (declare, overriding, sourceLocation)
  }

  /// Whether the trait of a suite is one of each test in it.
  public var isRecursive: Bool { true }

  /// Makes the environment, runs the test in it, and checks what is left; called by the testing library for each case.
  ///
  /// - Parameters:
  ///   - test: the test, with the traits of the suites around it.
  ///   - testCase: the case that runs.
  ///   - function: the test's own code, and the scopes of traits further in.
  /// - Throws: what `function` throws. What is wrong with the declarations is recorded instead.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // The outermost trait has done it for all.
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
      // Apart from the test, so that each fault gets its own place.
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
  /// What happens at the end is that of `withTestEnvironment`. The declarations of a test win over those of its suite; what
  /// both override is overridden, by the test where both mean the same. Each fault of startup becomes an issue at its own
  /// line, and the test does not run then.
  ///
  /// - Parameters:
  ///   - declare: declares what the program declares; called for each case.
  ///   - sourceLocation: where the trait stands.
  ///   - overriding: what the test wants otherwise; called for each case.
  public static func beans(
    _ declare: @escaping @Sendable (Environment) throws -> Void,
    sourceLocation: Testing.SourceLocation = #_sourceLocation,
    overriding: @escaping @Sendable (inout TestOverrides) throws -> Void = { _ in }
  ) -> Self {
    BeansTrait(declare, overriding, sourceLocation)
  }

  /// Overrides more than the suite around the test does, whose `.beans` trait declares.
  ///
  /// - Parameters:
  ///   - sourceLocation: where the trait stands.
  ///   - overriding: what the test wants otherwise; wins over what the suite overrides.
  public static func overrides(
    sourceLocation: Testing.SourceLocation = #_sourceLocation,
    _ overriding: @escaping @Sendable (inout TestOverrides) throws -> Void
  ) -> Self {
    BeansTrait(nil, overriding, sourceLocation)
  }
}
