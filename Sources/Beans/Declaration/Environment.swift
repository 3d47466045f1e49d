/// A container. Environments form a tree: a child sees all declarations of its ancestors and changes none of them.
///
/// Declare beans on one thread, then start. After that every lookup is safe from any thread. The container publishes a
/// bean safely to every thread that looks it up; whether a bean may be *used* by several threads is the bean's own
/// contract, so singletons should be `Sendable`.
///
/// End it with `shutdown()`. An environment that is deallocated without a shutdown drops its references to its beans
/// and calls no release callbacks. Children, and beans that hold the environment, keep it alive.
public final class Environment: Sendable {
  @usableFromInline let core: EnvironmentCore
  let scope: ScopeObject
  /// Storage for the slots of a factory's child that has few; unused elsewhere.
  let room = SlotRoom()

  @inline(__always)
  init(_ core: consuming EnvironmentCore) {
    self.core = core
    scope = .none
  }

  /// Makes a factory's child with its slots: in its own room, or in an allocation where the room is too small.
  @inline(__always)
  init(_ layout: SlotLayout, _ core: consuming EnvironmentCore, _ scope: ScopeObject) {
    self.core = core
    self.scope = scope
    self.core.set(layout.words <= SlotRoom.words ? room.slots : layout.allocate())
  }

  deinit { releaseMemory() }

  /// The child environment that is current for the running task or synchronous scope; see `withChild`.
  @TaskLocal public static var current: Environment?

  /// The environment in whose asynchronous release the current task takes part.
  @TaskLocal static var releasing: Environment?
}

/// The scope object of a factory's child: the life of the child, which keeps its beans itself.
enum ScopeObject: Sendable {
  case none
  /// The scope determines where beans are released.
  case host(any HostedScope)
  /// The scope has no host, and ends with the child.
  case life(any ChildScope)

  @inline(__always)
  var isNone: Bool { if case .none = self { true } else { false } }
}

extension Environment: ParameterType {
  static var parameter: Parameter { Parameter(Environment.self, element: Environment.self, .part(.environment)) }
}

/// The work of `deinit`, which an extension cannot have. The folder `Runtime` implements it: it knows the meaning of the
/// core's words.
protocol EnvironmentMemory {
  /// Releases the objects and the memory to which the words of the core refer, where no shutdown has released them.
  func releaseMemory()
}
