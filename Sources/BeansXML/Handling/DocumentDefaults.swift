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

/// The aliases in one `<beans>` element that are active only where its profiles hold.
struct ConditionalAliases: BeanModule, Hashable {
  struct Alias: Hashable {
    let alias: String
    let id: String
    private let file: String
    private let line: Int
    private let column: Int?

    init(_ alias: String, of id: String, at origin: EnvironmentError.Origin) {
      (self.alias, self.id, file, line, column) = (alias, id, origin.file, origin.line, origin.column)
    }

    var origin: EnvironmentError.Origin { .init(file: file, line: line, column: column) }
  }

  let aliases: [Alias]

  func configure(_ environment: Environment) throws {
    for alias in aliases { try environment.alias(alias.alias, of: alias.id, origin: alias.origin) }
  }
}
