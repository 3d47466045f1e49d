// The pack form of `to(factory:)` serves any number of parameters, but walks them in a loop at run time. For the usual
// numbers these forms leave straight code, in which the seed stands where it is needed.

extension AssistedBuilder {
  /// Declares a factory whose products need nothing; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to(factory: @escaping () throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([]) { _, _ in try factory() }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A>(factory: @escaping (A) throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([Dependency.of(A.self)]) { arguments, seed in
      var arguments = arguments
      return try factory(arguments.take(as: A.self, or: seed))
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B>(factory: @escaping (A, B) throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([Dependency.of(A.self), Dependency.of(B.self)]) { arguments, seed in
      var arguments = arguments
      return try factory(arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed))
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C>(factory: @escaping (A, B, C) throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self)]) { arguments, seed in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self, or: seed), arguments.take(as: B.self, or: seed), arguments.take(as: C.self, or: seed)
      )
    }
  }

  /// Declares a factory of products; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func to<A, B, C, D>(factory: @escaping (A, B, C, D) throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self)]) {
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
    factory: @escaping (A, B, C, D, E) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self), Dependency.of(E.self),
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
    factory: @escaping (A, B, C, D, E, F) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self), Dependency.of(E.self),
      Dependency.of(F.self),
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
    factory: @escaping (A, B, C, D, E, F, G) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self), Dependency.of(E.self),
      Dependency.of(F.self), Dependency.of(G.self),
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
    factory: @escaping (A, B, C, D, E, F, G, H) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare([
      Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self), Dependency.of(E.self),
      Dependency.of(F.self), Dependency.of(G.self), Dependency.of(H.self),
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
    factory: @escaping (A, B, C, D, E, F, G, H, I, repeat each J) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    var dependencies = [
      Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self), Dependency.of(E.self),
      Dependency.of(F.self), Dependency.of(G.self), Dependency.of(H.self), Dependency.of(I.self),
    ]
    repeat dependencies.append(Dependency.of((each J).self))
    return declare(dependencies) { arguments, seed in
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
