import BeansServer
import Dispatch
@_spi(BeansPackage) import BeansSupport

/// Figures that only a look at each of many things can find.
///
/// While the things are few, they are looked at by each caller, and the figures are exact. Otherwise a caller gets those of the
/// last look at all of them, and begins another look on a queue where that one is older than a second.
final class Sampled<Figures: Sendable>: Sendable {
  /// How many things a caller looks at, at most.
  static var slice: Int { 1_000 }

  private let queue: DispatchQueue
  /// Returns the figures of so many things at most, and whether these were all.
  private let look: @Sendable (_ maximum: Int) -> (figures: Figures, isComplete: Bool)
  private let state = Locked(State())

  private struct State {
    /// The figures of the last look at all things, or at a slice before the first such look; nil where the things are few.
    var last: Figures?
    /// The time at which the last look began, as `LoopScope.now`.
    var begun: UInt64 = 0
    var isLooking = false
  }

  /// - Parameters:
  ///   - queue: where all things are looked at.
  ///   - look: from any thread. Takes no lock for longer than a slice.
  init(on queue: DispatchQueue, _ look: @escaping @Sendable (_ maximum: Int) -> (figures: Figures, isComplete: Bool)) {
    self.queue = queue
    self.look = look
  }

  /// The figures that are known of many things; nil where the things are few.
  var last: Figures? { state.withLock { $0.last } }

  /// The figures as they are known. Before the first look at all of many things they are those of a slice.
  ///
  /// - Parameter areMany: whether there are more things than a slice, as far as the caller knows.
  func figures(areMany: Bool) -> Figures {
    var slice: Figures?
    if !areMany || last == nil {
      let (figures, isComplete) = look(Self.slice)
      if isComplete {
        state.withLock { $0.last = nil }
        return figures
      }
      slice = figures
    }
    let now = LoopScope.now
    let (known, begins) = state.withLock { [slice] state in
      let begins = !state.isLooking && (state.last == nil || now - min(state.begun, now) >= 1_000_000_000)
      if begins { (state.isLooking, state.begun) = (true, now) }
      // Another caller may have found out meanwhile that the things are few.
      state.last = state.last ?? slice
      return (state.last, begins)
    }
    if begins { queue.async { self.lookAtAll() } }
    return known ?? look(Self.slice).figures
  }

  private func lookAtAll() {
    var (figures, isComplete) = look(.max)
    // A walk that has lost its place has missed some.
    for _ in 0..<2 where !isComplete { (figures, isComplete) = look(.max) }
    state.withLock { [figures] in ($0.last, $0.isLooking) = (figures, false) }
  }
}
