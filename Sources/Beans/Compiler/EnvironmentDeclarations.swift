import BeansConfiguration

/// What users have declared for one environment, or for all children of one factory, until its startup has read it.
final class EnvironmentDeclarations {
  /// Another name for a bean, and the module that gives it.
  typealias Alias = (name: String, target: String, location: SourceLocation, module: IncludedModule?)

  let name: String
  /// The scope that children of a factory open, and where the factory is declared.
  let opening: (scopeName: String, location: SourceLocation)?
  let configuration: ConfigurationManager
  /// The value that each child of a factory is built from.
  let seed: BeanSpec?
  /// Whether the factory makes a scope object for each child.
  let hasScope: Bool
  /// What is declared where the factory is.
  private weak var outer: EnvironmentDeclarations?
  /// What is declared further out, by the environment around one that is no child of a factory.
  private weak var enclosing: EnvironmentDeclarations?
  /// What had been said of each bean when it was defined.
  private(set) var specs: [BeanSpec] = []
  private(set) var aliases: [Alias] = []
  private(set) var factories: [EnvironmentDeclarations] = []
  /// What has been included, and what is being included now, outermost first.
  private(set) var modules: [IncludedModule] = []
  private var open: [IncludedModule]
  /// What is wrong with them beyond what single declarations say.
  private(set) var faults: [EnvironmentError] = []
  /// What has to hold for the children of a factory to count.
  private(set) var conditions: [BeanCondition] = []
  /// Whether that, or a declaration, depends on anything.
  private(set) var hasConditions = false
  /// The profiles that conditions here name.
  private var profiles: Set<String> = []
  /// Which of the declarations count, once a startup has asked their conditions.
  var decided: ActiveDeclarations?
  /// Called with the plan of a factory's children, or with the reason why there is none.
  private let compiled: (Result<Plan, any Error>) -> Void

  init(
    name: String, opening: (scopeName: String, location: SourceLocation)? = nil,
    configuration: ConfigurationManager, seed: BeanSpec? = nil, hasScope: Bool = false,
    outer: EnvironmentDeclarations? = nil, enclosing: EnvironmentDeclarations? = nil,
    compiled: @escaping (Result<Plan, any Error>) -> Void = { _ in }
  ) {
    self.name = name
    self.opening = opening
    self.configuration = configuration
    self.seed = seed
    self.hasScope = hasScope
    self.outer = outer
    self.enclosing = enclosing
    self.compiled = compiled
    module = outer?.module
    open = module.map { [$0] } ?? []
  }

  /// A module that includes itself with other content each time would exhaust the stack.
  private static let deepestModules = 50

  /// The module that declares now: the last of `open`, which each declaration asks for.
  private(set) var module: IncludedModule?

  deinit {
    for module in modules { module.letGo() }
  }

  func define(_ declaration: BeanDeclaration) {
    if declaration.isDefined {
      faults.append(
        EnvironmentError(
          cause: .definedTwice, "the same declaration is defined twice: make one for each bean",
          path: [declaration.spec.written], origin: declaration.spec.location.origin))
      // One fault for both.
      if specs.contains(where: { $0.number == declaration.spec.number }) { return }
    }
    declaration.isDefined = true
    if let module { declaration.set { $0.enter(module) } }
    if declaration.hasConditions {
      hasConditions = true
      note(declaration.spec.conditions, of: declaration.spec.written, at: declaration.spec.location)
    }
    // Taken out and put back: what is changed in place is looked up in a table of accesses each time.
    var all = specs
    specs = []
    all.append(declaration.takeSpec())
    specs = all
  }

  /// Declares what a module has, once for equal content.
  ///
  /// - Parameters:
  ///   - module: the module, or one with conditions.
  ///   - location: where it is named.
  ///   - configure: declares what it has.
  func include(_ module: any BeanModule, at location: SourceLocation, configure: () throws -> Void) throws {
    let conditional = module as? ConditionalModule
    let conditions = conditional?.conditions ?? []
    let module = conditional?.module ?? module
    let type = type(of: module)
    if !conditions.isEmpty {
      hasConditions = true
      note(conditions, of: "module \(type)", at: place(location))
    }
    let content = ModuleContent(module)
    for known in modules where known.type == ObjectIdentifier(type) {
      switch known.content.isEqual(content) {
      case true?: return known.add(conditions, by: self.module, at: place(location))
      case false?: continue
      case nil: return noteIncomparable(known, at: place(location))
      }
    }
    let included = IncludedModule(type, content, identity(of: content))
    included.add(conditions, by: self.module, at: place(location))
    modules.append(included)
    try declare(included, at: location, configure: configure)
  }

