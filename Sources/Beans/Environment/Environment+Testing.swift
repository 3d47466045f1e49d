/// What `BeansTesting` needs of an environment.
extension Environment {
  /// Has startup put overrides in the place of declarations, here and below, and an observer told of the end of beans.
  /// Before anything is looked up.
  package func test(_ setup: TestSetup) { existingExtras?.resources?.test(setup) }

  /// What is wrong with the declarations, as startup would find it; builds nothing. By the thread that declares.
  ///
  /// - Throws: what the parent's startup throws.
  package func findFaults() throws -> [EnvironmentError] { try faults() }

  /// Names of the environments below that nobody has begun to end, each with those around it, outermost first.
  package var openBelow: [[String]] {
    liveChildren.flatMap { child -> [[String]] in
      let below = child.openBelow.map { [child.name] + $0 }
      return child.isFinished ? below : [[child.name]] + below
    }
  }

  /// Labels of the beans that the calling thread is building, outermost first.
  package static var beansBeingBuilt: [String] { ResolutionContext.path }
}
