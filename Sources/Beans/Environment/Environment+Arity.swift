// The pack form of `bean(_:factory:)` serves any number of parameters, but walks them in a loop at run time, through each
// type's metadata. For the usual numbers these forms leave straight code: a load and a retain per parameter.

extension Environment {
  /// Declares a bean built by a factory without parameters; see the form for any number of them.
  @inlinable @inline(__always)
  public func bean<T>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping () throws -> T
  ) -> TypedBeanDeclaration<T> {
    declare(type, BeanConstructor(type, []) { _ in try factory() }, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(type, Dependency.of(A.self).alone) { arguments in
      var arguments = arguments
      return try factory(arguments.take(as: A.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A, B) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(type, [Dependency.of(A.self), Dependency.of(B.self)]) { arguments in
      var arguments = arguments
      return try factory(arguments.take(as: A.self), arguments.take(as: B.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A, B, C) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(type, [Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self)]) {
      arguments in
      var arguments = arguments
      return try factory(arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A, B, C, D) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(
      type, [Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self)]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A, B, C, D, E) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(
      type,
      [
        Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self),
        Dependency.of(E.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A, B, C, D, E, F) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(
      type,
      [
        Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self),
        Dependency.of(E.self), Dependency.of(F.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F, G>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A, B, C, D, E, F, G) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(
      type,
      [
        Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self),
        Dependency.of(E.self), Dependency.of(F.self), Dependency.of(G.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self), arguments.take(as: G.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F, G, H>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (A, B, C, D, E, F, G, H) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let constructor = BeanConstructor(
      type,
      [
        Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self),
        Dependency.of(E.self), Dependency.of(F.self), Dependency.of(G.self), Dependency.of(H.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self), arguments.take(as: G.self), arguments.take(as: H.self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  ///
  /// That one would do for functions; a closure of so many parameters would rather be one that takes a tuple.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F, G, H, I, each J>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping (A, B, C, D, E, F, G, H, I, repeat each J) throws -> T
  ) -> TypedBeanDeclaration<T> {
    var dependencies = [
      Dependency.of(A.self), Dependency.of(B.self), Dependency.of(C.self), Dependency.of(D.self), Dependency.of(E.self),
      Dependency.of(F.self), Dependency.of(G.self), Dependency.of(H.self), Dependency.of(I.self),
    ]
    repeat dependencies.append(Dependency.of((each J).self))
    let constructor = BeanConstructor(type, dependencies) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self), arguments.take(as: G.self), arguments.take(as: H.self),
        arguments.take(as: I.self),
        repeat arguments.take(as: (each J).self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }
}
