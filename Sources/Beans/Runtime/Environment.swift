/// A container. Environments form a tree: a child sees everything its ancestors declare and changes nothing of theirs.
///
/// Declare beans on one thread, then start. After that every lookup is safe from any thread. The container publishes a
/// bean safely to every thread that looks it up; whether a bean may be *used* by several threads is the bean's own
/// contract, so singletons should be `Sendable`.
///
/// End it with `shutdown()`. An environment dropped without that lets go of its beans untold; one that has children, or
/// beans that hold it, is held by them and stays.
public final class Environment: Sendable {
  @usableFromInline let core: EnvironmentCore
  /// Room for the slots of a factory's child that has few; unused elsewhere.
  private let room = SlotRoom()

  @inline(__always)
  init(_ core: consuming EnvironmentCore) { self.core = core }

  /// A factory's child with its slots: in its own room, or beside where there are more.
  @inline(__always)
  init(_ layout: SlotLayout, _ core: consuming EnvironmentCore) {
    self.core = core
    self.core.set(layout.words <= SlotRoom.words ? room.slots : layout.allocate())
  }

  deinit {
    // Nearly always a request that has ended.
    if !core.lifecycle.isReleased { letGoOfBeans() }
    if !core.kind.isDisjoint(with: .withScope) { dropScope() }
    if !core.kind.contains(.plain), core.slots.address != room.slots.address { core.slots.deallocate() }
  }

  /// For reports and errors; the scope's name in the children of factories.
  public var name: String { existingExtras?.resources?.name ?? core.compiledPlan.with { $0.name } }

  /// The environment whose beans this one sees.
  public var parent: Environment? { core.parent?.object }

  /// The child environment that is current for the running task or synchronous scope; see `withChild`.
  @TaskLocal public static var current: Environment?

  /// The environment whose asynchronous release the running task is part of.
  @TaskLocal static var releasing: Environment?
}
