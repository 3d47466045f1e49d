/// Finds the templates of declarations, here and further out, in any order of declaration.
struct TemplateLookup {
  private let graph: EnvironmentGraph

  init(_ graph: EnvironmentGraph) { self.graph = graph }

  /// The templates that a declaration inherits from.
  enum Chain {
    /// The templates, nearest first.
    case templates([FrozenSpec])
    /// No template has that id.
    case unknown(id: String)
    /// The declarations inherit from each other.
    case circle([FrozenSpec])
  }

  /// Returns the chain of templates of a declaration.
  func templates(of spec: FrozenSpec, in declarations: CollectedDeclarations) -> Chain {
    var chain = [spec]
    var seen: Set = [spec.number]
    var home = 0
    while let next = chain.last, let id = next.template {
      guard let (level, template) = template(id, of: next, at: home, in: declarations) else {
        return id == next.id ? .circle([next]) : .unknown(id: id)
      }
      guard seen.insert(template.number).inserted else {
        return .circle(Array(chain.drop { $0.number != template.number }))
      }
      chain.append(template)
      home = level
    }
    return .templates(Array(chain.dropFirst()))
  }

  /// Returns the nearest declaration that has the id or an alias equal to it. A declaration may inherit from one
  /// further out that has the same id.
  private func template(
    _ id: String, of spec: FrozenSpec, at home: Int, in declarations: CollectedDeclarations
  ) -> (level: Int, template: FrozenSpec)? {
    if let module = spec.module,
      let found = template(BeanId(id, privateTo: module.key), of: spec, at: home, in: declarations)
    {
      return found
    }
    return template(BeanId(id), of: spec, at: home, in: declarations)
  }

  private func template(
    _ id: BeanId, of spec: FrozenSpec, at home: Int, in declarations: CollectedDeclarations
  ) -> (level: Int, template: FrozenSpec)? {
    let (target, asker) = (declarations.ids.target(of: id), spec.beanId)
    if !(home == 0 && asker == id), let position = declarations.ids.meanings[target]?.position {
      return (0, declarations.specs[position])
    }
    var next = graph.outerDirectory
    while let (meaning, directory, _) = next?.find(target) {
      let level = (graph.outerDirectory?.depth ?? 0) + 1 - directory.depth
      if let position = meaning.position, !(home == level && asker == id) {
        return (level, directory.declarations.specs[position])
      }
      next = directory.parent
    }
    return nil
  }
}
