@_spi(BeansPackage) import BeansSupport
import CBeansRuntime
import Synchronization

/// What most children of factories never need: children of their own, failures, and threads that wait for the end.
final class Side: Sendable {
  let children: LiveChildren
  /// Of a plain environment.
  let setup: Setup?
  private let state = Locked(State())

  private struct State {
    var failures: [any Error] = []
    var isDone = false
    var callbacks: [@Sendable () -> Void] = []
  }

  /// Whether releases may be awaited: set before a `shutdown() async` begins.
  let isAsynchronous = Atomic<Bool>(false)

  /// Beans built by threads that came while another was inside; see `CreationOrder`.
  let late = Locked<[CreationOrder.Late]>([])

  /// Beans released when the environment ended.
  let releasedBeans = Atomic<Int>(0)

  /// `shards`: a power of two, at most 8.
  init(shards: Int, setup: Setup? = nil) {
    children = LiveChildren(shards: shards)
    self.setup = setup
  }

  func record(_ failure: any Error) { state.withLock { $0.failures.append(failure) } }

  /// Each failure is handed out once.
  func takeFailures() -> [any Error] {
    state.withLock { state in
      defer { state.failures = [] }
      return state.failures
    }
  }

  /// Everything is released: tells whoever waits.
  func end() {
    let callbacks = state.withLock { state in
      state.isDone = true
      defer { state.callbacks = [] }
      return state.callbacks
    }
    for callback in callbacks { callback() }
  }

  func whenEnded(_ body: @escaping @Sendable () -> Void) {
    let isDone = state.withLock { state in
      if !state.isDone { state.callbacks.append(body) }
      return state.isDone
    }
    if isDone { body() }
  }
}

extension Environment {
  /// The side, made on first use.
  var side: Side { (sideReference ?? makeSide())._withUnsafeGuaranteedRef { $0 } }

  var existingSide: Side? { sideReference?._withUnsafeGuaranteedRef { $0 } }

  /// Lives as long as the environment.
  @inline(__always)
  var sideReference: Unmanaged<Side>? { Unmanaged<Side>.word(header.side.load(ordering: .acquiring)) }

  @inline(never)
  func makeSide() -> Unmanaged<Side> {
    let made = Unmanaged.passRetained(Side(shards: 1))
    let (won, other) = header.side.compareExchange(
      expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
    if won {
      // Made after the end has begun, it has missed being closed; after the end, being told.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if Self.hasBarrier { beans_barrier_on_all_threads() }
      if isFinishing { _ = made._withUnsafeGuaranteedRef { $0.children.close() } }
      if isReleased { made._withUnsafeGuaranteedRef { $0.end() } }
      return made
    }
    made.release()
    // Only this method writes the word, and only once.
    return Unmanaged<Side>.word(other).unsafelyUnwrapped
  }
}

extension Unmanaged where Instance == Side {
  /// What the header's word refers to.
  @inline(__always)
  static func word(_ word: UInt) -> Unmanaged<Side>? {
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }
}
