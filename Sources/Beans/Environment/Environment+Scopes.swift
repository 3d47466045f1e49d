extension Environment {
  /// Has the user's scope decide. Called on the environment that declares the bean.
  func askScope(for recipe: Recipe) throws -> AnyObject {
    guard let declaration = recipe.definition.declaration, let scope = customScope(recipe.definition.scopeName) else {
      throw recipe.definition.fault(.unknownScope, "no scope is called '\(recipe.definition.scopeName)'")
    }
    if Frame.isBuilding(recipe, in: self) {
      let path = Frame.path(from: recipe, in: self) + [recipe.label]
      throw recipe.definition.fault(
        .cyclicDependency, "\(path.joined(separator: " → ")); break the circle with a Provider", path: path)
    }
    return try ask(scope, for: declaration, recipe)
  }

  /// What a user's scope answers is checked: it is read by the bean's type from now on.
  func ask(_ scope: any BeanScope, for declaration: BeanDeclaration, _ recipe: Recipe) throws -> AnyObject {
    let object = try scope.get(bean: declaration, factory: RecipeFactory(environment: self, recipe: recipe))
    let type: Any.Type = type(of: object)
    if let identity = recipe.identity, ObjectIdentifier(type) == identity { return object }
    let isFitting =
      recipe.definition.isClass
      ? TypeRelation.isUsable(type, as: recipe.definition.type)
      : recipe.definition.constructor?.identity == nil && object is Box
    guard isFitting else {
      throw recipe.definition.fault(
        .typeMismatch, "scope '\(scope.name)' answered with a \(Swift.type(of: Box.open(object))) for \(recipe.label)")
    }
    return object
  }

  /// Tells the user's scope of a bean, once.
  func prepareScope(for recipe: Recipe) throws {
    guard let declaration = recipe.definition.declaration, let scope = customScope(recipe.definition.scopeName) else {
      throw recipe.definition.fault(.unknownScope, "no scope is called '\(recipe.definition.scopeName)'")
    }
    try scope.prepare(bean: declaration, factory: RecipeFactory(environment: self, recipe: recipe))
  }

  private func customScope(_ name: String) -> (any BeanScope)? {
    ScopeNames(plan, expectsScopes: false).scope(name)
  }
}

/// What a scope is handed to build one bean.
struct RecipeFactory: BeanFactory {
  let environment: Environment
  let recipe: Recipe

  func create(_ bean: BeanDeclaration) throws -> AnyObject {
    let leads = try environment.enter()
    defer { environment.leave() }
    guard bean === recipe.definition.declaration else {
      throw EnvironmentError(
        .invalidDeclaration,
        "scope '\(recipe.definition.scopeName)' asked the factory of \(recipe.label) for another bean",
        origin: bean.origin)
    }
    return try Frame.with(environment, nil, leads: leads) { try environment.buildUntracked(recipe) }
  }
}
