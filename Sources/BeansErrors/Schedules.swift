#if BEANS_SCHEDULES
  public import Dispatch
  public import Synchronization

  // The seam for the tests of `Schedules/`: with `-DBEANS_SCHEDULES`, these types replace the primitives through which
  // threads of the container synchronise. Each step first waits for a scheduler. Other builds contain none of this.

  /// A step that is visible to other threads.
  public struct ScheduledStep {
    /// The way in which the step conflicts with other steps on its object.
    public enum Kind: Sendable { case read, write, note, lock, wait }

    /// The way in which the step conflicts with other steps on its object.
    public let kind: Kind
    /// The identity of the object. Steps on different objects are independent.
    public let object: UInt
    /// Whether the waiting thread may continue.
    public let isReady: () -> Bool
    /// Whether the thread also continues when no other thread can.
    public let timesOut: Bool

    /// Creates a step of a kind on an object, which waits until it is ready.
    public init(_ kind: Kind, _ object: UInt, timesOut: Bool = false, isReady: @escaping () -> Bool = { true }) {
      (self.kind, self.object, self.timesOut, self.isReady) = (kind, object, timesOut, isReady)
    }
  }

  /// Decides which thread continues.
  public protocol StepScheduler: AnyObject {
    /// Returns when the calling thread may take the step; false if it has waited for too long.
    func wait(for step: ScheduledStep) -> Bool
    /// Records that the calling thread has released a lock.
    func unlocked(_ object: UInt)
    /// The calling thread's number, from 2; nil for a thread that this scheduler does not drive. Each run numbers its
    /// threads alike.
    var threadNumber: UInt? { get }
  }

  /// The entry point for the tests of schedules.
  public enum Schedules {
    /// The scheduler of the running test. Changed only while a single thread runs.
    nonisolated(unsafe) public static var scheduler: (any StepScheduler)?

    @discardableResult
    static func reach(_ step: @autoclosure () -> ScheduledStep) -> Bool {
      unsafe scheduler.map { $0.wait(for: step()) } ?? true
    }

    /// The number of the calling thread, independent of earlier runs. The container makes choices by this number.
    public static var threadNumber: UInt { unsafe scheduler?.threadNumber ?? 1 }

    /// Records a write that commutes with other notes: threads may note in any order.
    public static func note(_ object: UInt) { reach(ScheduledStep(.note, object)) }

    /// Records a read of an object that threads note.
    public static func read(_ object: UInt) { reach(ScheduledStep(.read, object)) }
  }

  /// Replaces `Atomic`. One thread at a time runs, so that all orderings are the strongest.
  public struct ScheduledAtomic<Value: AtomicRepresentable & BitwiseCopyable & Equatable>: ~Copyable,
    @unchecked Sendable
  {
    // The scheduler orders the threads: only one of them runs at a time.
    private let word: Atomic<Value>

    /// Creates an atomic with a first value.
    public init(_ value: consuming Value) { word = Atomic(value) }

    private func access<R>(_ kind: ScheduledStep.Kind, _ body: (UnsafeMutablePointer<Value>) -> R) -> R {
      unsafe withUnsafePointer(to: word) { place in
        let address = unsafe UnsafeMutableRawPointer(mutating: place)
        Schedules.reach(ScheduledStep(kind, UInt(bitPattern: address)))
        return unsafe body(address.assumingMemoryBound(to: Value.self))
      }
    }

    /// Returns the value.
    public func load(ordering: AtomicLoadOrdering) -> Value { unsafe access(.read) { unsafe $0.pointee } }

    /// Replaces the value.
    public func store(_ value: Value, ordering: AtomicStoreOrdering) {
      unsafe access(.write) { unsafe $0.pointee = value }
    }

    /// Replaces the value, and returns the previous one.
    @discardableResult
    public func exchange(_ value: Value, ordering: AtomicUpdateOrdering) -> Value {
      unsafe access(.write) { place in
        defer { unsafe place.pointee = value }
        return unsafe place.pointee
      }
    }

    /// Replaces the value if it equals the expected one.
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

  /// Replaces `SpinLock`.
  public struct ScheduledLock: ~Copyable, Sendable {
    private let place = Atomic(false)

    /// Creates an unlocked lock.
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

  /// Replaces `Mutex`.
  public struct ScheduledMutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Synchronization.Mutex<Value>
    private let lock = ScheduledLock()

    /// Creates a mutex with a first value.
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

  /// Replaces `DispatchSemaphore`, for threads that a scheduler drives.
  public final class ScheduledSignal: @unchecked Sendable {
    // The scheduler orders the threads: only one of them runs at a time.
    private var count: Int

    /// Creates a signal that `value` threads may take without waiting.
    public init(value: Int = 0) { count = value }

    private var object: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    /// Wakes one waiting thread.
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

    /// Waits for a signal, or until no other thread can continue.
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
      guard Schedules.reach(ScheduledStep(.wait, object, timesOut: true) { self.count > 0 }) else { return .timedOut }
      count -= 1
      return .success
    }
  }

  /// Replaces the function of that name in this module.
  func beans_thread() -> UInt { Schedules.threadNumber }

  /// Replaces the type of that name in this module.
  typealias DispatchSemaphore = ScheduledSignal
  /// Replaces the type of that name in this module.
  public typealias Mutex = ScheduledMutex
#endif
