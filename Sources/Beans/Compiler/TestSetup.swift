/// What a test wants of an environment: what stands in the place of declarations, and who is told what becomes of beans.
package struct TestSetup: Sendable {
  let overrides: [BeanOverride]
  let observer: any EnvironmentObserver

  package init(overrides: [BeanOverride], observer: any EnvironmentObserver) {
    (self.overrides, self.observer) = (overrides, observer)
  }
}

/// Who is told of the end of beans in a test, on whichever thread that happens.
package protocol EnvironmentObserver: AnyObject, Sendable {
  /// The container is about to let go of an object that it has made.
  ///
  /// - Parameters:
  ///   - object: an instance of a class, which is still whole.
  ///   - bean: how faults name the bean.
  ///   - type: the bean's own type.
  ///   - origin: where it is declared.
  ///   - environment: the name of the environment that kept it.
  func released(
    _ object: AnyObject, _ bean: String, _ type: Any.Type, _ origin: EnvironmentError.Origin, in environment: String)

  /// A release has failed.
  func failed(_ failure: EnvironmentError)
}
