// Marked listings stand in the article to the letter, but for their indentation: see ListingTests.swift. In a structure,
// because other files of these tests have classes of the same names.

// listing
import Beans
import BeansInject
import Dispatch
import Synchronization

// end

struct ComingFromInject {
  // continued
  final class Bar: Initializable {}

  final class Foo: BeanDescriptorInitializer {
    let bar: Bar
    private(set) var number = 0

    init(bar: Bar) { self.bar = bar }

    static func initializeBeanDescriptor(_ descriptor: BeanDescriptor) throws {
      try descriptor["number"].inject(InjectConfigurationValue(key: "number", defaultValue: 7))
    }
  }

  func startFoo() throws -> Foo {
    let environment = try Environment(name: "my first environment")
    try environment
      .define(environment.bean(Bar.self))
      .define(environment.bean(Foo.self, factory: Foo.init))
    return try environment.getBean(Foo.self)
  }
  // end

  // listing
  final class Counter: Sendable {  // Mutex, synchronized(self) { … }
    private let count = Mutex(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }
  // end

  // listing
  enum Visit {  // ThreadLocal
    @TaskLocal static var user = "nobody"
  }

  func download(_ name: String) async throws -> String { "\(name) for \(Visit.user)" }

  func both() async throws -> String {  // all(p1, p2), then
    async let first = download("a")
    async let second = download("b")
    return try await "\(first), \(second)"
  }

  func later() -> Task<String, any Error> {  // Future, Promise
    Task {
      try await Visit.$user.withValue("Ada") { try await both() }
    }
  }
  // end

  // listing
  func announce() -> (stream: AsyncStream<Int>, continuation: AsyncStream<Int>.Continuation) {  // Condition
    AsyncStream.makeStream(of: Int.self)
  }

  func limit<R>(_ gate: DispatchSemaphore, _ work: () throws -> R) rethrows -> R {  // Semaphore
    gate.wait()
    defer { gate.signal() }
    return try work()
  }
  // end
}
