/// What `BeansTesting` needs of an environment.
extension Environment {
  /// Has startup put overrides in the place of declarations, here and below, and an observer told of the end of beans.
  /// Before anything is looked up.
  package func test(_ setup: TestSetup) { existingExtras?.resources?.test(setup) }

  /// What is wrong with the declarations, as startup would find it; builds nothing. By the thread that declares.
  ///
  /// - Throws: what the parent's startup throws.
  package func findFaults() throws -> [EnvironmentError] { try faults() }

  /// Environments below that nobody has begun to end: their names, each with those around it, outermost first, and where their
  /// factories are declared.
  package var openBelow: [(path: [String], factory: EnvironmentError.Origin?)] {
    liveChildren.flatMap { child -> [(path: [String], factory: EnvironmentError.Origin?)] in
      let below = child.openBelow.map { (path: [child.name] + $0.path, factory: $0.factory) }
      return child.isFinished
        ? below : [(path: [child.name], factory: child.core.plan?.object.opening?.origin)] + below
    }
  }

  /// Finished environments below whose release waits for a host that no thread runs: their names, each with those around it,
  /// outermost first.
  package var stalledBelow: [[String]] {
    liveChildren.flatMap { child in
      let isStalled = child.isFinished && !child.isReleased && child.host?.canReleaseHere == true
      return (isStalled ? [[child.name]] : []) + child.stalledBelow.map { [child.name] + $0 }
    }
  }

  /// Labels of the beans that the calling thread is building, outermost first.
  package static var beansBeingBuilt: [String] { ResolutionContext.path }
}
