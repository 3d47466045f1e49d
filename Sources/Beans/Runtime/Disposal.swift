/// The way in which one object is released. Depends on the facts alone.
enum Disposal {
  /// On the calling thread.
  case here
  /// On the loop of its scope. If the release is abandoned, the remaining releases continue elsewhere.
  case onLoop
  /// On a separate thread; the calling thread waits until the release has ended or is abandoned.
  case aside
  /// On the host if it is asynchronous, otherwise on a separate thread. The end continues when the release has ended or
  /// is abandoned.
  case awaited

  /// - Parameters:
  ///   - isAsynchronous: whether the release of the object has to be awaited.
  ///   - hasLimit: whether the declaration limits the time of the release.
  ///   - hasDeadline: whether the end of the environment has a deadline.
  ///   - isOnLoop: whether the calling thread is the thread of the loop on which the object is to be released.
  ///   - canAwait: whether the caller can continue later, from another thread.
  init(isAsynchronous: Bool, hasLimit: Bool, hasDeadline: Bool, isOnLoop: Bool, canAwait: Bool) {
    // Without a limit and a deadline, the release is never abandoned.
    let mayBeAbandoned = hasLimit || hasDeadline
    if isAsynchronous, canAwait {
      self = .awaited
    } else if !mayBeAbandoned {
      self = .here
    } else if isOnLoop, !hasLimit {
      self = .onLoop
    } else {
      self = if canAwait { .awaited } else { .aside }
    }
  }
}
