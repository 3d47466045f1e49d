import Synchronization

/// What stands behind the header of a factory's child, in the same allocation: the same for all children of a plan.
///
///     slots: a word each    scope object, if the factory names one    order of creation: a byte or two each
///
/// A plain environment, of which there are few, has its slots in its plan.
struct Tail {
  /// In words.
  let words: Int
  fileprivate let scope: Int
  fileprivate let order: Int
  /// Whether a byte names a slot.
  let isNarrow: Bool

  init(slots: Int, hasScope: Bool, hasSeed: Bool) {
    scope = slots
    order = slots + (hasScope ? MemoryLayout<ScopeObject>.stride / MemoryLayout<UInt>.stride : 0)
    isNarrow = slots <= 1 << 8
    // The seed is there before any bean, so it needs no place in the order.
    let entries = slots - (hasSeed ? 1 : 0)
    words = order + (isNarrow ? (entries + 7) / 8 : (entries + 3) / 4)
  }
}

/// The slots of one child in the order in which they were filled, written by leaders only.
struct Trail {
  private let entries: UnsafeMutableRawPointer
  private let isNarrow: Bool

  @inline(__always)
  fileprivate init(_ entries: UnsafeMutableRawPointer, isNarrow: Bool) {
    self.entries = entries
    self.isNarrow = isNarrow
  }

  @inline(__always)
  subscript(index: Int) -> Int {
    get {
      isNarrow
        ? Int(entries.load(fromByteOffset: index, as: UInt8.self))
        : Int(entries.load(fromByteOffset: 2 * index, as: UInt16.self))
    }
    nonmutating set {
      if isNarrow {
        entries.storeBytes(of: UInt8(truncatingIfNeeded: newValue), toByteOffset: index, as: UInt8.self)
      } else {
        entries.storeBytes(of: UInt16(truncatingIfNeeded: newValue), toByteOffset: 2 * index, as: UInt16.self)
      }
    }
  }
}

extension Environment {
  /// Of a factory's child; in a plain environment nobody leads, and there is no memory for it.
  @inline(__always)
  var trail: Trail {
    let tail = header.plan._withUnsafeGuaranteedRef { $0.tail }
    return Trail(self.tail + tail.order, isNarrow: tail.isNarrow)
  }

  /// The same where it is known to be narrow.
  @inline(__always)
  var narrowTrail: UnsafeMutablePointer<UInt8> {
    let order = header.plan._withUnsafeGuaranteedRef { $0.tail.order }
    return UnsafeMutableRawPointer(tail + order).assumingMemoryBound(to: UInt8.self)
  }

  /// The same where it is not.
  @inline(__always)
  var wideTrail: UnsafeMutablePointer<UInt16> {
    let order = header.plan._withUnsafeGuaranteedRef { $0.tail.order }
    return UnsafeMutableRawPointer(tail + order).assumingMemoryBound(to: UInt16.self)
  }

  /// What the factory made for this child. Written once, before others can see the child.
  var scope: ScopeObject { hasScope ? scopePointer.pointee : .none }

  @inline(__always)
  var isCustomScope: Bool { header.state.load(ordering: .relaxed) & State.custom != 0 }

  @inline(__always)
  var isHosted: Bool { header.state.load(ordering: .relaxed) & State.hosted != 0 }

  @inline(__always)
  private var hasScope: Bool { header.state.load(ordering: .relaxed) & (State.hosted | State.custom) != 0 }

  private var scopePointer: UnsafeMutablePointer<ScopeObject> {
    let offset = header.plan._withUnsafeGuaranteedRef { $0.tail.scope }
    return UnsafeMutableRawPointer(tail + offset).assumingMemoryBound(to: ScopeObject.self)
  }

  /// For a child nobody else knows yet, of a factory that names a scope object.
  func keepScope(_ scope: ScopeObject) {
    let kind: UInt
    switch scope {
    case .none: return
    case .hosted: kind = State.hosted
    case .custom: kind = State.custom
    }
    scopePointer.initialize(to: scope)
    header.state.bitwiseOr(kind, ordering: .relaxed)
  }

  func dropScope() {
    if !hasScope { return }
    scopePointer.deinitialize(count: 1)
    header.state.bitwiseAnd(~(State.hosted | State.custom), ordering: .relaxed)
  }
}
