import BeansConfiguration
import Synchronization

/// Builds child environments of one scope from a plan that is compiled once.
///
/// Opening a child costs one allocation, in addition to those of its beans, which are built at first use. The factory is
/// a bean of the environment that declares it: a bean that opens children takes it as a parameter.
public final class EnvironmentFactory<Seed>: FactoryOfChildren, Sendable {
  @usableFromInline let opener: ChildOpening
  /// The environment in which children open; nil for a factory nested in another one, whose children open in the current
  /// child of that factory.
  private let home: Environment?

  /// - Parameters:
  ///   - scope: the name of the scope.
  ///   - location: the place of the factory's declaration.
  ///   - outer: the declarations of the environment that declares the factory.
  ///   - environment: the environment that declares the factory: a template for the children of another factory.
  ///   - isSendable: whether the seed is statically `Sendable`.
  ///   - makeScope: makes the scope object of each child.
  ///   - configure: declares beans of the children.
  init(
    declaring scope: String, at location: SourceLocation, in outer: EnvironmentDeclarations,
    of environment: Environment?, isSendable: Bool, _ makeScope: (@Sendable () -> any ChildScope)?,
    _ configure: (Environment) throws -> Void
  ) throws {
    let location = outer.place(location)
    func taken(_ message: String) -> EnvironmentError {
      EnvironmentError(cause: .scopeNameTaken, message, path: ["'\(scope)'"], origin: location.origin)
    }
    if Lifetime.isBuiltIn(scope) { throw taken("scope '\(scope)' is built in and cannot be a factory's scope") }
    if let open = outer.opening(of: scope) {
      throw taken("scope '\(scope)' is open in an ancestor already, of another factory (\(open.origin))")
    }
    var seed: FrozenSpec?
    if Seed.self != Void.self {
      let identity = Seed.self is AnyObject.Type ? ObjectIdentifier(Seed.self) : ObjectIdentifier(ValueBox<Seed>.self)
      // Never called: opening the environment fills the slot.
      let factory = FactoryFunction(parameters: [], identity: identity) { _ in
        throw EnvironmentError(.scopeNotActive, "the seed of '\(scope)' is missing")
      }
      seed = FrozenSpec(BeanSpec(type: Seed.self, isSendable: isSendable, location: location, factory: factory))
    }
    let isNested = outer.opening != nil
    let home: Environment? = if isNested { nil } else { environment }
    let opener = ChildOpening(scope, outerName: outer.name, of: home.map { Unretained($0) }, makeScope)
    let declarations = EnvironmentDeclarations(
      name: scope, opening: location, configuration: ConfigurationManager(parent: outer.configuration),
      seed: seed, hasScope: makeScope != nil, outer: outer, compiled: { [weak opener] in opener?.settled($0) })
    self.opener = opener
    self.home = home
    let template = Environment(declarations, parent: environment, CallPlace(file: "", line: 0))
    try declarations.whileConfiguring { try configure(template) }
    template.resources?.end(nil)
    opener.declared(declarations)
    // The bean is an object of its own: this one retains the environment, which retains the bean's declaration.
    let function = FactoryFunction(EnvironmentFactory<Seed>.self, [Parameter.of(Environment.self)]) { arguments in
      let home = arguments.take(as: Environment.self)
      return EnvironmentFactory(opener, of: isNested ? nil : home)
    }
    outer.add(
      declarations, identity,
      as: BeanDeclaration(
        BeanSpec(
          type: EnvironmentFactory<Seed>.self, isLazy: true, isSendable: true, location: location, factory: function)))
  }

  private init(_ opener: ChildOpening, of home: Environment?) { (self.opener, self.home) = (opener, home) }

  var identity: ObjectIdentifier { ObjectIdentifier(opener) }

