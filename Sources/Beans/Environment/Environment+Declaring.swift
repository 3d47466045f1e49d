import BeansReflection
import CBeansRuntime

extension Environment {
  /// Declares a ready instance, class or value. It is wired and released like any other bean.
  ///
  /// A metatype is refused (`.invalidDeclaration`): it is a class that has no factory.
  ///
  /// - Parameters:
  ///   - instance: the bean.
  ///   - id: names the bean, once in its environment.
  ///   - file: where the bean is declared, as errors say it.
  ///   - line: where in the file.
  @_disfavoredOverload
  public func bean<T>(
    _ instance: T, id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    let location = SourceLocation(file: file, line: line)
    if let type = instance as? Any.Type {
      let declaration = TypedBeanDeclaration<T>(type: type, id: id, location: location)
      declaration.note(
        fault: "\(type) is a type, not an instance: conform to Initializable, or give a factory", .typeAsInstance)
      return declaration
    }
    let (type, object) = Self.identify(instance as Any)
    let declaration = TypedBeanDeclaration<T>(type: type, id: id, location: location)
    let holder = InstanceHolder(object)
    return declaration.set {
      $0.instance = holder
      $0.factory = FactoryFunction(instance: holder, identity: ObjectIdentifier(Swift.type(of: object)))
    }
  }

