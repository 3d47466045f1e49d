import Beans

extension Environment {
  /// The environments below whose end has not begun, and which no object ends in time: their names, each with those of
  /// the enclosing environments, outermost first, and the places where their factories are declared.
  var openBelow: [(path: [String], factory: EnvironmentError.Origin?)] {
    liveChildren.flatMap { child -> [(path: [String], factory: EnvironmentError.Origin?)] in
      let below = child.openBelow.map { (path: [child.name] + $0.path, factory: $0.factory) }
      let isExpected = child.isFinished || child.isFollowed
      return isExpected ? below : [(path: [child.name], factory: child.factoryOrigin)] + below
    }
  }

  /// The finished environments below whose release waits for a host that no thread runs: their names, each with those
  /// of the enclosing environments, outermost first.
  var stalledBelow: [[String]] {
    liveChildren.flatMap { child in
      let isStalled = child.isFinished && !child.isReleased && child.host?.canReleaseHere == true
      return (isStalled ? [[child.name]] : []) + child.stalledBelow.map { [child.name] + $0 }
    }
  }
}
