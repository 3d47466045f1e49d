#if BEANS_SCHEDULES
  public import Dispatch
  public import Synchronization

  // The seam that the tests of `Schedules/` drive: with `-DBEANS_SCHEDULES`, these types stand in for the primitives that
  // threads of the container meet at. They ask a scheduler before each step. Nothing of this is in other builds.

  /// What a thread is about to do that another thread may notice.
  public struct ScheduledStep {
    /// How the step comes into the way of others on its object.
    public enum Kind: Sendable { case read, write, note, lock, wait }

    /// How the step comes into the way of others on its object.
    public let kind: Kind
    /// Names what the step is done to: steps on different objects have nothing to do with each other.
    public let object: UInt
    /// Whether a thread that waits may go on.
    public let isReady: () -> Bool
    /// Whether it also goes on when nothing else can happen any more.
    public let timesOut: Bool

    /// A step of a kind on an object, which waits until it is ready.
    public init(_ kind: Kind, _ object: UInt, timesOut: Bool = false, isReady: @escaping () -> Bool = { true }) {
      (self.kind, self.object, self.timesOut, self.isReady) = (kind, object, timesOut, isReady)
    }
  }

  /// Says which thread goes on.
  public protocol StepScheduler: AnyObject {
    /// Returns when the calling thread may take the step; false where it has waited for too long.
    func wait(for step: ScheduledStep) -> Bool
    /// The calling thread has given a lock back.
    func unlocked(_ object: UInt)
    /// The calling thread's number, from 2; nil for a thread that this does not drive. Each run numbers its threads alike.
    var threadNumber: UInt? { get }
  }

  /// Where the tests of schedules come in.
  public enum Schedules {
    /// Changed only while a single thread runs.
    nonisolated(unsafe) public static var scheduler: (any StepScheduler)?

    @discardableResult
    static func reach(_ step: @autoclosure () -> ScheduledStep) -> Bool {
      unsafe scheduler.map { $0.wait(for: step()) } ?? true
    }

    /// Tells threads apart, by numbers that do not depend on what has been run before: the container chooses by them.
    public static var threadNumber: UInt { unsafe scheduler?.threadNumber ?? 1 }

    /// Threads may note something in any order.
    public static func note(_ object: UInt) { reach(ScheduledStep(.note, object)) }

    /// A look at what threads note.
    public static func read(_ object: UInt) { reach(ScheduledStep(.read, object)) }
  }

  /// As `Atomic`. One thread at a time runs, so that all orderings are the strongest.
  public struct ScheduledAtomic<Value: AtomicRepresentable & BitwiseCopyable & Equatable>: ~Copyable,
    @unchecked Sendable
  {
    // Only one of the threads runs at a time; the scheduler orders them.
    private let word: Atomic<Value>

    /// Holds a first value.
    public init(_ value: consuming Value) { word = Atomic(value) }

    private func access<R>(_ kind: ScheduledStep.Kind, _ body: (UnsafeMutablePointer<Value>) -> R) -> R {
      unsafe withUnsafePointer(to: word) { place in
        let address = unsafe UnsafeMutableRawPointer(mutating: place)
        Schedules.reach(ScheduledStep(kind, UInt(bitPattern: address)))
        return unsafe body(address.assumingMemoryBound(to: Value.self))
      }
    }

    /// The value.
    public func load(ordering: AtomicLoadOrdering) -> Value { unsafe access(.read) { unsafe $0.pointee } }

    /// Replaces the value.
    public func store(_ value: Value, ordering: AtomicStoreOrdering) {
      unsafe access(.write) { unsafe $0.pointee = value }
    }

    /// Replaces the value, and answers the one before.
    @discardableResult
    public func exchange(_ value: Value, ordering: AtomicUpdateOrdering) -> Value {
      unsafe access(.write) { place in
        defer { unsafe place.pointee = value }
        return unsafe place.pointee
      }
    }

    /// Replaces the value where it is the expected one.
    public func compareExchange(
      expected: Value, desired: Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
      unsafe access(.write) { place in
        let original = unsafe place.pointee
        if original == expected { unsafe place.pointee = desired }
        return (original == expected, original)
      }
    }
  }

  extension ScheduledAtomic where Value: FixedWidthInteger {
    /// Adds to the value.
    @discardableResult
    public func add(_ value: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
      unsafe access(.write) { place in
        defer { unsafe place.pointee += value }
        return unsafe (place.pointee, place.pointee + value)
      }
    }
  }

  /// As `SpinLock`.
  public struct ScheduledLock: ~Copyable, Sendable {
    private let place = Atomic(false)

    /// A lock that nobody holds.
    public init() {}

    /// Runs `body` while no other thread is inside.
    public borrowing func withLock<R: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
      lock()
      defer { unlock() }
      return try body()
    }

    private var object: UInt { unsafe withUnsafePointer(to: place) { UInt(bitPattern: $0) } }

    fileprivate func lock() { Schedules.reach(ScheduledStep(.lock, object)) }

    fileprivate func unlock() { unsafe Schedules.scheduler?.unlocked(object) }
  }

  /// As `Mutex`.
  public struct ScheduledMutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Synchronization.Mutex<Value>
    private let lock = ScheduledLock()

    /// Holds a first value.
    public init(_ value: consuming sending Value) { mutex = Synchronization.Mutex(value) }

    /// Runs `body` while no other thread is inside.
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      lock.lock()
      defer { lock.unlock() }
      return try mutex.withLock(body)
    }
  }

  /// As `DispatchSemaphore` and as `DispatchGroup`, for threads that a scheduler drives.
  public final class ScheduledSignal: @unchecked Sendable {
    // Only one of the threads runs at a time; the scheduler orders them.
    private var count: Int

    /// A signal that so many threads may take without waiting.
    public init(value: Int = 0) { count = value }

    private var object: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    /// Lets one thread go on.
    @discardableResult
    public func signal() -> Int {
      Schedules.reach(ScheduledStep(.write, object))
      count += 1
      return 0
    }

    /// Waits for a signal.
    public func wait() {
      Schedules.reach(ScheduledStep(.wait, object) { self.count > 0 })
      count -= 1
    }

    /// One more has to leave before those who wait go on.
    public func enter() { count -= 1 }

    /// Has left.
    public func leave() { signal() }

    /// Waits until all have left, or nothing else can happen.
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
      Schedules.reach(ScheduledStep(.wait, object, timesOut: true) { self.count >= 0 }) ? .success : .timedOut
    }
  }

  /// Stands in for the function of that name in this module.
  func beans_thread() -> UInt { Schedules.threadNumber }

  /// Stands in for the type of that name in this module.
  typealias DispatchGroup = ScheduledSignal
  /// Stands in for the type of that name in this module.
  public typealias Mutex = ScheduledMutex
#endif
