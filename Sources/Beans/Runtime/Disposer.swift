/// Decides how and where one object is released. A value: `next` has no effects, and depends on these facts alone.
///
/// Environments, scopes of users, `Owned` and `BeanDeclaration.destroy` fill in the facts and perform the action.
struct Disposer: Equatable {
  /// The holder of the object.
  enum Keeper: Equatable {
    /// A slot of an environment, or an `Owned`.
    case environment
    /// A scope of the user. `isHere`: whether the calling thread is where the scope releases beans. `isFree`: whether
    /// the scope has no release of its own in progress.
    case scope(isHere: Bool, isFree: Bool)
  }

  enum Action: Equatable, CaseIterable {
    /// Goes to the place where the scope releases beans, then calls `next` again.
    case goToScope
    /// Waits for the release that the scope has begun, then calls `next` again.
    case waitForScope
    /// Releases on the calling thread.
    case release
    /// Releases on the calling thread, which is a loop's. If the release is abandoned, the remaining releases continue
    /// elsewhere.
    case releaseOnLoop
    /// Releases on a separate thread; the calling thread waits until the release has ended or is abandoned.
    case releaseAside
    /// Begins the release, on the host if it is asynchronous; continues when it has ended or is abandoned.
    case await
  }

  var keeper = Keeper.environment
  /// Whether the release of the object has to be awaited.
  var isAsynchronous = false
  /// Whether the declaration limits the time of the release.
  var hasLimit = false
  /// Whether the end of the environment has a deadline.
  var hasDeadline = false
  /// Whether the calling thread is the thread of the loop on which the object is to be released.
  var isOnLoop = false
  /// Whether the caller can continue later, from another thread.
  var canAwait = false

  func next() -> Action {
    switch keeper {
    case .scope(isHere: false, _): return .goToScope
    case .scope(_, isFree: false): return .waitForScope
    case .environment, .scope: break
    }
    if isAsynchronous, canAwait { return .await }
    // Without a limit and a deadline, the release is never abandoned.
    if !hasLimit, !hasDeadline { return .release }
    if isOnLoop, !hasLimit { return .releaseOnLoop }
    return canAwait ? .await : .releaseAside
  }
}

extension Disposer {
  /// The facts of one release.
  ///
  /// - Parameters:
  ///   - ending: the callbacks of the release.
  ///   - site: the environment or scope that releases the object.
  ///   - isOnLoop: whether the calling thread is the thread of the loop on which the object is to be released.
  ///   - canAwait: whether the caller can continue later, from another thread.
  init(_ ending: BeanEnding, at site: ReleaseSite, isOnLoop: Bool = false, canAwait: Bool) {
    // `finish()` returns after the releases that need no task, and so after those with a limit.
    let canAwait = canAwait && (ending.isAsynchronous || isOnLoop || site.isWatched)
    self.init(
      isAsynchronous: ending.isAsynchronous, hasLimit: ending.limit != nil, hasDeadline: site.hasDeadline,
      isOnLoop: isOnLoop, canAwait: canAwait)
  }
}
