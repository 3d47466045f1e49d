import Beans

/// The attributes of the enclosing `<beans>` elements that apply to their contents.
struct DocumentDefaults {
  /// The lists of profile expressions, one of each of which has to hold.
  var profiles: [[ProfileExpression]] = []
  var isLazy = false
  var merges = false

  /// The defaults of an imported document: only the profiles of the import apply to it.
  var imported: DocumentDefaults { DocumentDefaults(profiles: profiles) }
}

/// An alias in a document that is active only where profiles hold.
struct ConditionalAlias: BeanModule, Hashable {
  let alias: String
  let id: String
  let file: String
  let line: Int
  let column: Int?

  init(_ alias: String, of id: String, at origin: EnvironmentError.Origin) {
    (self.alias, self.id, file, line, column) = (alias, id, origin.file, origin.line, origin.column)
  }

  func configure(_ environment: Environment) throws {
    try environment.alias(alias, of: id, origin: .init(file: file, line: line, column: column))
  }
}
