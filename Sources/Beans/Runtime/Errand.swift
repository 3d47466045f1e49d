@_spi(BeansPackage) import BeansErrors

/// A part of an end that belongs to the thread of a place. The first thread that takes it runs it: that of the place, one
/// that waits for the end and may release there, or a spare one shortly before a deadline.
final class Errand: Sendable {
  /// - Parameter isThere: whether this runs in the place, which then can await releases.
  typealias Work = @Sendable (_ isThere: Bool) -> Void

  let place: any HostedScope
  private let work: Locked<Work?>

  init(_ place: any HostedScope, _ work: @escaping Work) {
    self.place = place
    self.work = Locked(work)
  }

  /// Returns the work to the first caller.
  func take() -> Work? { work.withLock { $0.take() } }

  /// Sends the work to its place, or runs it here where that place no longer exists.
  func send() {
    let isAccepted = place.release { self.take()?(true) }
    // A place without a running thread accepts work for later.
    if !isAccepted || place.canReleaseHere { take()?(false) }
  }
}
