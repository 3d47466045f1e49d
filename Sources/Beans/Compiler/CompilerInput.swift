/// The input of a compilation.
struct CompilerInput {
  /// The environment that is compiled, together with the children of its factories.
  let home: Unretained<Environment>
  /// The plan of the environment further out, which has started.
  let parent: Plan?
  /// The names of scopes that users have registered in the environment itself; `outerScopes` has those from further
  /// out.
  let scopeNames: [String]
  let outerScopes: [String]
  /// Whether the log records each bean.
  let isTraced: Bool
  /// The replacements that a hook makes in the declarations. The hook observes the release of each bean.
  let overrides: BeanOverrides?
}
