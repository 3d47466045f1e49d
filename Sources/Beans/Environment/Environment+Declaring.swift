import BeansErrors
import BeansReflection

extension Environment {
  /// Declares an existing instance, of a class or a value type. The container wires and releases it like any other
  /// bean.
  ///
  /// A metatype is rejected (`.invalidDeclaration`): a class needs a factory.
  ///
  /// - Parameters:
  ///   - instance: the bean.
  ///   - id: the bean's id, unique in its environment.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  @_disfavoredOverload
  public func bean<T>(
    _ instance: T, id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    var spec = BeanSpec(id: id, location: SourceLocation(file: file, line: line))
    if let type = instance as? Any.Type {
      spec.type = type
      let fault = "\(type) is a type, not an instance: conform to Initializable, or give a factory"
      spec.rare.faults = [(.typeAsInstance, fault)]
    } else {
      let type: Any.Type = Swift.type(of: instance as Any)
      // The type is the instance's own: it fits.
      let isClass = type is AnyObject.Type
      let object = Parameter.object(given: instance, as: type, isClass: isClass) ?? ValueBox<Any>(instance)
      let holder = InstanceHolder(object)
      (spec.type, spec.instance) = (type, holder)
      spec.factory = FactoryFunction(instance: holder, identity: ObjectIdentifier(Swift.type(of: object)))
    }
    return TypedBeanDeclaration<T>(spec, madeBy: ObjectIdentifier(self))
  }

