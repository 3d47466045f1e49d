import TestSupport

/// Counts its deallocation.
class Canary {
  private let ended: Counter

  init(_ ended: Counter) { self.ended = ended }

  deinit { ended.increment() }
}
