import BeansEventLoop

/// Live sessions of two beans each that end by themselves, made one way or the other. Used on its loop's thread alone.
protocol SessionStore: AnyObject, Sendable {
  /// Opens so many, and builds their beans.
  func open(_ count: Int) throws
  /// Uses every session that lives.
  func useAll() throws
  var live: Int { get }
  /// The number of sessions that have expired.
  var expired: Int { get }
}
