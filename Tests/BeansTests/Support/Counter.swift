import Beans
import Synchronization

/// A number that threads may raise together.
final class Counter: Sendable {
  private let number = Atomic(0)

  func increment() { number.add(1, ordering: .sequentiallyConsistent) }

  var value: Int { number.load(ordering: .sequentiallyConsistent) }
}

/// Lines written from any thread, in order.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])

  func note(_ line: String) { lines.withLock { $0.append(line) } }

  var entries: [String] { lines.withLock { $0 } }
}

/// A bean that counts its instances, so that a leak and a release too many both show.
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

/// What factories of tests throw.
struct Boom: Error, Equatable {}
