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
    let location = SourceLocation(file: file, line: line)
    if let type = instance as? Any.Type {
      let declaration = TypedBeanDeclaration<T>(
        type: type, id: id, location: location, receiver: ObjectIdentifier(self))
      declaration.note(
        fault: "\(type) is a type, not an instance: conform to Initializable, or give a factory", .typeAsInstance)
      return declaration
    }
    let (type, object) = Self.identify(instance as Any)
    let declaration = TypedBeanDeclaration<T>(type: type, id: id, location: location, receiver: ObjectIdentifier(self))
    let holder = InstanceHolder(object)
    let factory = FactoryFunction(instance: holder, identity: ObjectIdentifier(Swift.type(of: object)))
    return declaration.with { ($0.instance, $0.factory) = (holder, factory) }
  }

  /// Declares a bean built by `init()`.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the first lookup builds the bean, instead of startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  public func bean<T: Initializable>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    let declaration = TypedBeanDeclaration<T>(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract,
      location: SourceLocation(file: file, line: line), receiver: ObjectIdentifier(self))
    return declaration.with { $0.initializer = FactoryFunction(initializing: type) }
  }

  /// Declares a class without `init()`: valid if the declaration is abstract, or if a template has a factory; else a
  /// fault at startup.
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
    TypedBeanDeclaration<T>(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract,
      location: SourceLocation(file: file, line: line), receiver: ObjectIdentifier(self))
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
      let declaration = BeanDeclaration(
        type: type, id: id, parent: parent, lazy: lazy, abstract: abstract, location: location,
        receiver: ObjectIdentifier(self))
      if let type = type as? any Initializable.Type {
        declaration.with { $0.initializer = FactoryFunction(initializing: type) }
      }
      return declaration
    } catch let error as EnvironmentError {
      let place = existingExtras?.resources?.openDeclarations?.place(location) ?? location
      throw EnvironmentError(
        cause: error.cause, error.message, path: id.map { ["'\($0)'"] } ?? [], origin: place.origin)
    }
  }

  /// Declares a bean that inherits its class and its factory from a template.
  ///
  /// - Parameters:
  ///   - parent: the id of the template from which the bean inherits its class and its factory.
  ///   - id: the bean's id, unique in its environment.
  ///   - lazy: whether the first lookup builds the bean, instead of startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  public func bean(
    parent: String, id: String? = nil, lazy: Bool = false, abstract: Bool = false, file: StaticString = #fileID,
    line: UInt = #line
  ) -> BeanDeclaration {
    BeanDeclaration(
      type: nil, id: id, parent: parent, lazy: lazy, abstract: abstract,
      location: SourceLocation(file: file, line: line), receiver: ObjectIdentifier(self))
  }

  /// Declares an abstract bean without a class.
  ///
  /// - Parameters:
  ///   - id: the id that declarations use as their `parent`.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  public func template(_ id: String, file: StaticString = #fileID, line: UInt = #line) -> BeanDeclaration {
    BeanDeclaration(
      type: nil, id: id, abstract: true, location: SourceLocation(file: file, line: line),
      receiver: ObjectIdentifier(self))
  }

  /// Adds a declaration. Startup reports its faults, together with all others.
  ///
  /// - Throws: `.frozen` once the environment has started; the error of startup once that has failed.
  @_disfavoredOverload @discardableResult
  public func define(_ declaration: BeanDeclaration) throws -> Self {
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

  // The compiler prefers a form that is not generic, and among generic ones the form with more constraints.

  /// Adds a declaration of a bean whose type is not statically `Sendable`.
  ///
  /// - Throws: as the form for all declarations.
  @inlinable @discardableResult
  public func define<T>(_ declaration: TypedBeanDeclaration<T>) throws -> Self {
    try define(declaration as BeanDeclaration)
  }

  /// Adds a declaration of a bean whose type is statically `Sendable`; the compiler selects this form by itself.
  ///
  /// - Throws: as the form for all declarations.
  @discardableResult
  public func define<T: Sendable>(_ declaration: TypedBeanDeclaration<T>) throws -> Self {
    // Before the declaration is added: until then, the caller holds the only reference to it.
    try define(declaration.ofSendableType() as BeanDeclaration)
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
  /// A `CalendarClock`, such as the manual clock of `BeansTesting`, also decides the times of cron expressions; with
  /// any other clock, those follow the system's wall clock. The default is the continuous clock of the system.
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
    if core.kind.contains(.template) {
      throw EnvironmentError(
        .invalidDeclaration, "the children of '\(name)' follow the clock of the environment around them",
        path: ["'\(name)'"], origin: location.origin)
    }
    existingExtras?.resources?.use(EnvironmentClock(clock))
    return self
  }

  /// Begins the declaration of a factory whose products are built from a seed and from beans.
  ///
  ///     try environment.define(
  ///       environment
  ///         .bindFactory(CustomerDetailViewController.self)
  ///         .with(CustomerDetailViewController.AssistedSeed.self)
  ///         .to { (seed: Assisted<String>, customerService: CustomerService) in
  ///           CustomerDetailViewController(customerID: seed.get(), customerService: customerService)
  ///         })
  ///
  /// The bean is the `Factory`, not the product: the product's type may also have a plain declaration. An environment
  /// takes one binding for each tag.
  ///
  /// - Parameters:
  ///   - type: the type of the products.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  public func bindFactory<Element>(
    _ type: Element.Type, file: StaticString = #fileID, line: UInt = #line
  ) -> AssistedBuilder<Element, EmptySeed<Element>> {
    AssistedBuilder(SourceLocation(file: file, line: line), receiver: ObjectIdentifier(self))
  }

  /// Returns the dynamic type of an instance, and the object that a slot stores for the instance.
  private static func identify(_ instance: Any) -> (Any.Type, AnyObject) {
    func open<Value>(_ type: Value.Type) -> (Any.Type, AnyObject) {
      if type is AnyObject.Type { return (type, instance as AnyObject) }
      // Always succeeds: the type is the instance's own.
      guard let value = instance as? Value else { return (Any.self, ValueBox(instance)) }
      return (type, ValueBox(value))
    }
    let type: Any.Type = type(of: instance)
    return open(type)
  }
}
