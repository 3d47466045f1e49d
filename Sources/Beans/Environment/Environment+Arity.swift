// The pack form of `bean(_:factory:)` serves any number of parameters, but walks them in a loop at run time, through each
// type's metadata. For the usual numbers these forms leave straight code: a load and a retain per parameter.

extension Environment {
  /// Declares a bean built by a factory without parameters; see the form for any number of them.
  @inlinable @inline(__always)
  public func bean<T>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable () throws -> T
  ) -> TypedBeanDeclaration<T> {
    declare(type, FactoryFunction(type, []) { _ in try factory() }, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(type, [Parameter.of(A.self)]) { arguments in
      var arguments = arguments
      return try factory(arguments.take(as: A.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A, B) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(type, [Parameter.of(A.self), Parameter.of(B.self)]) { arguments in
      var arguments = arguments
      return try factory(arguments.take(as: A.self), arguments.take(as: B.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A, B, C) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(type, [Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self)]) {
      arguments in
      var arguments = arguments
      return try factory(arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A, B, C, D) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(
      type, [Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self)]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A, B, C, D, E) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(
      type,
      [
        Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self),
        Parameter.of(E.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A, B, C, D, E, F) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(
      type,
      [
        Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self),
        Parameter.of(E.self), Parameter.of(F.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F, G>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A, B, C, D, E, F, G) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(
      type,
      [
        Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self),
        Parameter.of(E.self), Parameter.of(F.self), Parameter.of(G.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self), arguments.take(as: G.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F, G, H>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (A, B, C, D, E, F, G, H) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(
      type,
      [
        Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self),
        Parameter.of(E.self), Parameter.of(F.self), Parameter.of(G.self), Parameter.of(H.self),
      ]
    ) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self), arguments.take(as: G.self), arguments.take(as: H.self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }

  /// Declares a bean built by constructor injection; see the form for any number of parameters.
  ///
  /// That one would do for functions; a closure of so many parameters would rather be one that takes a tuple.
  @inlinable @inline(__always)
  public func bean<T, A, B, C, D, E, F, G, H, I, each J>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (A, B, C, D, E, F, G, H, I, repeat each J) throws -> T
  ) -> TypedBeanDeclaration<T> {
    var parameters = [
      Parameter.of(A.self), Parameter.of(B.self), Parameter.of(C.self), Parameter.of(D.self), Parameter.of(E.self),
      Parameter.of(F.self), Parameter.of(G.self), Parameter.of(H.self), Parameter.of(I.self),
    ]
    repeat parameters.append(Parameter.of((each J).self))
    let function = FactoryFunction(type, parameters) { arguments in
      var arguments = arguments
      return try factory(
        arguments.take(as: A.self), arguments.take(as: B.self), arguments.take(as: C.self), arguments.take(as: D.self),
        arguments.take(as: E.self), arguments.take(as: F.self), arguments.take(as: G.self), arguments.take(as: H.self),
        arguments.take(as: I.self),
        repeat arguments.take(as: (each J).self))
    }
    return declare(type, function, id, parent, lazy, abstract, file, line)
  }
}
