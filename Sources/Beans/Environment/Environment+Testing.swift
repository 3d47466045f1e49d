/// The interface of an environment for `BeansTesting`.
extension Environment {
  /// Sets the overrides that replace declarations at startup, here and below, and an observer of the end of beans. Call
  /// this before the first lookup.
  package func test(_ setup: TestSetup) { existingExtras?.resources?.test(setup) }

  /// Returns the faults that startup would find in the declarations; builds nothing. Call this on the thread that
  /// declares.
  ///
  /// - Throws: the error of the parent's startup.
  package func findFaults() throws -> [EnvironmentError] { try faults() }

  /// The environments below whose end has not begun: their names, each with those of the enclosing environments,
  /// outermost first, and the places where their factories are declared.
  package var openBelow: [(path: [String], factory: EnvironmentError.Origin?)] {
    liveChildren.flatMap { child -> [(path: [String], factory: EnvironmentError.Origin?)] in
      let below = child.openBelow.map { (path: [child.name] + $0.path, factory: $0.factory) }
      return child.isFinished
        ? below : [(path: [child.name], factory: child.core.plan?.object.opening?.origin)] + below
    }
  }

  /// The finished environments below whose release waits for a host that no thread runs: their names, each with those
  /// of the enclosing environments, outermost first.
  package var stalledBelow: [[String]] {
    liveChildren.flatMap { child in
      let isStalled = child.isFinished && !child.isReleased && child.host?.canReleaseHere == true
      return (isStalled ? [[child.name]] : []) + child.stalledBelow.map { [child.name] + $0 }
    }
  }

  /// The labels of the beans that the calling thread is building, outermost first.
  package static var beansBeingBuilt: [String] { ResolutionContext.path }
}
