import Beans

/// A bean that counts its instances, so that a leak and an excess release are both found.
final class Tracked: DisposableBean {
  struct Counters: Sendable {
    let built = Counter()
    let died = Counter()
    let destroyed = Counter()
  }

  private let counters: Counters

  init(_ counters: Counters) {
    self.counters = counters
    counters.built.increment()
  }

  func preDestroy() { counters.destroyed.increment() }

  deinit { counters.died.increment() }
}
