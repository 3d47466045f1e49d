import BeansConfiguration

/// What users have declared for one environment, or for all children of one factory, until its startup has read it.
final class EnvironmentDeclarations {
  /// Another name for a bean.
  typealias Alias = (name: String, target: String, location: SourceLocation)

  let name: String
  let scopeName: String?
  let configuration: ConfigurationManager
  /// The value that each child of a factory is built from.
  let seed: BeanSpec?
  /// Whether the factory makes a scope object for each child.
  let hasScope: Bool
  /// What is declared where the factory is.
  private weak var outer: EnvironmentDeclarations?
  /// What had been said of each bean when it was defined.
  private(set) var specs: [BeanSpec] = []
  private(set) var aliases: [Alias] = []
  private(set) var factories: [EnvironmentDeclarations] = []
  /// What is wrong with them beyond what single declarations say.
  private(set) var faults: [EnvironmentError] = []
  /// Called with the plan of a factory's children.
  private let compiled: (Plan) -> Void

  init(
    name: String, scopeName: String? = nil, configuration: ConfigurationManager, seed: BeanSpec? = nil,
    hasScope: Bool = false, outer: EnvironmentDeclarations? = nil, compiled: @escaping (Plan) -> Void = { _ in }
  ) {
    self.name = name
    self.scopeName = scopeName
    self.configuration = configuration
    self.seed = seed
    self.hasScope = hasScope
    self.outer = outer
    self.compiled = compiled
  }

  func define(_ declaration: BeanDeclaration) {
    if declaration.isDefined {
      faults.append(
        EnvironmentError(
          .invalidDeclaration, "the same declaration is defined twice: make one for each bean",
          path: [declaration.spec.written], origin: declaration.spec.location.origin))
      // One fault for both.
      if specs.contains(where: { $0.number == declaration.spec.number }) { return }
    }
    declaration.isDefined = true
    // Taken out and put back: what is changed in place is looked up in a table of accesses each time.
    var all = specs
    specs = []
    all.append(declaration.takeSpec())
    specs = all
  }

  func add(_ alias: Alias) { aliases.append(alias) }

  func add(_ factory: EnvironmentDeclarations) { factories.append(factory) }

  /// Whether a scope of that name is open here or in an ancestor of the same startup.
  func isOpen(_ scope: String) -> Bool { scopeName == scope || outer?.isOpen(scope) == true }

  func tell(_ plan: Plan) { compiled(plan) }

  /// All factories below, at any depth.
  var below: [EnvironmentDeclarations] { factories + factories.flatMap(\.below) }
}

extension BeanSpec {
  /// What a report says of a declaration that has not been compiled, in the children of that scope or in none.
  func text(_ scopeName: String?) -> String {
    BeanDirectory.Entry.text(
      type, id, isLazy: isLazy ?? false, isAbstract: isAbstract, isPrimary: isPrimary,
      scopeName: self.scopeName ?? scopeName ?? "singleton")
  }
}
