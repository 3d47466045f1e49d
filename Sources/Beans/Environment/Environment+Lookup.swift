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
    if id == nil, let argument = try fetchKnown(ObjectIdentifier(type)) { return argument.consume(as: type) }
    return try fetch(Dependency.of(type), id: id).consume(as: type)
  }

  /// Lends the bean: it is not released before `body` has returned, even if the environment is finished meanwhile.
  ///
  /// - Throws: what `getBean` or `body` throws.
  public func withBean<T, R>(_ type: T.Type, byId id: String? = nil, _ body: (T) throws -> R) throws -> R {
    let leads = try enter()
    defer {
      used()
      leave()
    }
    return try Frame.with(self, nil, leads: leads) {
      let edge = try plan.edge(for: Dependency.of(type), id: id)
      let argument = try argument(for: edge)
      defer { argument.release() }
      return try body(argument.value(as: type))
    }
  }

  /// All beans of that type, subclasses and conforming types: those of the nearest environment first, then in order of
  /// definition. Beans whose id a nearer environment has taken are left out. Builds those that do not exist.
  ///
  /// - Throws: as `getBean`; an empty array is no error.
  public func getBeansByType<T>(_ type: T.Type) throws -> [T] { try getBean([T].self) }

  /// The bean for an edge the index knows, with a reference for the caller; nil for a type nobody has asked for yet.
  @usableFromInline
  func fetchKnown(_ type: ObjectIdentifier) throws -> Argument? {
    let leads = try enter()
    defer { leave() }
    guard let edge = header.plan._withUnsafeGuaranteedRef({ $0.index.find(type) }) else { return nil }
    return try edge._withUnsafeGuaranteedRef { edge in
      try existing(edge) ?? fetch(edge, leads: leads)
    }
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
    _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
    return Argument(object: object, access: access, isOwned: true)
  }

  private func fetch(_ edge: Edge, leads: Bool) throws -> Argument {
    defer { used() }
    return try Frame.with(self, nil, leads: leads) {
      let argument = try argument(for: edge)
      // The caller leaves the environment, which may be finished then: it needs a reference of its own.
      if !argument.isOwned, let object = argument.object { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
      return Argument(object: argument.object, access: argument.access, isOwned: true)
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
  /// The value, taking over the caller's reference.
  @inlinable
  func consume<Value>(as type: Value.Type) -> Value {
    if access == .reference, MemoryLayout<Value>.size == MemoryLayout<UnsafeRawPointer?>.size {
      guard let object else { return unsafeBitCast(object, to: Value.self) }
      return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue(), to: Value.self)
    }
    let value = Argument.unbox(object, as: type)
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
    return value
  }
}
