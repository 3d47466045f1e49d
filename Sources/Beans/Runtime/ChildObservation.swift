import Synchronization

/// The observation of one child of a factory, from its opening to its end.
final class ChildObservation: Sendable {
  private let start = ContinuousClock.now

  /// Reports the opening of a child, unless its end has begun: then nothing is reported.
  static func begin(of child: Environment) {
    // The child is in use meanwhile, so that no thread reports its end first.
    try? child.whileKept {
      _ = child.extras.observation.storeIfNil(ChildObservation())
      for observer in child.observers { observer.childOpened(child) }
    }
  }

  /// Reports the end of a child that has released so many beans.
  func end(of child: Environment, released: Int) {
    let duration = ContinuousClock.now - start
    for observer in child.observers {
      observer.childEnded(child, outcome: child.outcome, beans: released, start: start, duration: duration)
    }
  }
}