  /// Returns a new child of the environment that declared this factory. The parent of a nested factory's child is an
  /// environment that the enclosing factory built (a session for its requests): the given one, or the current one.
  ///
  /// Starts the environment if need be. Safe to call from any thread.
  ///
  /// - Parameters:
  ///   - seed: the value that the child is built from; `()` where there is none.
  ///   - parent: the parent of the child.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.finished` if the parent has been finished; `.scopeNotActive` if no parent is found, or if this factory
  ///   does not build children of `parent`; the error of the parent's startup.
  @inlinable
  public func build(
    _ seed: consuming Seed, in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Environment {
    try child(seed, in: parent, file, line, for: .none)
  }

  /// Opens a child; inlined into the caller, where the place is known.
  @inlinable @inline(__always)
  func child(
    _ seed: consuming Seed, in parent: Environment?, _ file: StaticString, _ line: UInt, for owner: OutcomeOwner
  ) throws -> Environment {
    // Until the child retains the environment, this factory does.
    defer { withExtendedLifetime(self) {} }
    return try opener.open(Self.object(for: seed), in: parent, at: CallPlace(file: file, line: line), for: owner)
  }

  /// Returns the object for the first slot of a child, and transfers the caller's reference if the seed is an object.
  @inlinable @inline(__always)
  static func object(for seed: consuming Seed) -> ObjectReference? {
    if Seed.self is AnyObject.Type { return ObjectReference(instance: seed) }
    return if Seed.self == Void.self { nil } else { ObjectReference(ValueBox(seed)) }
  }

  /// Declares the children of this factory's children.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children.
  ///   - makeScope: makes the scope object of each child.
  /// - Throws: as `Environment.childFactory`.
  @discardableResult
  public func childFactory<S>(
    _ scope: String, seed: S.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void = { _ in }, scope makeScope: (@Sendable () -> any ChildScope)? = nil
  ) throws -> EnvironmentFactory<S> {
    try childFactory(scope, isSendable: false, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  /// Declares the children of this factory's children, with a seed whose type is statically `Sendable`; the compiler
  /// selects this form by itself.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children.
  ///   - makeScope: makes the scope object of each child.
  /// - Throws: as the form for all seeds.
  @discardableResult
  public func childFactory<S: Sendable>(
    _ scope: String, seed: S.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void = { _ in }, scope makeScope: (@Sendable () -> any ChildScope)? = nil
  ) throws -> EnvironmentFactory<S> {
    try childFactory(scope, isSendable: true, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  private func childFactory<S>(
    _ scope: String, isSendable: Bool, _ makeScope: (@Sendable () -> any ChildScope)?, at location: SourceLocation,
    _ configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<S> {
    try home?.checkDeclaring("childFactory", "'\(scope)'", at: location.origin)
    return try EnvironmentFactory<S>(
      declaring: scope, at: location, in: try opener.declarations(at: location), of: nil, isSendable: isSendable,
      makeScope, configure)
  }

  /// The clock of the environment in which children open.
  package var clock: EnvironmentClock { (home ?? Environment.current)?.clock ?? .system }

  /// The name of the scope.
  package var scopeName: String { opener.scopeName }

  // MARK: children for the time of a closure

  /// Builds a child, makes it `Environment.current`, runs `body`, and finishes the child, also if `body` throws. Returns
  /// once everything is released: a scope bound to a loop releases there, and in place on the loop's own thread.
  ///
  /// In asynchronous code the compiler selects the asynchronous form. This form cannot await: where a bean of the child has
  /// an asynchronous release, the child fails, and a task releases the bean.
  ///
  /// - Parameters:
  ///   - seed: the value that the child is built from.
  ///   - parent: an environment that the enclosing factory built; without one, the parent is that of `build(_:)`.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - body: runs inside the child, and keeps its beans: an end from outside ends lookups at once, and releases after
  ///     `body`.
  /// - Throws: the errors of `build` and of `body`; if both succeed, the failures of releases; `.finished` if an end that
  ///   could not wait for `body` has failed the child, such as a deadline.
  @inlinable @_disfavoredOverload
  public func withChild<R>(
    _ seed: Seed, in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: (Environment) throws -> R
  ) throws -> R {
    try child(seed, in: parent, file, line, for: .body).end(as: .body, after: body)
  }

  /// Builds a child, makes it `Environment.current` for the task and its child tasks, runs `body`, and finishes the
  /// child, also if `body` throws or is cancelled. Returns once everything is released; awaits asynchronous releases.
  ///
  /// `body` runs on the caller's actor, and may use its state.
  ///
  /// - Parameters:
  ///   - seed: the value that the child is built from.
  ///   - parent: an environment that the enclosing factory built; without one, the parent is that of `build(_:)`.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - body: runs inside the child, and keeps its beans: an end from outside ends lookups at once, and releases after
  ///     `body`.
  /// - Throws: the errors of `build` and of `body`; if both succeed, the failures of releases; `.finished` if an end that
  ///   could not wait for `body` has failed the child, such as a deadline.
  @inlinable
  public nonisolated(nonsending) func withChild<R>(
    _ seed: Seed, in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    try await child(seed, in: parent, file, line, for: .body).end(as: .body, after: body)
  }

  /// Builds a child that outlives this call, such as a request whose response is written later. The handle ends the
  /// child.
  ///
  /// - Parameters:
  ///   - seed: the value that the child is built from.
  ///   - parent: an environment that the enclosing factory built; without one, the parent is that of `build(_:)`.
  ///   - file: the source file of the call, for error messages and for the log of a dropped handle.
  ///   - line: the line of the call.
  /// - Throws: the errors of `build`.
  @inlinable
  public func open(
    _ seed: Seed, in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws -> ChildHandle {
    ChildHandle(try child(seed, in: parent, file, line, for: .handle))
  }
}
