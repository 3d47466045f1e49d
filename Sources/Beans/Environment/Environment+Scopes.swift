/// The scopes of an environment: those that users register, and those that factories of children open.
extension Environment {
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
  ///   - makeScope: makes the scope object of each child, such as a `RequestScope` bound to a loop.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children. Lookups on its argument throw.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a scope that is already open in an
  ///   ancestor; the error of `configure`.
  @discardableResult
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, scope makeScope: (@Sendable () -> any ChildScope)? = nil,
    file: StaticString = #fileID, line: UInt = #line, configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, isSendable: false, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  /// Declares the children of one scope, with a seed whose type is statically `Sendable`; the compiler selects this
  /// form by itself.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope, for `.scope("…")` of the children's beans; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from; beans of the child may take it as a parameter.
  ///   - makeScope: makes the scope object of each child, such as a `RequestScope` bound to a loop.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children. Lookups on its argument throw.
  /// - Throws: as the form for all seeds.
  @discardableResult
  public func childFactory<Seed: Sendable>(
    _ scope: String, seed: Seed.Type, scope makeScope: (@Sendable () -> any ChildScope)? = nil,
    file: StaticString = #fileID, line: UInt = #line, configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, isSendable: true, makeScope, at: SourceLocation(file: file, line: line), configure)
  }

  private func childFactory<Seed>(
    _ scope: String, isSendable: Bool, _ makeScope: (@Sendable () -> any ChildScope)?, at location: SourceLocation,
    _ configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    func declarations() throws -> EnvironmentDeclarations {
      try self.declarations("childFactory", "'\(scope)'", at: location.origin)
    }
    return try EnvironmentFactory(
      declaring: scope, at: location, in: try declarations(), of: self, isSendable: isSendable, makeScope
    ) {
      try configure($0)
      // Throws if `configure` has closed the declarations: those that it added would never be compiled.
      _ = try declarations()
    }
  }

  /// Declares the children of one scope, without scope objects: a trailing closure is `configure`.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope, for `.scope("…")` of the children's beans; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from; beans of the child may take it as a parameter.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children. Lookups on its argument throw.
  /// - Throws: as the form with a scope object.
  @discardableResult
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, seed: seed, scope: nil, file: file, line: line, configure: configure)
  }

  /// Declares the children of one scope, without scope objects, with a seed whose type is statically `Sendable`; the
  /// compiler selects this form by itself.
  ///
  /// - Parameters:
  ///   - scope: the name of the scope, for `.scope("…")` of the children's beans; unique in a chain of ancestors.
  ///   - seed: the type of the value that each child is built from; beans of the child may take it as a parameter.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - configure: declares beans that exist only in the children. Lookups on its argument throw.
  /// - Throws: as the form for all seeds.
  @discardableResult
  public func childFactory<Seed: Sendable>(
    _ scope: String, seed: Seed.Type, file: StaticString = #fileID, line: UInt = #line,
    configure: (Environment) throws -> Void
  ) throws -> EnvironmentFactory<Seed> {
    try childFactory(scope, seed: seed, scope: nil, file: file, line: line, configure: configure)
  }
}
