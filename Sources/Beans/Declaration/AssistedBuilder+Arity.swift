// The pack form of `to(factory:)` serves any number of parameters, but walks them in a loop at run time. For the usual
// numbers these forms leave straight code, in which the seed stands where it is needed.

extension AssistedBuilder {
  /// Declares a factory whose products need nothing; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to(factory: @escaping @Sendable () throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([]) { _, _ in try factory() }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A>(factory: @escaping @Sendable (A) throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([Parameter.of(A.self)]) { arguments, seed in
      var arguments = arguments
      return try factory(arguments.take(as: A.self, or: seed))
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B>(factory: @escaping @Sendable (A, B) throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([Parameter.of(A.self), Parameter.of(B.self)]) { arguments, seed in
      var arguments = arguments
      return try factory(arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed))
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C>(factory: @escaping @Sendable (A, B, C) throws -> Element) -> TypedBeanDeclaration<
    Factory<Tag>
  > {
    declare([Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self)]) { arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed), arguments.take(as: C.self, or: seed)
      )
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C, D>(factory: @escaping @Sendable (A, B, C, D) throws -> Element) -> TypedBeanDeclaration<
    Factory<Tag>
  > {
    declare([Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self)]) {
      arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed),
        arguments.take(as: C.self, or: seed), arguments.take(as: D.self, or: seed))
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C, D, E>(
    factory: @escaping @Sendable (A, B, C, D, E) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self), Parameter.of(E.self),
    ]) { arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed),
        arguments.take(as: C.self, or: seed), arguments.take(as: D.self, or: seed), arguments.take(as: E.self, or: seed)
      )
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C, D, E, F>(
    factory: @escaping @Sendable (A, B, C, D, E, F) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self), Parameter.of(E.self),
      Parameter.of(F.self),
    ]) { arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed),
        arguments.take(as: C.self, or: seed), arguments.take(as: D.self, or: seed),
        arguments.take(as: E.self, or: seed), arguments.take(as: F.self, or: seed))
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C, D, E, F, G>(
    factory: @escaping @Sendable (A, B, C, D, E, F, G) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self), Parameter.of(E.self),
      Parameter.of(F.self), Parameter.of(G.self),
    ]) { arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed),
        arguments.take(as: C.self, or: seed), arguments.take(as: D.self, or: seed),
        arguments.take(as: E.self, or: seed), arguments.take(as: F.self, or: seed), arguments.take(as: G.self, or: seed)
      )
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C, D, E, F, G, H>(
    factory: @escaping @Sendable (A, B, C, D, E, F, G, H) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self), Parameter.of(E.self),
      Parameter.of(F.self), Parameter.of(G.self), Parameter.of(H.self),
    ]) { arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed),
        arguments.take(as: C.self, or: seed), arguments.take(as: D.self, or: seed),
        arguments.take(as: E.self, or: seed), arguments.take(as: F.self, or: seed),
        arguments.take(as: G.self, or: seed), arguments.take(as: H.self, or: seed))
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  ///
  /// That one would do for functions; a closure of so many parameters would rather be one that takes a tuple.
  @inlinable @inline(__always)
  public func to<A, B, C, D, E, F, G, H, I, each J>(
    factory: @escaping @Sendable (A, B, C, D, E, F, G, H, I, repeat each J) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    var parameters = [
      Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self), Parameter.of(E.self),
      Parameter.of(F.self), Parameter.of(G.self), Parameter.of(H.self), Parameter.of(I.self),
    ]
    repeat parameters.append(Parameter.of((each J).self))
    return declare(parameters) { arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed),
        arguments.take(as: C.self, or: seed), arguments.take(as: D.self, or: seed),
        arguments.take(as: E.self, or: seed), arguments.take(as: F.self, or: seed),
        arguments.take(as: G.self, or: seed), arguments.take(as: H.self, or: seed),
        arguments.take(as: I.self, or: seed),
        repeat arguments.take(as: (each J).self, or: seed))
    }
  }
}
