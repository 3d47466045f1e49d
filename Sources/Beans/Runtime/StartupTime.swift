@_spi(BeansPackage) package import BeansErrors

/// The time that startup needed to build one bean.
package struct StartupTime: Sendable {
  /// The label of the bean, as in errors: its type, and its id if it has one.
  package let bean: String
  /// The place of the declaration.
  package let origin: EnvironmentError.Origin
  /// The build time, without the beans in this list that have a time of their own. Nil where the factory of `parent`
  /// looked the bean up: that bean's time includes this one.
  package let duration: Duration?
  /// The bean for which this one was built; nil where startup built this one for its own sake.
  package let parent: String?
}

/// The times that a startup records, if `recordTimes` is set.
final class StartupRecord: Sendable {
  private let began = ContinuousClock.now
  private let state = Locked(State())

  private struct State {
    var times: [StartupTime] = []
    var duration: Duration?
  }

  func add(_ times: [StartupTime]) { state.withLock { $0.times += times } }

  /// Records the end of the startup: every bean is built, except those that have to be awaited.
  func end() { state.withLock { [began] in $0.duration = .now - began } }

  var times: [StartupTime] { state.withLock { $0.times } }
  var duration: Duration? { state.withLock { $0.duration } }
}
