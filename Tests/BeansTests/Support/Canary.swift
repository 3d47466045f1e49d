import TestSupport

/// Counts its end.
class Canary {
  private let ended: Counter

  init(_ ended: Counter) { self.ended = ended }

  deinit { ended.increment() }
}
