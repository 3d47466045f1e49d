/// Decides how and where one object is released. A value: `next` calls nothing, and depends on these facts alone.
///
/// Environments, scopes of users, `Owned` and `BeanDeclaration.destroy` fill in the facts and perform the action.
struct Disposer: Equatable {
  /// The holder of the object.
  enum Keeper: Equatable {
    /// A slot of an environment, or an `Owned`.
    case environment
    /// A scope of the user. `isHere`: whether the calling thread is where that scope releases. `isFree`: whether the scope has
    /// begun no release by itself.
    case scope(isHere: Bool, isFree: Bool)
  }

  enum Action: Equatable, CaseIterable {
    /// Go to the place where the scope releases, then ask again.
    case goToScope
    /// Wait for the release that the scope has begun, then ask again.
    case waitForScope
    /// Release on the calling thread.
    case release
    /// Release on the calling thread, that of a loop. The rest goes on elsewhere where the release is abandoned.
    case releaseOnLoop
    /// Release on a thread of its own; the calling thread waits until the release has ended or is abandoned.
    case releaseAside
    /// Begin the release, on the host where it is asynchronous; go on when it has ended or is abandoned.
    case await
  }

  var keeper = Keeper.environment
  /// Whether the release of the object has to be awaited.
  var isAsynchronous = false
  /// Whether the declaration limits the time of the release.
  var hasLimit = false
  /// Whether the end of the environment has a deadline.
  var hasDeadline = false
  /// Whether the calling thread is that of the loop on which the object is to be released.
  var isOnLoop = false
  /// Whether the caller can go on later, from another thread.
  var canAwait = false

  func next() -> Action {
    switch keeper {
    case .scope(isHere: false, _): return .goToScope
    case .scope(_, isFree: false): return .waitForScope
    case .environment, .scope: break
    }
    if isAsynchronous, canAwait { return .await }
    // Nothing abandons the release.
    if !hasLimit, !hasDeadline { return .release }
    if isOnLoop, !hasLimit { return .releaseOnLoop }
    return canAwait ? .await : .releaseAside
  }
}

extension Disposer {
  /// The facts of one release.
  ///
  /// - Parameters:
  ///   - ending: the calls that the object gets.
  ///   - site: the environment or scope that releases it.
  ///   - isOnLoop: whether the calling thread is that of the loop on which the object is to be released.
  ///   - canAwait: whether the caller can go on later, from another thread.
  init(_ ending: BeanEnding, at site: ReleaseSite, isOnLoop: Bool = false, canAwait: Bool) {
    self.init(
      isAsynchronous: ending.isAsynchronous, hasLimit: ending.limit != nil, hasDeadline: site.hasDeadline,
      isOnLoop: isOnLoop, canAwait: canAwait)
  }
}
