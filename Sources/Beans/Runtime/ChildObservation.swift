import Synchronization

/// The observation of one child of a factory, from its opening to its end.
final class ChildObservation: Sendable {
  let start = ContinuousClock.now
}

extension Environment {
  /// The observers of this environment, those from further out first.
  var observers: [any EnvironmentObserver] { core.plan?.with { $0.observers } ?? [] }

  /// Reports the opening of a child, unless its end has begun: then nothing is reported.
  func observeOpening() {
    // The child is in use meanwhile, so that no thread reports its end first.
    guard (try? enter()) != nil else { return }
    defer { leave() }
    ResolutionContext.with(Unretained(self), nil) { _ in
      defer { used() }
      _ = extras.observation.storeIfNil(ChildObservation())
      for observer in observers { observer.childOpened(self) }
    }
  }

  /// Reports the end of a child whose opening has been reported.
  ///
  /// - Parameters:
  ///   - observation: the observation since the opening.
  ///   - released: the number of beans.
  func end(_ observation: ChildObservation, released: Int) {
    let end = ChildEnd(
      scope: name, start: observation.start, duration: ContinuousClock.now - observation.start, outcome: outcome,
      beans: released)
    for observer in observers { observer.childEnded(self, end) }
  }

  /// Reports the end of an asynchronous creation.
  func observeCreation(
    of recipe: FrozenReference<Recipe>, since start: ContinuousClock.Instant?, _ error: (any Error)? = nil
  ) {
    guard let start else { return }
    let (bean, observers) = (recipe.value.definition, observers)
    if observers.isEmpty { return }
    let end = AsyncCreationEnd(
      bean: bean.label, origin: bean.location.origin, start: start, duration: ContinuousClock.now - start, error: error)
    for observer in observers { observer.creationEnded(end, in: self) }
  }
}
