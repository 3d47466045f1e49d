import Builtin

/// Allocating the child of a factory together with its slots.
///
/// `ManagedBuffer` would do the same for an object of its own, beside the environment: a second allocation costs a request
/// some 390 instructions, seven per cent.
extension Environment {
  /// A child in one allocation; the rest of it is initialised by `fill`, which is handed the slots.
  @inline(__always)
  static func allocate<Core: ~Copyable>(_ layout: SlotLayout, _ makeCore: (Slots) -> Core) -> Environment {
    let child = Builtin.allocWithTailElems_1(Environment.self, layout.words._builtinWordValue, UInt.self)
    let tail = UnsafeMutableRawPointer(UnsafeMutablePointer<UInt>(Builtin.projectTailElems(child, UInt.self)))
    // The one stored property ends where the tail begins.
    let core = (tail - MemoryLayout<Core>.size).assumingMemoryBound(to: Core.self)
    core.initialize(to: makeCore(Slots(layout.initialize(tail))))
    return child
  }

  /// Whether a tail begins right behind the environment's one stored property, which `allocate` relies on.
  func isFollowedByTail<Core: ~Copyable>(_ core: borrowing Core) -> Bool {
    let tail = UnsafeRawPointer(UnsafeMutablePointer<UInt>(Builtin.projectTailElems(self, UInt.self)))
    return withUnsafePointer(to: core) { UnsafeRawPointer($0) + MemoryLayout<Core>.size == tail }
  }
}

/// The scope object of one child, beside its slots: two words, written before anybody else knows the child.
struct ScopeCell {
  static var words: Int { 2 }

  private let memory: UnsafeMutableRawPointer

  @inline(__always)
  init(of slots: Slots, _ layout: SlotLayout) {
    memory = UnsafeMutableRawPointer(mutating: slots.first) + layout.scope * MemoryLayout<UInt>.stride
  }

  /// Keeps a reference of two words: to an object, as a protocol.
  func initialize<Scope>(_ type: Scope.Type, to scope: Scope) {
    precondition(MemoryLayout<Scope>.size == Self.words * MemoryLayout<UInt>.stride)
    memory.initializeMemory(as: Scope.self, to: scope)
  }

  @inline(__always)
  func load<Scope>(as type: Scope.Type) -> Scope { memory.load(as: type) }

  func deinitialize<Scope>(as type: Scope.Type) { memory.assumingMemoryBound(to: type).deinitialize(count: 1) }
}
