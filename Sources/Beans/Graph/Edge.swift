/// One dependency, connected: where an argument comes from when the time has come.
@usableFromInline
final class Edge: @unchecked Sendable {  // immutable
  enum Source {
    /// A bean, so many environments further out.
    case bean(Recipe, hops: Int)
    /// All beans of the type.
    case all([(recipe: Recipe, hops: Int)])
    /// An optional without a bean.
    case absent
    case provider(id: String?)
    case environment
    /// What a factory bean makes its products with.
    case assembly(Recipe)
    /// A value given in the declaration, kept by the edge.
    case fixed(Argument)
  }

  let dependency: Dependency
  let source: Source
  /// How a single bean is read without conversion; nil where it has to be converted.
  let direct: Argument.Access?
  // The common case of `source` once more, where reading it costs nothing: a bean in a slot.
  let recipe: Recipe?
  let slot: Int
  let hops: Int

  init(_ dependency: Dependency, _ source: Source) {
    self.dependency = dependency
    self.source = source
    self.direct = Self.direct(dependency, source)
    if case .bean(let recipe, let hops) = source {
      self.recipe = recipe
      self.slot = recipe.slot
      self.hops = hops
    } else {
      self.recipe = nil
      self.slot = -1
      self.hops = 0
    }
  }

  deinit {
    if case .fixed(let argument) = source { argument.release() }
  }

  /// The beans that must exist before the edge can be followed.
  var recipes: [Recipe] {
    switch source {
    case .bean(let recipe, _): [recipe]
    case .all(let targets): targets.map(\.recipe)
    // A factory cannot be followed before what its products need.
    case .assembly(let product): product.arguments.flatMap(\.recipes)
    case .absent, .provider, .environment, .fixed: []
    }
  }

  private static func direct(_ dependency: Dependency, _ source: Source) -> Argument.Access? {
    guard case .bean(let recipe, _) = source else { return nil }
    if dependency.isReference && recipe.definition.isClass { return .reference }
    // A struct or existential looked up as exactly the type it is declared with stands in its box already.
    return recipe.definition.type == dependency.wanted ? .boxed : nil
  }
}
