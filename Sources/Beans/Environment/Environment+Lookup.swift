extension Environment {
  /// The bean of that type, or of that type and id.
  ///
  /// `T` may be a bean's type, a superclass or a protocol of it, `T?` (nil when there is none), `[T]`, `Provider<T>`,
  /// `Environment`, or the seed of an enclosing factory. The first call starts the environment.
  ///
  /// A bean that exists costs one probe of the plan's index and one atomic load; from any thread. One that does not is
  /// built by one thread while others that want it wait. The container publishes the bean safely; whether several
  /// threads may *use* it is the bean's own contract.
  ///
  /// - Throws: `.unknownBean`, `.ambiguousBean`, `.typeMismatch`, `.scopeNotActive`, `.finished`; what startup throws;
  ///   `.creationFailed` with what a factory threw in `underlying`; `.cyclicDependency` for a circle that only dynamic
  ///   lookups close.
  @inlinable @inline(__always)
  public func getBean<T>(_ type: T.Type, byId id: String? = nil) throws -> T {
    let known = ObjectIdentifier(type)
    let argument = if let id { try fetchKnown(known, id) } else { try fetchKnown(known) }
    // Nearly always.
    if MemoryLayout<T>.size == MemoryLayout<UnsafeRawPointer?>.size {
      if argument.isOwnedReference { return argument.takeReference(as: type) }
    } else if argument.form != nil {
      return argument.consume(as: type)
    }
    return try get(argument, type, id)
  }

  /// Everything else.
  @inlinable @inline(never)
  func get<T>(_ argument: Argument, _ type: T.Type, _ id: String?) throws -> T {
    try (argument.isKnown ? argument : fetch(Dependency.of(type), id: id)).consume(as: type)
  }

  /// Lends the bean: it is not released before `body` has returned, even if the environment is finished meanwhile.
  ///
  /// A bean of an environment that is no child of a factory is not even retained: threads that use it at the same time
  /// do not slow each other down. In `body`, `shutdown()` begins the end and does not wait for it.
  ///
  /// - Throws: what `getBean` or `body` throws.
  @inlinable @inline(__always)
  public func withBean<T, R>(_ type: T.Type, byId id: String? = nil, _ body: (T) throws -> R) throws -> R {
    let known = ObjectIdentifier(type)
    // A class reference, which an optional one is no different from.
    if id == nil, MemoryLayout<T>.size == MemoryLayout<UnsafeRawPointer?>.size,
      let (object, note) = lendAtOnce(known)
    {
      defer { note.giveBack() }
      return try Unmanaged<AnyObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
        try body(unsafeBitCast($0, to: T.self))
      }
    }
    let borrowed = if let id { try borrowKnown(known, id) } else { try borrowKnown(known) }
    return try lend(borrowed, type, id, body)
  }

  /// Everything else.
  @inlinable @inline(never)
  func lend<T, R>(_ borrowed: Borrowed, _ type: T.Type, _ id: String?, _ body: (T) throws -> R) throws -> R {
    guard borrowed.argument.isKnown else {
      return try lendSlowly(Dependency.of(type), id) { try body($0.value(as: type)) }
    }
    defer {
      borrowed.argument.release()
      borrowed.note?.giveBack()
    }
    return try body(borrowed.argument.value(as: type))
  }

  /// All beans of that type, subclasses and conforming types: those of the nearest environment first, then in order of
  /// definition. Beans whose id a nearer environment has taken are left out. Builds those that do not exist.
  ///
  /// - Throws: as `getBean`; an empty array is no error.
  public func getBeansByType<T>(_ type: T.Type) throws -> [T] { try getBean([T].self) }

  /// The bean for an edge the index knows, with a reference for the caller; unknown if nobody has asked for it yet.
  @usableFromInline
  func fetchKnown(_ type: ObjectIdentifier) throws -> Argument {
    // The index is held by the plan, the plan by this environment or its ancestors, and none of these by what may end.
    guard let place = header.plan._withUnsafeGuaranteedRef({ $0.index.find(type) }) else { return .unknown }
    if let own = place.pointee.ownSlot { return try fetchOwn(own) }
    var known: UnsafeMutablePointer<EdgeIndex.Place>?
    let borrowed = try borrow(&known) { _ in place }
    return borrowed.argument.isKnown ? borrowed.kept() : try fetchEntering(place) { _ in place }
  }

  @usableFromInline
  func fetchKnown(_ type: ObjectIdentifier, _ id: String) throws -> Argument {
    var place: UnsafeMutablePointer<EdgeIndex.Place>?
    let borrowed = try borrow(&place) { $0.find(type, id) }
    // Not one closure for both: it would hold the id.
    return borrowed.argument.isKnown ? borrowed.kept() : try fetchEntering(place) { $0.find(type, id) }
  }

  /// The bean of a slot of this environment, a factory's child.
  @inline(never)
  private func fetchOwn(_ own: EdgeIndex.OwnSlot) throws -> Argument {
    let leads = try enter()
    let object: UnsafeRawPointer
    if let standing = tail[own.index].object {
      _ = Unmanaged<AnyObject>.fromOpaque(standing).retain()
      object = standing
    } else {
      do { object = try build(own.index, leads: leads, wanted: true) } catch { throw left(error) }
    }
    used()
    leave()
    return Argument(object: object, rest: own.rest)
  }

  @inline(never)
  private func left(_ error: any Error) -> any Error {
    used()
    leave()
    return error
  }

  /// The ordinary way. An edge that was known stays so until the environment has ended.
  @inline(never)
  private func fetchEntering(
    _ known: UnsafeMutablePointer<EdgeIndex.Place>?,
    _ find: (borrowing EdgeIndex) -> UnsafeMutablePointer<EdgeIndex.Place>?
  ) throws -> Argument {
    let leads = try enter()
    defer { leave() }
    guard let place = known ?? header.plan._withUnsafeGuaranteedRef({ find($0.index) }) else {
      return .unknown
    }
    return try place.pointee.edge._withUnsafeGuaranteedRef { try existing($0) ?? fetch($0, leads: leads) }
  }

  @usableFromInline
  func fetch(_ dependency: Dependency, id: String?) throws -> Argument {
    let leads = try enter()
    defer { leave() }
    return try fetch(plan.edge(for: dependency, id: id), leads: leads)
  }

  /// A bean that stands in its slot and needs no conversion.
  @inline(__always)
  private func existing(_ edge: Edge) -> Argument? {
    guard let access = edge.direct, edge.slot >= 0 else { return nil }
    let slots = ancestor(edge.hops)._withUnsafeGuaranteedRef { $0.slots }
    guard let object = slots[edge.slot].object else { return nil }
    used()
    return Argument(object: object, access: access, isOwned: false).retained()
  }

  private func fetch(_ edge: Edge, leads: Bool) throws -> Argument {
    defer { used() }
    if edge.hops == 0, edge.slot >= 0, let access = edge.direct {
      if let object = slots[edge.slot].object {
        return Argument(object: object, access: access, isOwned: false).retained()
      }
      return Argument(object: try build(edge.slot, leads: leads, wanted: true), access: access, isOwned: true)
    }
    // The caller leaves the environment, which may be finished then: it needs a reference of its own.
    return try Frame.with(self, nil, leads: leads) { try argument(for: edge).retained() }
  }

  // Not closures that are handed down: those would be called through unspecialised functions of this module.
  @usableFromInline
  func borrowKnown(_ type: ObjectIdentifier) throws -> Borrowed {
    var known: UnsafeMutablePointer<EdgeIndex.Place>?
    return try borrow(&known) { $0.find(type) }
  }

  @usableFromInline
  func borrowKnown(_ type: ObjectIdentifier, _ id: String) throws -> Borrowed {
    var known: UnsafeMutablePointer<EdgeIndex.Place>?
    return try borrow(&known) { $0.find(type, id) }
  }

  @usableFromInline
  func lendSlowly<R>(_ dependency: Dependency, _ id: String?, _ body: (Argument) throws -> R) throws -> R {
    let leads = try enter()
    defer {
      used()
      leave()
    }
    return try Frame.with(self, nil, leads: leads) {
      let argument = try argument(for: plan.edge(for: dependency, id: id))
      defer { argument.release() }
      return try body(argument)
    }
  }

  /// Tells a hosted scope that somebody is still interested.
  @inline(__always)
  func used() {
    if isHosted { tellHost() }
  }

  @inline(never)
  private func tellHost() {
    scope.host?.used()
  }
}

extension Argument {
  /// The same with a reference of its own.
  @inline(__always)
  func retained() -> Argument {
    guard let object else { return self }
    if !isOwned { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
    return Argument(object: object, rest: rest | 1)
  }

  /// The value of an owned reference, taking that over.
  @inlinable @inline(__always)
  func takeReference<Value>(as type: Value.Type) -> Value {
    // Who owns a reference has an object.
    unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(object.unsafelyUnwrapped).takeRetainedValue(), to: Value.self)
  }

  /// The value, taking over the caller's reference.
  @inlinable
  func consume<Value>(as type: Value.Type) -> Value {
    if access == .reference, MemoryLayout<Value>.size == MemoryLayout<UnsafeRawPointer?>.size {
      return isOwned ? takeReference(as: type) : unsafeBitCast(object, to: Value.self)
    }
    if let form {
      // An existential has its object.
      let object = object.unsafelyUnwrapped
      return form._withUnsafeGuaranteedRef { $0.value(object, as: type) }
    }
    let value = Argument.unbox(object, as: type)
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
    return value
  }
}
