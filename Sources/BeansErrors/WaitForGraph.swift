import CBeansRuntime
import Dispatch

/// The waits for builds in flight elsewhere: those of threads for a bean in a slot or a scope or for a whole
/// environment, and those of asynchronous creations for each other.
///
/// Used only when two builders need the same missing instance. Records the builder of each wait, and so detects cycles.
package enum WaitForGraph {
  /// Builds beans, and may wait for another builder.
  package enum Builder: Hashable, Sendable {
    case thread(UInt)
    /// An asynchronous creation, whichever threads run it.
    case creation(ObjectIdentifier)
  }

  /// The identity of a build among all builds of the process: an object, or a numbered part of one.
  package struct Key: Hashable, Sendable {
    private let owner: ObjectIdentifier
    private let part: Int32?

    /// Creates the key. The object lives as long as the build.
    package init(_ owner: AnyObject, part: Int32? = nil) { (self.owner, self.part) = (ObjectIdentifier(owner), part) }
  }

  /// The wait of a builder for another one.
  package final class Wait: @unchecked Sendable {  // the lock of the graph guards `error`
    fileprivate let (waiter, builder): (Builder, Builder)
    /// Returns the beans in flight of the waiting builder, the awaited one last, with those on the path to it.
    fileprivate let steps: @Sendable (_ between: [EnvironmentError.Step]) -> [EnvironmentError.Step]
    fileprivate let origin: EnvironmentError.Origin?
    /// The build that a thread waits for.
    fileprivate let key: Key?
    fileprivate let signal = DispatchSemaphore(value: 0)
    fileprivate var error: EnvironmentError?

    /// Creates a wait that has not begun.
    package init(
      of waiter: Builder, for builder: Builder, origin: EnvironmentError.Origin?, key: Key? = nil,
      steps: @escaping @Sendable (_ between: [EnvironmentError.Step]) -> [EnvironmentError.Step]
    ) {
      (self.waiter, self.builder, self.steps, self.origin, self.key) = (waiter, builder, steps, origin, key)
    }
  }

  private struct State {
    /// The waits by waiting builder: one of a thread, one for each waiting task of a creation.
    var waits: [Builder: [Wait]] = [:]

    /// Throws if a wait would close a circle.
    func check(_ wait: Wait, through between: () -> [EnvironmentError.Step]) throws {
      guard let path = path(from: wait.builder, to: wait.waiter) else { return }
      var circle = wait.steps(between())
      for further in path { circle += further.steps([]).drop { $0.label != circle.last?.label }.dropFirst() }
      var labels = circle.map(\.label).joined(separator: " → ")
      if case .thread = wait.waiter, !path.isEmpty { labels += ", across threads" }
      throw EnvironmentError(
        cause: .circleOfLookups, "\(labels); break the circle with a Provider that is called later",
        steps: circle, origin: wait.origin)
    }

    /// Returns the waits by which a builder waits for another one, directly or not; nil if it does not.
    private func path(from first: Builder, to last: Builder) -> [Wait]? {
      // The wait by which the search has reached each builder.
      var reached: [Builder: Wait?] = [first: nil]
      var rest = [first]
      while let next = rest.popLast(), next != last {
        for wait in waits[next] ?? [] where reached[wait.builder] == nil {
          reached[wait.builder] = .some(wait)
          rest.append(wait.builder)
        }
      }
      guard let end = reached[last] else { return nil }
      return end.map { sequence(first: $0) { reached[$0.waiter] ?? nil }.reversed() } ?? []
    }

    mutating func begin(_ wait: Wait, through between: () -> [EnvironmentError.Step]) throws {
      try check(wait, through: between)
      waits[wait.waiter, default: []].append(wait)
    }

    mutating func end(_ wait: Wait) {
      waits[wait.waiter]?.removeAll { $0 === wait }
      if waits[wait.waiter]?.isEmpty == true { waits[wait.waiter] = nil }
    }
  }

  /// The functions of the container. A struct, because a closure that is the value of a generic lock is wrapped anew
  /// with each access.
  private struct Container {
    let path: @Sendable () -> [String]
    let warn: @Sendable (_ message: String) -> Void
  }

  private static let state = Locked(State())
  private static let container = Locked(Container(path: { [] }, warn: { _ in }))

  /// The id of the calling thread, as `builder` returns it.
  package static var thread: UInt { UInt(beans_thread()) }

  /// Sets the functions of the container.
  ///
  /// - Parameters:
  ///   - path: returns the labels of the calling thread's builds in flight, outermost first.
  ///   - warn: logs a long wait.
  package static func connect(
    path: @escaping @Sendable () -> [String], warn: @escaping @Sendable (_ message: String) -> Void
  ) {
    container.withLock { $0 = Container(path: path, warn: warn) }
  }

  // MARK: threads

  /// Returns when the build has ended or was over already; throws the error of the build, or `.cyclicDependency`.
  ///
  /// `builder` returns the id of the building thread, or nil once the build is over. The thread that ends a build calls
  /// `end` after that, unless it knows that no thread has called `wait` before.
  package static func wait(
    for key: Key, _ label: String, in environment: String, origin: EnvironmentError.Origin?, builder: () -> UInt?
  ) throws {
    let container = container.withLock { $0 }
    let path = container.path() + [label]
    let begun = try state.withLock { state -> (wait: Wait, builder: UInt)? in
      guard let builder = builder() else { return nil }
      let steps = path.map { EnvironmentError.Step($0) }
      let wait = Wait(of: .thread(thread), for: .thread(builder), origin: origin, key: key) { _ in steps }
      try state.begin(wait) { [] }
      return (wait, builder)
    }
    guard let (wait, builder) = begun else { return }
    let start = ContinuousClock.now
    while wait.signal.wait(timeout: .now() + .seconds(5)) == .timedOut {
      container.warn(
        "thread \(thread) has waited \((.now - start).components.seconds) s for \(label) in '\(environment)', "
          + "which thread \(builder) is building; waiting: \(path.joined(separator: " → "))")
    }
    if let error = state.withLock({ _ in wait.error }) { throw error }
  }

  /// Wakes the threads that wait for the build of the calling thread.
  package static func end(_ key: Key, _ error: EnvironmentError?) {
    state.withLock { state in
      // Another thread may have begun a new build meanwhile, with waiting threads of its own.
      for wait in state.waits.values.joined() where wait.key == key && wait.builder == .thread(thread) {
        state.end(wait)
        wait.error = error
        wait.signal.signal()
      }
    }
  }

  // MARK: asynchronous creations

  /// Throws `.cyclicDependency` if a wait of a creation would never end.
  ///
  /// - Parameters:
  ///   - wait: a wait that has not begun.
  ///   - between: returns the beans on the path from the waiting creation to the awaited one.
  package static func check(_ wait: Wait, through between: () -> [EnvironmentError.Step]) throws {
    try state.withLock { try $0.check(wait, through: between) }
  }

  /// Begins a wait of a creation, unless it would never end.
  package static func begin(_ wait: Wait, through between: () -> [EnvironmentError.Step]) throws {
    try state.withLock { try $0.begin(wait, through: between) }
  }

  /// Ends a wait of a creation.
  package static func end(_ wait: Wait) { state.withLock { $0.end(wait) } }
}
