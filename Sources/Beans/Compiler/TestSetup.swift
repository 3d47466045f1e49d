/// A test's changes to an environment: the replacements of declarations, and an observer of releases.
package struct TestSetup: Sendable {
  let overrides: [BeanOverride]
  let observer: any EnvironmentObserver

  package init(overrides: [BeanOverride], observer: any EnvironmentObserver) {
    (self.overrides, self.observer) = (overrides, observer)
  }
}

/// An observer of the releases of beans in a test. The releasing thread calls it.
package protocol EnvironmentObserver: AnyObject, Sendable {
  /// Reports that the container is about to drop its reference to an object that it made.
  ///
  /// - Parameters:
  ///   - object: an instance of a class, not yet deinitialised.
  ///   - bean: the bean's name in faults.
  ///   - type: the bean's own type.
  ///   - origin: the location of the bean's declaration.
  ///   - environment: the name of the environment that retained the object.
  func released(
    _ object: AnyObject, _ bean: String, _ type: Any.Type, _ origin: EnvironmentError.Origin, in environment: String)

  /// Reports that a release has failed.
  func failed(_ failure: EnvironmentError)
}