  /// Declares a bean without a factory. `init()` builds the bean if the class is `Initializable`; any other declaration is
  /// valid if it is abstract, or if a template has a factory, and else a fault at startup.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the first lookup builds the bean, instead of startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  public func bean<T>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    var spec = BeanSpec(type, id, parent, lazy, abstract, SourceLocation(file: file, line: line))
    spec.initializer = (type as? any Initializable.Type).map { FactoryFunction(initializing: $0) }
    return TypedBeanDeclaration<T>(spec, madeBy: ObjectIdentifier(self))
  }

  /// Declares a bean by the name of its class. `init()` builds the bean if the class is `Initializable`.
  ///
  /// - Parameters:
  ///   - className: "Module.Class", or a bare name that is unique in the program.
  ///   - id: the bean's id, unique in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the first lookup builds the bean, instead of startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.unknownClass` if no class has the name, or several do.
  public func bean(
    className: String, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> BeanDeclaration {
    let location = SourceLocation(file: file, line: line)
    do {
      let type: AnyClass = try ClassName.find(className)
      var spec = BeanSpec(type, id, parent, lazy, abstract, location)
      spec.initializer = (type as? any Initializable.Type).map { FactoryFunction(initializing: $0) }
      return BeanDeclaration(spec, madeBy: ObjectIdentifier(self))
    } catch let error as EnvironmentError {
      let place = resources?.openDeclarations?.place(location) ?? location
      throw EnvironmentError(
        cause: error.cause, error.message, path: id.map { ["'\($0)'"] } ?? [], origin: place.origin)
    }
  }

  /// Declares a bean of a document that inherits its class and its factory from a template.
  ///
  /// - Parameters:
  ///   - parent: the id of the template from which the bean inherits its class and its factory.
  ///   - id: the bean's id, unique in its environment.
  ///   - lazy: whether the first lookup builds the bean, instead of startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  package func bean(
    parent: String, id: String? = nil, lazy: Bool = false, abstract: Bool = false, file: StaticString = #fileID,
    line: UInt = #line
  ) -> BeanDeclaration {
    let spec = BeanSpec(nil, id, parent, lazy, abstract, SourceLocation(file: file, line: line))
    return BeanDeclaration(spec, madeBy: ObjectIdentifier(self))
  }

  /// Declares an abstract bean without a class.
  ///
  /// - Parameters:
  ///   - id: the id that declarations use as their `parent`.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  public func template(_ id: String, file: StaticString = #fileID, line: UInt = #line) -> BeanDeclaration {
    let spec = BeanSpec(nil, id, nil, false, true, SourceLocation(file: file, line: line))
    return BeanDeclaration(spec, madeBy: ObjectIdentifier(self))
  }

  /// Adds a declaration. Startup reports its faults, together with all others.
  ///
  /// - Throws: `.frozen` once the environment has started; the error of startup once that has failed.
  @inlinable @inline(__always) @discardableResult
  public func define<Declaration: BeanDeclaration>(_ declaration: Declaration) throws -> Self {
    // Not generic: a call would need the class of the declaration, which the runtime has to search for.
    try add(declaration)
  }

  @usableFromInline
  func add(_ declaration: BeanDeclaration) throws -> Self {
    if let receiver = declaration.receiver, receiver != ObjectIdentifier(self) { noteOtherReceiver(of: declaration) }
    try declarations("define", declaration.spec.written, at: declaration.spec.location.origin).define(declaration)
    return self
  }

  @inline(never)
  private func noteOtherReceiver(of declaration: BeanDeclaration) {
    declaration.note(
      fault: "\(declaration.spec.written) is made by another environment than '\(name)', which defines it",
      .otherReceiver)
  }

  // The compiler prefers the form with more constraints, where the type meets them.

  /// Adds a declaration of a bean whose type is statically `Sendable`; the compiler selects this form by itself.
  ///
  /// - Throws: as the form for all declarations.
  @discardableResult
  public func define<T: Sendable>(_ declaration: TypedBeanDeclaration<T>) throws -> Self {
    // Before the declaration is added: until then, the caller holds the only reference to it.
    try add(declaration.ofSendableType())
  }

  /// Includes a module: calls its `configure`, once for this environment, however many modules include it.
  ///
  /// The content of modules distinguishes those of one type: equal ones are included once, different ones each. A
  /// module with stored properties is therefore `Hashable` or `Equatable`; two inclusions of another one are a fault at
  /// startup (`.invalidDeclaration`), unless both are the same instance of a class. A condition of a module
  /// (`include(Payments().profile("production"))`) applies to all of its declarations, but not to calls that take
  /// effect at once: settings, sources, conversions and registered scopes.
  ///
  /// - Parameters:
  ///   - module: the module.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started; the error of the module's `configure`.
  @discardableResult
  public func include(_ module: any BeanModule, file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    try include(module, origin: SourceLocation(file: file, line: line).origin)
  }

  /// Includes a module that a document names, instead of Swift code.
  @discardableResult
  package func include(_ module: any BeanModule, origin: EnvironmentError.Origin) throws -> Self {
    try declarations("include", "module \(type(of: module))", at: origin).include(module, at: .known(origin)) {
      try module.configure(self)
    }
    return self
  }

  /// Adds an alias: another id of a bean. Every parameter that takes an id also takes the alias; reports show the
  /// bean's own id.
  ///
  /// The bean may be declared later, or further out; an alias may refer to another alias. In a module, an alias of a
  /// private bean is private, too. Startup reports the faults of an alias, together with all others: an id that is
  /// taken (`.duplicateId`), an unknown bean (`.unknownBean`), a circle.
  ///
  /// - Parameters:
  ///   - name: the other id.
  ///   - id: the id that the bean has, or another alias.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func alias(_ name: String, of id: String, file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    try alias(name, of: id, origin: SourceLocation(file: file, line: line).origin)
  }

  /// Adds an alias that a document declares.
  @discardableResult
  package func alias(_ name: String, of id: String, origin: EnvironmentError.Origin) throws -> Self {
    try declarations("alias", "'\(name)'", at: origin).alias(name, of: id, at: .known(origin))
    return self
  }

  /// Adds an observer of this environment and those below: of children of its factories, asynchronous creations and
  /// failed releases.
  ///
  /// In a factory's `configure`, the observer observes the children of that factory, and those below. Several observers
  /// are called in the order of their registration, those of outer environments first.
  ///
  /// - Parameters:
  ///   - observer: retained as long as the environment exists.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started; the error of startup once that has failed.
  @discardableResult
  public func addObserver(
    _ observer: any EnvironmentObserver, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    try declarations("addObserver", at: SourceLocation(file: file, line: line).origin).add(observer)
    return self
  }

  /// Sets the clock of schedules, restarts and the idle limits of sessions, here and in the environments below.
  ///
  /// The manual clock of `BeansTesting` also decides the times of cron expressions; with any other clock, those follow
  /// the system's wall clock. The default is the continuous clock of the system.
  ///
  /// - Parameters:
  ///   - clock: the clock.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` in the `configure` of a factory.
  @discardableResult
  public func useClock<C: Clock>(
    _ clock: C, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self where C.Duration == Duration {
    let location = SourceLocation(file: file, line: line)
    try checkDeclaring("useClock", at: location.origin)
    if resources?.isTemplate == true {
      throw EnvironmentError(
        .invalidDeclaration, "the children of '\(name)' follow the clock of the environment around them",
        path: ["'\(name)'"], origin: location.origin)
    }
    resources?.use(EnvironmentClock(clock))
    return self
  }

  // MARK: scopes

  /// Registers a scope for beans of this environment and those below. This environment finishes the scope.
  ///
  /// - Parameters:
  ///   - scope: the scope object, which keeps the instances of its beans.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for the name of a built-in scope, or
  ///   one that is taken here or in an ancestor.
  @discardableResult
  public func registerScope(
    _ scope: any BeanScope, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    try ScopeRegistration(environment: self, scope: scope).register(at: SourceLocation(file: file, line: line))
    return self
  }

  /// Declares the children of one scope.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope, for `.scope("…")` of the children's beans; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from; beans of the child may take it as a parameter.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children. Lookups on its argument throw.
  ///   - makeScope: makes the scope object of each child, such as a `RequestScope` bound to a loop.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a scope that is already open in an
  ///   ancestor; the error of `configure`.
  @discardableResult
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void = { _ in }, scope makeScope: (@Sendable () -> any ChildScope)? = nil
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, isSendable: false, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  /// Declares the children of one scope, with a seed whose type is statically `Sendable`; the compiler selects this
  /// form by itself.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope, for `.scope("…")` of the children's beans; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from; beans of the child may take it as a parameter.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children. Lookups on its argument throw.
  ///   - makeScope: makes the scope object of each child, such as a `RequestScope` bound to a loop.
  /// - Throws: as the form for all seeds.
  @discardableResult
  public func childFactory<Seed: Sendable>(
    _ scope: String, seed: Seed.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void = { _ in }, scope makeScope: (@Sendable () -> any ChildScope)? = nil
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, isSendable: true, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  private func childFactory<Seed>(
    _ scope: String, isSendable: Bool, _ makeScope: (@Sendable () -> any ChildScope)?, at location: SourceLocation,
    _ configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    let declarations = try declarations("childFactory", "'\(scope)'", at: location.origin)
    return try EnvironmentFactory(
      declaring: scope, at: location, in: declarations, of: self, isSendable: isSendable, makeScope
    ) {
      try configure($0)
      // Throws if `configure` has closed the declarations: those that it added would never be compiled.
      try checkDeclaring("childFactory", "'\(scope)'", at: location.origin)
    }
  }
}
