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
  @inlinable
  public func getBean<T>(_ type: T.Type, byId id: String? = nil) throws -> T {
    if let id {
      if let argument = try fetchKnown(ObjectIdentifier(type), id) { return argument.consume(as: type) }
    } else if let argument = try fetchKnown(ObjectIdentifier(type)) {
      return argument.consume(as: type)
    }
    return try fetch(Dependency.of(type), id: id).consume(as: type)
  }

  /// Lends the bean: it is not released before `body` has returned, even if the environment is finished meanwhile.
  ///
  /// A bean of an environment that is no child of a factory is not even retained: threads that use it at the same time
  /// do not slow each other down. In `body`, `shutdown()` begins the end and does not wait for it.
  ///
  /// - Throws: what `getBean` or `body` throws.
  @inlinable
  public func withBean<T, R>(_ type: T.Type, byId id: String? = nil, _ body: (T) throws -> R) throws -> R {
    let known = ObjectIdentifier(type)
    if let borrowed = try id == nil ? borrowKnown(known) : borrowKnown(known, id ?? "") {
      defer {
        borrowed.argument.release()
        borrowed.giveBack()
      }
      return try borrowed.argument.withBorrowed(as: type, body)
    }
    return try lendSlowly(Dependency.of(type), id) { try body($0.value(as: type)) }
  }

  /// All beans of that type, subclasses and conforming types: those of the nearest environment first, then in order of
  /// definition. Beans whose id a nearer environment has taken are left out. Builds those that do not exist.
  ///
  /// - Throws: as `getBean`; an empty array is no error.
  public func getBeansByType<T>(_ type: T.Type) throws -> [T] { try getBean([T].self) }

  /// The bean for an edge the index knows, with a reference for the caller; nil for what nobody has asked for yet.
  @usableFromInline
  func fetchKnown(_ type: ObjectIdentifier) throws -> Argument? { try fetchKnown { $0.find(type) } }

  @usableFromInline
  func fetchKnown(_ type: ObjectIdentifier, _ id: String) throws -> Argument? { try fetchKnown { $0.find(type, id) } }

  @inline(__always)
  private func fetchKnown(_ find: (EdgeIndex) -> Unmanaged<Edge>?) throws -> Argument? {
    var known: Unmanaged<Edge>?
    if let borrowed = try borrow(find, &known) {
      let argument = borrowed.argument.retained()
      borrowed.giveBack()
      return argument
    }
    return try fetchEntering(known, find)
  }

  /// An edge that was known stays so until the environment has ended.
  @inline(__always)
  private func fetchEntering(
    _ known: Unmanaged<Edge>?, _ find: (EdgeIndex) -> Unmanaged<Edge>?
  ) throws -> Argument? {
    let leads = try enter()
    defer { leave() }
    return try (known ?? edge(find))?._withUnsafeGuaranteedRef { try existing($0) ?? fetch($0, leads: leads) }
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
  func borrowKnown(_ type: ObjectIdentifier) throws -> Borrowed? {
    var known: Unmanaged<Edge>?
    return try borrow({ $0.find(type) }, &known)
  }

  @usableFromInline
  func borrowKnown(_ type: ObjectIdentifier, _ id: String) throws -> Borrowed? {
    var known: Unmanaged<Edge>?
    return try borrow({ $0.find(type, id) }, &known)
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
    if !isOwned, let object { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
    return Argument(object: object, rest: rest | 1)
  }

  /// The value, taking over the caller's reference.
  @inlinable
  func consume<Value>(as type: Value.Type) -> Value {
    if access == .reference, MemoryLayout<Value>.size == MemoryLayout<UnsafeRawPointer?>.size {
      guard let object else { return unsafeBitCast(object, to: Value.self) }
      return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue(), to: Value.self)
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

  /// The value without a reference of its own, where it is one object; somebody else keeps that alive.
  @inlinable
  func withBorrowed<Value, R>(as type: Value.Type, _ body: (Value) throws -> R) rethrows -> R {
    if access == .reference, type is AnyObject.Type, let object {
      return try Unmanaged<AnyObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
        try body(unsafeBitCast($0, to: Value.self))
      }
    }
    return try body(value(as: type))
  }
}
