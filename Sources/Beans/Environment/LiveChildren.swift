import CBeansRuntime
import Synchronization

/// The children that have not ended yet, each held until it has.
///
/// Lists linked through the children themselves: joining and leaving cost the same whatever the number of siblings.
/// There are several, chosen by thread, each with a lock that only threads of the same choice share; no user code runs
/// under it. The counts of what has ended are kept under the same locks, for the closing report.
final class LiveChildren: @unchecked Sendable {  // `memory` is never written after `init`; each list has its own lock
  /// One list and its lock.
  private struct Shard {
    private let lock: UnsafeMutablePointer<BiasedLock>
    private let list: UnsafeMutablePointer<ChildList>

    /// Several stand far enough from each other that their threads do not share a line of memory.
    static let stride = 128
    private static let listOffset = 16

    @inline(__always)
    init(at memory: UnsafeMutableRawPointer) {
      lock = memory.assumingMemoryBound(to: BiasedLock.self)
      list = (memory + Self.listOffset).assumingMemoryBound(to: ChildList.self)
    }

    func initialize() {
      lock.initialize(to: BiasedLock())
      list.initialize(to: ChildList())
    }

    func deinitialize() {
      lock.deinitialize(count: 1)
      list.deinitialize(count: 1)
    }

    @inline(__always)
    func withLock<R>(_ body: (inout ChildList) -> R) -> R { lock.pointee.withLock { body(&list.pointee) } }
  }

  private let count: Int
  private let memory: UnsafeMutableRawPointer

  @inline(__always)
  private func shard(_ number: Int) -> Shard { Shard(at: memory + number &* Shard.stride) }

  /// `count` is a power of two.
  init(shards count: Int) {
    self.count = count
    memory = .allocate(byteCount: count * Shard.stride, alignment: 16)
    for number in 0..<count { shard(number).initialize() }
  }

  deinit {
    for number in 0..<count { shard(number).deinitialize() }
    memory.deallocate()
  }

  /// Holds the child from now on; false when the parent has been finished. `isShared`: whether other threads know it yet.
  @inline(__always)
  func join(_ child: Environment, isShared: Bool) -> Bool {
    let number = Int(truncatingIfNeeded: beans_thread() >> 2) & (count &- 1)
    return shard(number).withLock { list in
      if list.isClosed { return false }
      let joining = Environment.State.joining(shard: number)
      if isShared {
        child.header.state.bitwiseOr(joining, ordering: .relaxed)
      } else {
        child.header.state.store(child.header.state.load(ordering: .relaxed) | joining, ordering: .relaxed)
      }
      list.join(child, isShared: isShared)
      return true
    }
  }

  /// Lets go of the child; true when the list is closed, so that the parent may be next.
  @inline(__always)
  func leave(_ child: Environment, created: Int, released: Int) -> Bool {
    let isClosed = shard(Environment.State.shard(child.state)).withLock { list in
      list.leave(child, created: created, released: released)
      return list.isClosed
    }
    // The list's own reference, outside the lock: what goes with the child may be a user's object.
    Unmanaged.passUnretained(child).release()
    return isClosed
  }

  /// Keeps the counts of a child's own children, which go with it.
  func add(_ below: [ScopeStatistics], of child: Environment) {
    if !below.isEmpty { shard(Environment.State.shard(child.state)).withLock { $0.add(below) } }
  }

  /// No child joins any more; those that live.
  func close() -> [Environment] {
    collect { list in
      list.isClosed = true
      return list.children
    }
  }

  /// Those that live now.
  var all: [Environment] { collect(\.children) }

  var isEmpty: Bool { (0..<count).allSatisfy { shard($0).withLock { $0.isEmpty } } }

  /// Of all children there have been, and of theirs that ended with them.
  var statistics: [ScopeStatistics] { collect { list in list.allStatistics() } }

  private func collect<Element: Sendable>(_ body: (inout ChildList) -> [Element]) -> [Element] {
    (0..<count).flatMap { shard($0).withLock { body(&$0) } }
  }
}
