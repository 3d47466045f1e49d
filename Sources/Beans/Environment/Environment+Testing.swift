/// The interface of an environment for `BeansTesting`.
extension Environment {
  /// Installs the hook of a test, here and below. Call this before the first lookup.
  package func install(_ hook: any EnvironmentHook) { existingExtras?.resources?.install(hook) }

  /// The place where the factory of the environment is declared; nil for an environment that is no child of a factory.
  package var factoryOrigin: EnvironmentError.Origin? { core.plan?.object.opening?.origin }

  /// The labels of the beans that the calling thread is building, outermost first.
  package static var beansBeingBuilt: [String] { ResolutionContext.path }
}
