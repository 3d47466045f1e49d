extension Environment {
  /// Declares a ready instance, class or value. It is wired and released like any other bean.
  ///
  /// A metatype is refused (`.invalidDeclaration`): it is a class that has no factory.
  @_disfavoredOverload
  public func bean<T>(
    _ instance: T, id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    if let type = instance as? Any.Type {
      let declaration = TypedBeanDeclaration<T>(type: type, id: id, file: file, line: line)
      declaration.fault = "\(type) is a type, not an instance: conform to Initializable, or give a factory"
      return declaration
    }
    let (type, object) = Self.identify(instance as Any)
    let declaration = TypedBeanDeclaration<T>(type: type, id: id, file: file, line: line)
    declaration.instance = object
    declaration.constructor = BeanConstructor(dependencies: [], identity: ObjectIdentifier(Swift.type(of: object))) {
      [unowned declaration] _ in
      guard let instance = declaration.instance else {
        throw EnvironmentError(.finished, "the instance has been released with its environment")
      }
      return instance
    }
    return declaration
  }

  /// Declares a bean built by `init()`.
  public func bean<T: Initializable>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    let declaration = TypedBeanDeclaration<T>(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract, file: file, line: line)
    declaration.defaultConstructor = BeanConstructor(initializing: type)
    return declaration
  }

  /// Declares a class without `init()`: legal when abstract, or when a template gives the factory; else a fault at
  /// startup.
  public func bean<T>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    TypedBeanDeclaration<T>(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract, file: file, line: line)
  }

  /// Declares a bean built by constructor injection: each parameter of `factory` is resolved by its type.
  ///
  /// A parameter may be a bean's type, a superclass or protocol of it, `T?`, `[T]`, `Provider<T>`, `Environment`, or the
  /// seed of an enclosing factory. `.argument` pins one by its index.
  @_disfavoredOverload
  @inlinable @inline(__always)
  public func bean<T, each D>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping (repeat each D) throws -> T
  ) -> TypedBeanDeclaration<T> {
    var dependencies: [Dependency] = []
    repeat dependencies.append(Dependency.of((each D).self))
    let constructor = BeanConstructor(type, dependencies) { arguments in
      var arguments = arguments
      return try factory(repeat arguments.take(as: (each D).self))
    }
    return declare(type, constructor, id, parent, lazy, abstract, file, line)
  }

  @usableFromInline
  func declare<T>(
    _ type: T.Type, _ constructor: BeanConstructor, _ id: String?, _ parent: String?, _ lazy: Bool, _ abstract: Bool,
    _ file: StaticString, _ line: UInt
  ) -> TypedBeanDeclaration<T> {
    let declaration = TypedBeanDeclaration<T>(
      // Not `type`: that may be a subclass, of which the factory knows nothing.
      type: T.self, id: id, parent: parent, lazy: lazy, abstract: abstract, file: file, line: line)
    declaration.constructor = constructor
    return declaration
  }

  /// Declares a bean by the name of its class: "Module.Class", or a bare name that is unique in the program. It is built
  /// by `init()` where the class is `Initializable`. Costs a search of the program's classes.
  ///
  /// - Throws: `.unknownClass`.
  public func bean(
    className: String, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> BeanDeclaration {
    let origin = EnvironmentError.Origin(file: "\(file)", line: Int(line))
    do {
      let type: AnyClass = try ClassName.find(className)
      let declaration = BeanDeclaration(
        type: type, id: id, parent: parent, lazy: lazy, abstract: abstract, origin: origin)
      declaration.defaultConstructor = (type as? any Initializable.Type).map { BeanConstructor(initializing: $0) }
      return declaration
    } catch let error as EnvironmentError {
      throw EnvironmentError(error.code, error.message, path: id.map { ["'\($0)'"] } ?? [], origin: origin)
    }
  }

  /// Declares a bean that has its class and its factory from a template.
  public func bean(
    parent: String, id: String? = nil, lazy: Bool = false, abstract: Bool = false, file: StaticString = #fileID,
    line: UInt = #line
  ) -> BeanDeclaration {
    BeanDeclaration(type: nil, id: id, parent: parent, lazy: lazy, abstract: abstract, file: file, line: line)
  }

  /// An abstract bean without a class.
  public func template(_ id: String, file: StaticString = #fileID, line: UInt = #line) -> BeanDeclaration {
    BeanDeclaration(type: nil, id: id, abstract: true, file: file, line: line)
  }

  /// Adds a declaration. What is wrong with it is reported at startup, with all other faults.
  ///
  /// - Throws: `.frozen` once the environment has started; what startup threw once that has failed.
  @discardableResult
  public func define(_ declaration: BeanDeclaration) throws -> Self {
    try checkDeclaring("define", declaration.written, at: declaration.origin)
    if declaration.isDefined {
      declaration.fault = declaration.fault ?? "the same declaration is defined twice: make one for each bean"
      // One fault for both.
      if plan.declarations.contains(where: { $0 === declaration }) { return self }
    }
    declaration.isDefined = true
    plan.declarations.append(declaration)
    return self
  }

  /// Adds a scope that beans of this environment and those below can name. This environment finishes it.
  ///
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a name the container uses itself, or
  ///   one that is taken here or in an ancestor.
  @discardableResult
  public func registerScope(_ scope: any BeanScope) throws -> Self {
    try checkDeclaring("registerScope")
    if header.setup?.isTemplate == true {
      throw EnvironmentError(
        .invalidDeclaration,
        "one scope object cannot serve all children of '\(name)': register it further out, or give "
          + "the factory a scope", path: ["'\(scope.name)'"])
    }
    if scope.name == "singleton" || scope.name == "prototype" {
      throw EnvironmentError(
        .invalidDeclaration, "scope '\(scope.name)' is built in and cannot be replaced", path: ["'\(scope.name)'"])
    }
    if plan.chain.contains(where: { plan, _ in
      plan.scopeName == scope.name || plan.scopes.contains { $0.name == scope.name }
    }) {
      throw EnvironmentError(
        .invalidDeclaration, "a scope called '\(scope.name)' is there already", path: ["'\(scope.name)'"])
    }
    plan.scopes.append(Plan.NamedScope(name: scope.name, scope: scope))
    return self
  }

  /// Declares the children of one scope.
  ///
  /// - Parameters:
  ///   - scope: what the children's beans name in `.scope("…")`; once in a chain of ancestors.
  ///   - seed: the type of the value each child is built from, which its beans may take as a parameter.
  ///   - makeScope: makes the scope object of each child, such as a `RequestScope` bound to a loop.
  ///   - configure: declares beans that exist in the children alone. Lookups on what it is handed throw.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a scope that is already open in an
  ///   ancestor; what `configure` throws.
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, scope makeScope: (@Sendable () -> any BeanScope)? = nil,
    configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Seed> {
    try checkDeclaring("childFactory")
    return try EnvironmentFactory(
      declaring: scope, in: plan, of: header.setup?.isTemplate == true ? nil : self, makeScope
    ) {
      try configure($0)
      // What `configure` declared would never be compiled.
      try checkDeclaring("childFactory")
    }
  }

  /// The same without a scope object, so that a trailing closure is the `configure` one.
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, seed: seed, scope: nil, configure: configure)
  }

  /// Throws `.frozen`, or what startup threw. `subject` and `origin` tell what comes too late.
  package func checkDeclaring(
    _ what: String, _ subject: @autoclosure () -> String? = nil,
    at origin: @autoclosure () -> EnvironmentError.Origin? = nil
  ) throws {
    let isDeclaring = sideReference?._withUnsafeGuaranteedRef { $0.setup?.isDeclaring } == true
    guard isDeclaring, !isFinishing else {
      // The end before any startup is no failure of the declarations.
      if let failure = header.setup?.failure, (failure as? EnvironmentError)?.code != .finished { throw failure }
      throw EnvironmentError(
        .frozen,
        "\(what): environment '\(name)' has started, its declarations are closed: declare before startup() and before "
          + "the first lookup", path: ["'\(name)'"] + (subject().map { [$0] } ?? []), origin: origin())
    }
  }

  /// The dynamic type of an instance, and what a slot holds for it.
  private static func identify(_ instance: Any) -> (Any.Type, AnyObject) {
    func open<Value>(_ type: Value.Type) -> (Any.Type, AnyObject) {
      if type is AnyObject.Type { return (type, instance as AnyObject) }
      // Always: the type is the instance's own.
      guard let value = instance as? Value else { return (Any.self, ValueBox(instance)) }
      return (type, ValueBox(value))
    }
    return _openExistential(type(of: instance), do: open)
  }
}