  private func declare(_ included: IncludedModule, at location: SourceLocation, configure: () throws -> Void) throws {
    if open.count(where: { $0.type == included.type }) >= Self.deepestModules {
      throw EnvironmentError(
        .invalidDeclaration,
        "module \(included.name) includes itself with other content each time, \(Self.deepestModules) deep",
        path: ["module \(included.name)"], origin: place(location).origin)
    }
    let outer = module
    open.append(included)
    module = included
    defer {
      open.removeLast()
      module = outer
    }
    do { try configure() } catch let error as EnvironmentError {
      // Nothing here knows the module any more, where a lookup of its own has started the environment.
      guard error.code == .frozen, let origin = error.origin, origin.module == nil else { throw error }
      throw EnvironmentError(.frozen, error.message, steps: error.steps, origin: origin.declared(in: included.name))
    }
  }

  private func noteIncomparable(_ known: IncludedModule, at location: SourceLocation) {
    let first = known.inclusions.first.map { " (\($0.location.origin))" } ?? ""
    faults.append(
      EnvironmentError(
        cause: .incomparableModule,
        "module \(known.name) is included twice\(first), and its content cannot be compared: make it Hashable",
        path: ["module \(known.name)"], origin: location.origin))
  }

  /// The identity of a module of that content: the one that an equal module has, further out or in other children.
  private func identity(of content: ModuleContent) -> IncludedModule.Identity? {
    guard case .comparable = content else { return nil }
    for level in sequence(first: outermost, next: { $0.enclosing?.outermost }) {
      for module in level.modules + level.below.flatMap(\.modules) where content.isEqual(module.content) == true {
        if let identity = module.identity { return identity }
      }
    }
    return IncludedModule.Identity()
  }

  /// A place, with the module that declares now.
  func place(_ location: SourceLocation) -> SourceLocation {
    module.map { .known(location.origin.declared(in: $0.name)) } ?? location
  }

  func alias(_ name: String, of target: String, at location: SourceLocation) {
    aliases.append((name, target, place(location), module))
  }

  func add(_ factory: EnvironmentDeclarations) { factories.append(factory) }

  /// Adds a condition of the children of a factory.
  func add(_ condition: BeanCondition, at location: SourceLocation) {
    conditions.append(condition)
    outer?.hasConditions = true
    note([condition], of: "'\(name)'", at: place(location))
  }

  /// Notes the profiles that conditions name. A malformed condition is a fault in inactive children of a factory, too.
  private func note(_ conditions: [BeanCondition], of subject: String, at location: SourceLocation) {
    for case .profile(let condition) in conditions {
      profiles.formUnion(condition.expressions.flatMap(\.names))
      outermost.faults += condition.faults.map {
        EnvironmentError(cause: .malformedProfile, $0, path: [subject], origin: location.origin)
      }
    }
  }

  private var outermost: EnvironmentDeclarations { outer?.outermost ?? self }

  /// The profiles that conditions name, here and in the children of factories.
  var namedProfiles: Set<String> { below.reduce(profiles) { $0.union($1.profiles) } }

  var scopeName: String? { opening?.scopeName }

  /// Where the factory is declared whose children open that scope, here or in an ancestor of the same startup.
  func opening(of scope: String) -> SourceLocation? {
    // A loop, which costs less than a sequence for each of many levels.
    var next: EnvironmentDeclarations? = self
    while let level = next {
      if let opening = level.opening, opening.scopeName == scope { return opening.location }
      next = level.outer
    }
    return nil
  }

  func tell(_ outcome: Result<Plan, any Error>) { compiled(outcome) }

  /// All factories below, at any depth: those declared here, then those below each of them.
  var below: [EnvironmentDeclarations] {
    var all: [EnvironmentDeclarations] = []
    func add(_ factories: [EnvironmentDeclarations]) {
      all += factories
      for factory in factories { add(factory.factories) }
    }
    add(factories)
    return all
  }
}

extension BeanSpec {
  /// What a report says of a declaration that has not been compiled, in the children of that scope or in none.
  func text(_ scopeName: String?) -> String {
    (isDecorator ? "decorator of " : "")
      + BeanDirectory.Entry.text(
        type, id, isLazy: isLazy ?? false, isAbstract: isAbstract, isPrimary: isPrimary,
        scopeName: self.scopeName ?? scopeName ?? "singleton")
  }
}
