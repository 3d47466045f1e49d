public import BeansConfiguration
import Synchronization

/// Builds child environments of one scope from a plan that is compiled once.
///
/// Opening a child costs one allocation, in addition to those of its beans, which are built at first use.
public final class EnvironmentFactory<Seed>: Sendable {
  @usableFromInline let opener: ChildOpening

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
    of environment: Environment?, isSendable: Bool, _ makeScope: (@Sendable () -> any BeanScope)?,
    _ configure: (Environment) throws -> Void
  ) throws {
    let location = outer.place(location)
    let fault: String? =
      if Lifetime.isBuiltIn(scope) {
        "scope '\(scope)' is built in and cannot be a factory's scope"
      } else if let open = outer.opening(of: scope) {
        "scope '\(scope)' is open in an ancestor already, of another factory (\(open.origin))"
      } else {
        nil
      }
    if let fault {
      throw EnvironmentError(cause: .scopeNameTaken, fault, path: ["'\(scope)'"], origin: location.origin)
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
    let home = environment.flatMap { $0.core.kind.contains(.template) ? nil : $0 }
    let opener = ChildOpening(scope, outerName: outer.name, of: home, makeScope)
    let declarations = EnvironmentDeclarations(
      name: scope, opening: (scope, location), configuration: ConfigurationManager(parent: outer.configuration),
      seed: seed, hasScope: makeScope != nil, outer: outer, compiled: { [weak opener] in opener?.settled($0) })
    self.opener = opener
    let template = Environment(configuring: declarations, parent: environment)
    try configure(template)
    template.closeDeclarations()
    outer.add(declarations)
    opener.declared(declarations)
  }

  /// Returns a new child of the environment that declared this factory; for a nested factory, a child of the current
  /// environment that the enclosing factory built. Starts the environment if need be. Safe to call from any thread.
  ///
  /// - Parameters:
  ///   - seed: the value that the child is built from.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.finished` if the parent has been finished; `.scopeNotActive` if no parent is found; the error of the
  ///   parent's startup.
  @inlinable
  public func build(
    _ seed: consuming Seed, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Environment {
    do { return try opener.open(Self.object(for: seed)) } catch {
      throw SourceLocation(file: file, line: line).met(error)
    }
  }

  /// Returns a new child of an environment that the enclosing factory built (a request in its session).
  ///
  /// - Parameters:
  ///   - seed: the value that the child is built from.
  ///   - parent: the parent of the child.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: as `build(_:)`; `.scopeNotActive` if this factory does not build children of `parent`.
  @inlinable
  public func build(
    _ seed: consuming Seed, in parent: Environment, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Environment {
    do { return try opener.open(Self.object(for: seed), in: parent) } catch {
      throw SourceLocation(file: file, line: line).met(error)
    }
  }

  /// Returns the object for the first slot of a child, and transfers the caller's reference if the seed is an object.
  @inlinable @inline(__always)
  static func object(for seed: consuming Seed) -> ObjectReference? {
    if Seed.self is AnyObject.Type { return ObjectReference(instance: seed) }
    return Seed.self == Void.self ? nil : ObjectReference(ValueBox(seed))
  }

  /// Declares the children of this factory's children.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from.
  ///   - makeScope: makes the scope object of each child.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children.
  /// - Throws: as `Environment.childFactory`.
  public func childFactory<S>(
    _ scope: String, seed: S.Type, scope makeScope: (@Sendable () -> any BeanScope)? = nil,
    file: StaticString = #fileID, line: UInt = #line, configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<S> {
    try childFactory(scope, isSendable: false, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  /// Declares the children of this factory's children, with a seed whose type is statically `Sendable`; the compiler
  /// selects this form by itself.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from.
  ///   - makeScope: makes the scope object of each child.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children.
  /// - Throws: as the form for all seeds.
  public func childFactory<S: Sendable>(
    _ scope: String, seed: S.Type, scope makeScope: (@Sendable () -> any BeanScope)? = nil,
    file: StaticString = #fileID, line: UInt = #line, configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<S> {
    try childFactory(scope, isSendable: true, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  private func childFactory<S>(
    _ scope: String, isSendable: Bool, _ makeScope: (@Sendable () -> any BeanScope)?, at location: SourceLocation,
    _ configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<S> {
    try opener.environment?.checkDeclaring("childFactory", "'\(scope)'", at: location.origin)
    return try EnvironmentFactory<S>(
      declaring: scope, at: location, in: try opener.declarations(at: location), of: nil, isSendable: isSendable,
      makeScope, configure)
  }

  /// Declares the children of this factory's children, without scope objects: a trailing closure is `configure`.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children.
  /// - Throws: as `Environment.childFactory`.
  public func childFactory<S>(
    _ scope: String, seed: S.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<S> {
    try childFactory(scope, seed: seed, scope: nil, file: file, line: line, configure: configure)
  }

  /// Declares the children of this factory's children, without scope objects, with a seed whose type is statically
  /// `Sendable`; the compiler selects this form by itself.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children.
  /// - Throws: as the form for all seeds.
  public func childFactory<S: Sendable>(
    _ scope: String, seed: S.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<S> {
    try childFactory(scope, seed: seed, scope: nil, file: file, line: line, configure: configure)
  }

  /// The name of the scope.
  package var scopeName: String { opener.scopeName }

  // MARK: conditions

  /// Activates the factory only if one of the profile expressions holds; see `BeanDeclaration.profile`.
  ///
  /// For an inactive factory, opening a child throws `.scopeNotActive` with the reason, and the declarations for its
  /// children do not exist.
  ///
  /// - Parameters:
  ///   - expressions: names of profiles, combined by `!`, `&`, `|` and parentheses.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func profile(_ expressions: String..., file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    try add(.profile(ProfileCondition(expressions)), at: SourceLocation(file: file, line: line))
  }

  /// Activates the factory only if the configuration meets a condition; see `BeanDeclaration.when`.
  ///
  /// - Parameters:
  ///   - description: the condition in words, for reports and faults.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - condition: returns whether the condition is met; called once, on the thread that starts the environment.
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func when(
    _ description: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ condition: @escaping @Sendable (ConfigurationManager) throws -> Bool
  ) throws -> Self {
    try add(.configuration(description, condition), at: SourceLocation(file: file, line: line))
  }

  /// Activates the factory only if no other bean is of the type, in the environment that declares the factory or
  /// further out; see `BeanDeclaration.whenMissing`.
  ///
  /// - Parameters:
  ///   - type: the type; no other bean may be of it.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func whenMissing(_ type: Any.Type, file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    try add(.missing(type), at: SourceLocation(file: file, line: line))
  }

  private func add(_ condition: BeanCondition, at location: SourceLocation) throws -> Self {
    try opener.declarations(at: location).add(condition, at: location)
    return self
  }

  // MARK: children for the time of a closure

  /// Builds a child, makes it `Environment.current`, runs `body`, and finishes the child, also if `body` throws.
  ///
  /// - Parameters:
  ///   - seed: the value that the child is built from.
  ///   - parent: an environment that the enclosing factory built; without one, the parent is that of `build(_:)`.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - body: runs inside the child.
  /// - Throws: the errors of `build` and of `body`; if both succeed, the failures of releases that ended before this
  ///   returns.
  @inlinable
  public func withChild<R>(
    _ seed: Seed, in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: (Environment) throws -> R
  ) throws -> R {
    try run(Self.object(for: seed), in: parent, SourceLocation(file: file, line: line), body)
  }

  @usableFromInline
  func run<R>(
    _ seed: ObjectReference?, in parent: Environment?, _ location: SourceLocation, _ body: (Environment) throws -> R
  ) throws -> R {
    let child = try open(seed, in: parent, location)
    let result: R
    do {
      result = try Environment.$current.withValue(child) { try body(child) }
    } catch {
      child.finish(failing: error)
      throw error
    }
    child.finish()
    // A scope bound to a loop is not awaited here.
    if child.isReleased { try child.throwFailures() }
    return result
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
  ///   - body: runs inside the child.
  /// - Throws: the errors of `build` and of `body`; if both succeed, the failures of releases.
  @inlinable
  public nonisolated(nonsending) func withChild<R>(
    _ seed: Seed, in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    try await run(Self.object(for: seed), in: parent, SourceLocation(file: file, line: line), body)
  }

  @usableFromInline
  nonisolated(nonsending) func run<R>(
    _ seed: ObjectReference?, in parent: Environment?, _ location: SourceLocation,
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    let child = try open(seed, in: parent, location)
    let result: R
    do {
      result = try await Environment.$current.withValue(child) { try await body(child) }
    } catch {
      child.noteOutcome(failing: error)
      // The error of the body takes precedence; a failed release has been logged.
      try? await child.shutdown()
      throw error
    }
    try await child.shutdown()
    return result
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
    try handle(Self.object(for: seed), in: parent, SourceLocation(file: file, line: line))
  }

  @usableFromInline
  func handle(
    _ seed: ObjectReference?, in parent: Environment?, _ location: SourceLocation
  ) throws -> ChildHandle {
    ChildHandle(try open(seed, in: parent, location), openedAt: location)
  }

  private func open(
    _ seed: ObjectReference?, in parent: Environment?, _ location: SourceLocation
  ) throws -> Environment {
    do { return try parent.map { try opener.open(seed, in: $0) } ?? opener.open(seed) } catch {
      throw location.met(error)
    }
  }
}
