@_spi(BeansPackage) import BeansErrors
import Synchronization

/// A number that several threads may increment.
package final class Counter: Sendable {
  private let number = Atomic(0)

  package init() {}

  package func increment() { number.add(1, ordering: .sequentiallyConsistent) }

  package var value: Int { number.load(ordering: .sequentiallyConsistent) }
}

/// Lines written from any thread, in order.
package final class Journal: Sendable {
  private let lines = Locked<[String]>([])

  package init() {}

  package func note(_ line: String) { lines.withLock { $0.append(line) } }

  package var entries: [String] { lines.withLock { $0 } }
}

/// The error that factories of tests throw.
package struct Boom: Error, Equatable {
  package init() {}
}
