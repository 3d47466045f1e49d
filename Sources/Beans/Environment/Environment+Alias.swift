extension Environment {
  /// Gives a bean another id. Whatever takes an id takes the alias, too; reports show the bean's own.
  ///
  /// The bean may be declared later, or further out; an alias may name another one. What is wrong with it is reported at
  /// startup, with all other faults: an id that is taken (`.duplicateId`), no such bean (`.unknownBean`), a circle.
  ///
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func alias(_ name: String, of id: String, file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    try alias(name, of: id, origin: EnvironmentError.Origin(file: "\(file)", line: Int(line)))
  }

  /// The same for an alias that is not written in Swift.
  @discardableResult
  package func alias(_ name: String, of id: String, origin: EnvironmentError.Origin) throws -> Self {
    try checkDeclaring("alias", "'\(name)'", at: origin)
    plan.aliases.append(Alias(name: name, target: id, origin: origin))
    return self
  }
}
