@_spi(BeansPackage) import BeansErrors
import BeansServer
import Dispatch

/// Figures that require a visit to each of many items.
///
/// While the items are few, each caller visits them, and the figures are exact. Otherwise a caller gets the figures of
/// the last complete pass, and starts another pass on a queue if that one is older than a second.
final class Sampled<Figures: Sendable>: Sendable {
  /// The maximum number of items that a caller visits.
  static var slice: Int { 1_000 }

  private let queue: DispatchQueue
  /// Visits at most `maximum` items. Returns their figures, and true if there are no more items.
  private let look: @Sendable (_ maximum: Int) -> (figures: Figures, isComplete: Bool)
  private let state = Locked(State())

  private struct State {
    /// The figures of the last complete pass, or of a slice before the first one; nil if the items are few.
    var last: Figures?
    /// The start time of the last pass, as `LoopScope.now`.
    var begun: UInt64 = 0
    var isLooking = false
  }

  /// Creates figures without a pass.
  ///
  /// - Parameters:
  ///   - queue: the queue of complete passes.
  ///   - look: visits items, on any thread. Holds no lock for longer than a slice.
  init(on queue: DispatchQueue, _ look: @escaping @Sendable (_ maximum: Int) -> (figures: Figures, isComplete: Bool)) {
    self.queue = queue
    self.look = look
  }

  /// The last figures of many items; nil if the items are few.
  var last: Figures? { state.withLock { $0.last } }

  /// Returns the current figures. Before the first complete pass over many items they are those of a slice.
  ///
  /// - Parameter areMany: true if the caller expects more items than a slice.
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
      // Another caller may have found meanwhile that the items are few.
      state.last = state.last ?? slice
      return (state.last, begins)
    }
    if begins { queue.async { self.lookAtAll() } }
    return known ?? look(Self.slice).figures
  }

  private func lookAtAll() {
    var (figures, isComplete) = look(.max)
    // A pass that has lost its position has missed some items.
    for _ in 0..<2 where !isComplete { (figures, isComplete) = look(.max) }
    state.withLock { [figures] in ($0.last, $0.isLooking) = (figures, false) }
  }
}
