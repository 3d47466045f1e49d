public import BeansErrors
@_spi(BeansPackage) import BeansSupport

/// How long a bean took to build when its environment started.
public struct StartupTime: Sendable {
  /// The bean as errors name it: its type, and its id where it has one.
  public let bean: String
  /// Where it was declared.
  public let origin: EnvironmentError.Origin
  /// How long building it took, without what stands in this list with a time of its own. Nil where the factory of
  /// `parent` looked it up: its time is part of that bean's.
  public let duration: Duration?
  /// The bean that it was built for; nil where startup built it for its own sake.
  public let parent: String?
}

/// What a startup keeps of itself, where it has been asked to.
final class StartupRecord: Sendable {
  private let began = ContinuousClock.now
  private let state = Locked(State())

  private struct State {
    var times: [StartupTime] = []
    var duration: Duration?
  }

  func add(_ times: [StartupTime]) { state.withLock { $0.times += times } }

  /// All is built, or all but what has to be awaited.
  func end() { state.withLock { [began] in $0.duration = .now - began } }

  var times: [StartupTime] { state.withLock { $0.times } }
  var duration: Duration? { state.withLock { $0.duration } }
}
