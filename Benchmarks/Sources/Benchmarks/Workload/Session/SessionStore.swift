import BeansEventLoop

/// Live sessions of two beans each that end by themselves, made one way or the other. Used on its loop's thread alone.
protocol SessionStore: AnyObject, Sendable {
  /// Opens so many, and builds their beans.
  func open(_ count: Int) throws
  /// Uses every session that lives.
  func useAll() throws
  var live: Int { get }
  /// How many have ended by themselves.
  var expired: Int { get }
}