  /// Declares a bean built by `init()`.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: names the bean, once in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the bean is built when it is first asked for, instead of at startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: where the bean is declared, as errors say it.
  ///   - line: where in the file.
  public func bean<T: Initializable>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    let declaration = TypedBeanDeclaration<T>(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract,
      location: SourceLocation(file: file, line: line))
    return declaration.set { $0.initializer = FactoryFunction(initializing: type) }
  }

  /// Declares a class without `init()`: legal when abstract, or when a template gives the factory; else a fault at
  /// startup.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: names the bean, once in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the bean is built when it is first asked for, instead of at startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: where the bean is declared, as errors say it.
  ///   - line: where in the file.
  public func bean<T>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    TypedBeanDeclaration<T>(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract,
      location: SourceLocation(file: file, line: line))
  }

  /// Declares a bean by the name of its class. It is built by `init()` where the class is `Initializable`.
  ///
  /// - Parameters:
  ///   - className: "Module.Class", or a bare name that is unique in the program.
  ///   - id: names the bean, once in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the bean is built when it is first asked for, instead of at startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: where the bean is declared, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.unknownClass` where no class has the name, or several have it.
  public func bean(
    className: String, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> BeanDeclaration {
    let location = SourceLocation(file: file, line: line)
    do {
      let type: AnyClass = try ClassName.find(className)
      let declaration = BeanDeclaration(
        type: type, id: id, parent: parent, lazy: lazy, abstract: abstract, location: location)
      if let type = type as? any Initializable.Type {
        declaration.set { $0.initializer = FactoryFunction(initializing: type) }
      }
      return declaration
    } catch let error as EnvironmentError {
      let place = existingExtras?.resources?.openDeclarations?.place(location) ?? location
      throw EnvironmentError(
        cause: error.cause, error.message, path: id.map { ["'\($0)'"] } ?? [], origin: place.origin)
    }
  }

  /// Declares a bean that has its class and its factory from a template.
  ///
  /// - Parameters:
  ///   - parent: the id of the template that the bean has its class and its factory from.
  ///   - id: names the bean, once in its environment.
  ///   - lazy: whether the bean is built when it is first asked for, instead of at startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: where the bean is declared, as errors say it.
  ///   - line: where in the file.
  public func bean(
    parent: String, id: String? = nil, lazy: Bool = false, abstract: Bool = false, file: StaticString = #fileID,
    line: UInt = #line
  ) -> BeanDeclaration {
    BeanDeclaration(
      type: nil, id: id, parent: parent, lazy: lazy, abstract: abstract,
      location: SourceLocation(file: file, line: line))
  }

  /// An abstract bean without a class.
  ///
  /// - Parameters:
  ///   - id: what declarations name as their parent.
  ///   - file: where it is declared, as errors say it.
  ///   - line: where in the file.
  public func template(_ id: String, file: StaticString = #fileID, line: UInt = #line) -> BeanDeclaration {
    BeanDeclaration(type: nil, id: id, abstract: true, location: SourceLocation(file: file, line: line))
  }

  /// Adds a declaration. What is wrong with it is reported at startup, with all other faults.
  ///
  /// - Throws: `.frozen` once the environment has started; what startup threw once that has failed.
  @_disfavoredOverload @discardableResult
  public func define(_ declaration: BeanDeclaration) throws -> Self {
    try declarations("define", declaration.spec.written, at: declaration.spec.location.origin).define(declaration)
    return self
  }

  // The compiler prefers a form that is not generic, and among the others the one that asks for more.

  /// Adds a declaration of a bean whose type the compiler does not know to be `Sendable`.
  ///
  /// - Throws: as the form for all declarations.
  @inlinable @discardableResult
  public func define<T>(_ declaration: TypedBeanDeclaration<T>) throws -> Self {
    try define(declaration as BeanDeclaration)
  }

  /// Adds a declaration of a bean whose type the compiler knows to be `Sendable`; it chooses this form by itself.
  ///
  /// - Throws: as the form for all declarations.
  @discardableResult
  public func define<T: Sendable>(_ declaration: TypedBeanDeclaration<T>) throws -> Self {
    // Before the declaration is taken: nobody else has what is changed here.
    try define(declaration.ofSendableType() as BeanDeclaration)
  }

  /// Has a module declare what it has: once, however often it is named here, by whichever module.
  ///
  /// Modules of one type are told apart by their content: equal ones are included once, different ones each. A module that stores
  /// anything is `Hashable` or `Equatable` for that; two inclusions of another one are a fault of startup (`.invalidDeclaration`),
  /// unless both are the same instance of a class. A condition of a module (`include(Payments().profile("production"))`) is one of
  /// all that it declares, but for what takes effect at once: settings, sources, conversions and registered scopes.
  ///
  /// - Parameters:
  ///   - module: what declares.
  ///   - file: where the module is included, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.frozen` once the environment has started; what the module's `configure` throws.
  @discardableResult
  public func include(_ module: any BeanModule, file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    try include(module, origin: SourceLocation(file: file, line: line).origin)
  }

  /// Includes a module that is named elsewhere than in Swift.
  @discardableResult
  package func include(_ module: any BeanModule, origin: EnvironmentError.Origin) throws -> Self {
    try declarations("include", "module \(type(of: module))", at: origin).include(module, at: .known(origin)) {
      try module.configure(self)
    }
    return self
  }

  /// Adds a scope that beans of this environment and those below can name. This environment finishes it.
  ///
  /// - Parameters:
  ///   - scope: keeps the instances of the beans that name it.
  ///   - file: where the scope is registered, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a name the container uses itself, or
  ///   one that is taken here or in an ancestor.
  @discardableResult
  public func registerScope(
    _ scope: any BeanScope, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    let scopeName = scope.name
    let written = SourceLocation(file: file, line: line)
    let location = try declarations("registerScope", "'\(scopeName)'", at: written.origin).place(written)
    let isShared = core.kind.contains(.template)
    let fault: String? =
      if isShared {
        "one scope object cannot serve all children of '\(name)': register it further out, or give the factory a scope"
      } else if Lifetime.isBuiltIn(scopeName) {
        "scope '\(scopeName)' is built in and cannot be replaced"
      } else if let known = knownScope(scopeName) {
        "a scope called '\(scopeName)' \(known)"
      } else {
        nil
      }
    if let fault {
      throw EnvironmentError(
        cause: isShared ? .sharedScopeObject : .scopeNameTaken, fault, path: ["'\(scopeName)'"], origin: location.origin
      )
    }
    existingExtras?.resources?.add(scope, scopeName, location)
    return self
  }

  /// How a scope of that name is known, which has been registered here or further out, or is open there.
  private func knownScope(_ scopeName: String) -> String? {
    var next = Optional(self)
    while let environment = next {
      let resources = environment.existingExtras?.resources
      if let registered = resources?.scopes.first(where: { $0.name == scopeName }) {
        return "has already been registered (\(registered.location.origin))"
      }
      if resources == nil, environment.name == scopeName { return "is already open here" }
      next = environment.parent
    }
    return nil
  }

  /// Declares the children of one scope.
  ///
  /// - Parameters:
  ///   - scope: what the children's beans name in `.scope("…")`; once in a chain of ancestors.
  ///   - seed: the type of the value each child is built from, which its beans may take as a parameter.
  ///   - makeScope: makes the scope object of each child, such as a `RequestScope` bound to a loop.
  ///   - file: where the factory is declared, as errors say it.
  ///   - line: where in the file.
  ///   - configure: declares beans that exist in the children alone. Lookups on what it is handed throw.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a scope that is already open in an
  ///   ancestor; what `configure` throws.
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, scope makeScope: (@Sendable () -> any BeanScope)? = nil,
    file: StaticString = #fileID, line: UInt = #line, configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, isSendable: false, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  /// Declares the children of one scope, with a seed that the compiler knows to be `Sendable`; it chooses this form by itself.
  ///
  /// - Parameters:
  ///   - scope: what the children's beans name in `.scope("…")`; once in a chain of ancestors.
  ///   - seed: the type of the value each child is built from, which its beans may take as a parameter.
  ///   - makeScope: makes the scope object of each child, such as a `RequestScope` bound to a loop.
  ///   - file: where the factory is declared, as errors say it.
  ///   - line: where in the file.
  ///   - configure: declares beans that exist in the children alone. Lookups on what it is handed throw.
  /// - Throws: as the form for all seeds.
  public func childFactory<Seed: Sendable>(
    _ scope: String, seed: Seed.Type, scope makeScope: (@Sendable () -> any BeanScope)? = nil,
    file: StaticString = #fileID, line: UInt = #line, configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, isSendable: true, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  private func childFactory<Seed>(
    _ scope: String, isSendable: Bool, _ makeScope: (@Sendable () -> any BeanScope)?, at location: SourceLocation,
    _ configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    func declarations() throws -> EnvironmentDeclarations {
      try self.declarations("childFactory", "'\(scope)'", at: location.origin)
    }
    return try EnvironmentFactory(
      declaring: scope, at: location, in: try declarations(), of: self, isSendable: isSendable, makeScope
    ) {
      try configure($0)
      // What `configure` declared would never be compiled.
      _ = try declarations()
    }
  }

  /// Declares the children of one scope, which have no scope object: a trailing closure is the `configure` one.
  ///
  /// - Parameters:
  ///   - scope: what the children's beans name in `.scope("…")`; once in a chain of ancestors.
  ///   - seed: the type of the value each child is built from, which its beans may take as a parameter.
  ///   - file: where the factory is declared, as errors say it.
  ///   - line: where in the file.
  ///   - configure: declares beans that exist in the children alone. Lookups on what it is handed throw.
  /// - Throws: as the form with a scope object.
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, seed: seed, scope: nil, file: file, line: line, configure: configure)
  }

  /// Declares the children of one scope, which have no scope object, with a seed that the compiler knows to be `Sendable`; it
  /// chooses this form by itself.
  ///
  /// - Parameters:
  ///   - scope: what the children's beans name in `.scope("…")`; once in a chain of ancestors.
  ///   - seed: the type of the value each child is built from, which its beans may take as a parameter.
  ///   - file: where the factory is declared, as errors say it.
  ///   - line: where in the file.
  ///   - configure: declares beans that exist in the children alone. Lookups on what it is handed throw.
  /// - Throws: as the form for all seeds.
  public func childFactory<Seed: Sendable>(
    _ scope: String, seed: Seed.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, seed: seed, scope: nil, file: file, line: line, configure: configure)
  }

  /// What has been declared so far. Throws `.frozen`, or what startup threw; `subject` and `origin` tell what comes too late.
  private func declarations(
    _ what: String, _ subject: @autoclosure () -> String? = nil,
    at origin: @autoclosure () -> EnvironmentError.Origin? = nil
  ) throws -> EnvironmentDeclarations {
    let resources = core.extras?.with { $0.resources }
    if core.lifecycle.phase == .declaring, let declarations = resources?.openDeclarations { return declarations }
    if let failure = resources?.failure { throw failure }
    throw EnvironmentError(
      .frozen,
      "\(what): environment '\(name)' has started, its declarations are closed: declare before startup() and before "
        + "the first lookup", path: ["'\(name)'"] + (subject().map { [$0] } ?? []), origin: origin())
  }

  /// Throws where nothing can be declared any more.
  package func checkDeclaring(
    _ what: String, _ subject: String? = nil, at origin: EnvironmentError.Origin? = nil
  ) throws {
    _ = try declarations(what, subject, at: origin)
  }

  /// The declarations of the nearest environment here or further out that is no child of a factory.
  var nearestDeclarations: EnvironmentDeclarations? {
    let resources = sequence(first: self, next: \.parent).lazy.compactMap(\.existingExtras?.resources).first
    return resources?.knownDeclarations(UInt(beans_thread()))
  }

  /// The name of the module that declares now.
  var declaringModule: String? { existingExtras?.resources?.openDeclarations?.module?.name }

  /// Gives a bean another id. Whatever takes an id takes the alias, too; reports show the bean's own.
  ///
  /// The bean may be declared later, or further out; an alias may name another one. In a module, an alias of what is private
  /// there is private, too. What is wrong with it is reported at
  /// startup, with all other faults: an id that is taken (`.duplicateId`), no such bean (`.unknownBean`), a circle.
  ///
  /// - Parameters:
  ///   - name: the other id.
  ///   - id: the id that the bean has, or another alias.
  ///   - file: where the alias is declared, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func alias(_ name: String, of id: String, file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    try alias(name, of: id, origin: SourceLocation(file: file, line: line).origin)
  }

  /// Gives a bean another id, in a document.
  @discardableResult
  package func alias(_ name: String, of id: String, origin: EnvironmentError.Origin) throws -> Self {
    try declarations("alias", "'\(name)'", at: origin).alias(name, of: id, at: .known(origin))
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
  /// The bean is the `Factory`, not the product: a plain declaration of the product's type may stand beside it. An
  /// environment takes one binding for each tag.
  ///
  /// - Parameters:
  ///   - type: what the factory makes.
  ///   - file: where it is declared, as errors say it.
  ///   - line: where in the file.
  public func bindFactory<Element>(
    _ type: Element.Type, file: StaticString = #fileID, line: UInt = #line
  ) -> AssistedBuilder<Element, EmptySeed<Element>> {
    AssistedBuilder(SourceLocation(file: file, line: line))
  }

  /// The dynamic type of an instance, and what a slot holds for it.
  private static func identify(_ instance: Any) -> (Any.Type, AnyObject) {
    func open<Value>(_ type: Value.Type) -> (Any.Type, AnyObject) {
      if type is AnyObject.Type { return (type, instance as AnyObject) }
      // Always: the type is the instance's own.
      guard let value = instance as? Value else { return (Any.self, ValueBox(instance)) }
      return (type, ValueBox(value))
    }
    let type: Any.Type = type(of: instance)
    return open(type)
  }
}
