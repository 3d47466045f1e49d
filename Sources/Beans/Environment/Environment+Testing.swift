/// The interface of an environment for `BeansTesting`.
extension Environment {
  /// Sets the overrides that replace declarations at startup, here and below, and an observer of the end of beans. Call
  /// this before the first lookup.
  package func test(_ setup: TestSetup) { existingExtras?.resources?.test(setup) }

  /// The place where the factory of the environment is declared; nil for an environment that is no child of a factory.
  package var factoryOrigin: EnvironmentError.Origin? { core.plan?.object.opening?.origin }

  /// The labels of the beans that the calling thread is building, outermost first.
  package static var beansBeingBuilt: [String] { ResolutionContext.path }
}
