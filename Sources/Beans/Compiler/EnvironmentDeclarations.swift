import BeansConfiguration

/// The declarations of an environment, or of the children of a factory, for the threads that read them.
struct SharedDeclarations: @unchecked Sendable {  // one thread declares; startup ends that, and then threads only read
  /// The declarations; nil once a startup has read them.
  var open: EnvironmentDeclarations?
  /// The declarations that a startup has read, for graphs that are made later.
  var read: EnvironmentDeclarations?
}

/// A factory of children, whatever its seed is.
protocol FactoryOfChildren: SendableMetatype {
  /// The identity that the factory shares with its bean.
  var identity: ObjectIdentifier { get }
}

/// The declarations of one environment, or of all children of one factory, until its startup has read them.
package final class EnvironmentDeclarations {
  /// An additional name of a bean, and the module that declares the name.
  typealias Alias = (name: String, target: String, location: SourceLocation, module: IncludedModule?)

  package let name: String
  /// The location of the factory's declaration; nil for an environment that is no child of a factory.
  let opening: SourceLocation?
  let configuration: ConfigurationManager
  /// The declaration of the value from which each child of a factory is built.
  package let seed: FrozenSpec?
  /// Whether the factory makes a scope object for each child.
  let hasScope: Bool
  /// The declarations that contain the factory's declaration.
  private(set) weak var outer: EnvironmentDeclarations?
  /// The declarations further out, of the environment around one that is no child of a factory.
  private weak var enclosing: EnvironmentDeclarations?
  /// The spec of each bean as it was when the bean was defined.
  private(set) var specs: [FrozenSpec] = []
  private(set) var aliases: [Alias] = []
  private(set) var factories: [EnvironmentDeclarations] = []
  /// The declarations of the factories as beans; empty once they have been added.
  private var factoryBeans: [(factory: ObjectIdentifier, bean: BeanDeclaration)] = []
  /// The modules that have been included. `open` has those whose inclusion is in progress, outermost first.
  private(set) var modules: [IncludedModule] = []
  private var open: [IncludedModule]
  /// The faults beyond those of single declarations.
  private(set) var faults: [EnvironmentError] = []
  /// The metadata that the children of a factory contribute to log entries.
  private(set) var childMetadata = ChildMetadata()
  /// The observers that are registered here.
  private(set) var observers: [any EnvironmentObserver] = []
  /// Whether a module or a declaration has a condition.
  private(set) var hasConditions = false
  /// The profiles that conditions here name.
  private var profiles: Set<String> = []
  /// The active declarations, once a startup has evaluated the conditions.
  var decided: ActiveDeclarations?
  /// The numbers of declarations and aliases that have been compared with the closures around them.
  private var judged = (specs: 0, aliases: 0)
  /// Called with the plan of a factory's children, or with the reason why no plan exists.
  let tell: (Result<Plan, any Error>) -> Void

  init(
    name: String, opening: SourceLocation? = nil, configuration: ConfigurationManager, seed: FrozenSpec? = nil,
    hasScope: Bool = false, outer: EnvironmentDeclarations? = nil, enclosing: EnvironmentDeclarations? = nil,
    compiled: @escaping (Result<Plan, any Error>) -> Void = { _ in }
  ) {
    self.name = name
    self.opening = opening
    self.configuration = configuration
    self.seed = seed
    self.hasScope = hasScope
    self.outer = outer
    self.enclosing = enclosing
    tell = compiled
    open = outer?.module.map { [$0] } ?? []
  }

  /// Runs the closure that declares the children of a factory here. A declaration further out would be meant for the
  /// children: it is a fault. Declarations are compared afterwards, so that none costs more.
  func whileConfiguring(_ configure: () throws -> Void) rethrows {
    // As many levels as a closure usually captures.
    let levels = sequence(first: self, next: { $0.outer ?? $0.enclosing }).dropFirst().prefix(4)
    let counts = levels.map { (level: $0, specs: $0.specs.count, aliases: $0.aliases.count) }
    try configure()
    for (level, specs, aliases) in counts.reversed() { level.noteMisplaced(from: specs, aliases, in: self) }
  }

  private func noteMisplaced(from spec: Int, _ alias: Int, in children: EnvironmentDeclarations) {
    // A level that has started declares nothing: the threads that open its children write nothing here.
    let isUnchanged = specs.count == spec && aliases.count == alias
    if isUnchanged { return }
    let beans = specs.dropFirst(max(spec, judged.specs)).map { ($0.value.written, $0.location) }
    let names = aliases.dropFirst(max(alias, judged.aliases)).map { ("alias '\($0.name)'", $0.location) }
    let factory = children.opening.map { "childFactory at \($0.origin)" } ?? "childFactory"
    for (subject, location) in beans + names {
      note(
        .declaredFurtherOut,
        "\(subject) is declared in '\(name)', inside of the closure that declares the children of '\(children.name)' "
          + "(\(factory)): declare it on the argument of that closure, or outside of it",
        of: subject, at: location)
    }
    judged = (specs.count, aliases.count)
  }

  /// The limit of nested inclusions of one module type. A module that includes itself with other content each time
  /// would otherwise exhaust the stack.
  private static let deepestModules = 50

  /// The innermost module whose inclusion is in progress.
  var module: IncludedModule? { open.last }

  deinit {
    for module in modules { module.inclusions = [] }
  }

  func define(_ declaration: BeanDeclaration) {
    if declaration.isDefined {
      note(
        .definedTwice, "the same declaration is defined twice: make one for each bean",
        of: declaration.spec.written, at: declaration.spec.location)
      // Report one fault for both declarations.
      if specs.contains(where: { $0.number == declaration.spec.number }) { return }
    }
    declaration.isDefined = true
    if let module { declaration.enter(module) }
    if let conditions = declaration.spec.options?.value.conditions, !conditions.isEmpty {
      hasConditions = true
      note(conditions, of: declaration.spec.written, at: declaration.spec.location)
    }
    // Moved out and back: modification in place would run a dynamic exclusivity check each time.
    var all: [FrozenSpec] = []
    swap(&all, &specs)
    all.append(FrozenSpec(declaration.spec))
    swap(&all, &specs)
  }

  /// Adds the factories as beans, once, when all declarations are known; except for those that the user has defined, with
  /// options of their own.
  func addFactoryBeans() {
    if factoryBeans.isEmpty { return }
    let defined = specs.compactMap { ($0.instance?.instance as? any FactoryOfChildren)?.identity }
    let added = factoryBeans.filter { !defined.contains($0.factory) }.map { FrozenSpec($0.bean.spec) }
    // Assigned, as in `define`: modification in place would run a dynamic exclusivity check each time, there as well.
    specs = specs + added
    factoryBeans = []
  }

  /// Declares the content of a module, once for equal content.
  ///
  /// - Parameters:
  ///   - module: the module, or a wrapper that adds conditions to it.
  ///   - location: the location of the inclusion.
  ///   - configure: declares the content of the module.
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
      case true?: return known.inclusions.append((conditions, self.module, place(location)))
      case false?: continue
      case nil: return noteIncomparable(known, at: place(location))
      }
    }
    let included = IncludedModule(type, content, identity(of: content))
    included.inclusions.append((conditions, self.module, place(location)))
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
    // Replaced as a whole: each declaration reads the list, and a change in place would check each read at run time.
    let outer = open
    open = outer + [included]
    defer { open = outer }
    do { try configure() } catch let error as EnvironmentError {
      // If a lookup in the module has started the environment, the code that throws cannot reach the module's name.
      guard error.code == .frozen, let origin = error.origin, origin.module == nil else { throw error }
      throw EnvironmentError(.frozen, error.message, steps: error.steps, origin: origin.declared(in: included.name))
    }
  }

  private func noteIncomparable(_ known: IncludedModule, at location: SourceLocation) {
    let first = known.inclusions.first.map { " (\($0.location.origin))" } ?? ""
    note(
      .incomparableModule,
      "module \(known.name) is included twice\(first), and its content cannot be compared: make it Hashable",
      of: "module \(known.name)", at: location)
  }

  private func note(_ cause: FaultCause, _ message: String, of subject: String, at location: SourceLocation) {
    faults.append(EnvironmentError(cause: cause, message, path: [subject], origin: location.origin))
  }

  /// Returns the identity for a module's content: that of an equal module further out or in other children, else a new
  /// one.
  private func identity(of content: ModuleContent) -> IncludedModule.Identity? {
    guard case .comparable = content else { return nil }
    for level in sequence(first: outermost, next: { $0.enclosing?.outermost }) {
      for module in level.modules + level.below.flatMap(\.modules) where content.isEqual(module.content) == true {
        if let identity = module.identity { return identity }
      }
    }
    return IncludedModule.Identity()
  }

  /// Returns the location, marked with the module whose inclusion is in progress.
  func place(_ location: SourceLocation) -> SourceLocation {
    module.map { .known(location.origin.declared(in: $0.name)) } ?? location
  }

  func alias(_ name: String, of target: String, at location: SourceLocation) {
    aliases.append((name, target, place(location), module))
  }

  /// Adds a factory, and its declaration as a bean.
  func add(_ factory: EnvironmentDeclarations, _ identity: ObjectIdentifier, as bean: BeanDeclaration) {
    factories.append(factory)
    if let module { bean.enter(module) }
    factoryBeans.append((identity, bean))
  }

  /// Adds metadata of the children of a factory.
  func add(_ part: @escaping ChildMetadata.Element) { childMetadata.append(part) }

  func add(_ observer: any EnvironmentObserver) { observers.append(observer) }

  /// Records the profiles that conditions name. A malformed condition is a fault even if the factory's children are
  /// inactive.
  private func note(_ conditions: [BeanCondition], of subject: String, at location: SourceLocation) {
    for case .profile(let profileCondition) in conditions {
      profiles.formUnion(profileCondition.expression.names)
      for fault in profileCondition.faults { outermost.note(.malformedProfile, fault, of: subject, at: location) }
    }
  }

  private var outermost: EnvironmentDeclarations { outer?.outermost ?? self }

  /// The profiles that conditions name, here and in the children of factories.
  var namedProfiles: Set<String> { factories.reduce(profiles) { $0.union($1.namedProfiles) } }

  package var scopeName: String? { opening.map { _ in name } }

  /// Returns the location of the factory whose children open the scope, here or in an ancestor of the same startup.
  func opening(of scope: String) -> SourceLocation? {
    // A loop is cheaper than a sequence when there are many levels.
    var next: EnvironmentDeclarations? = self
    while let level = next {
      if let opening = level.opening, level.name == scope { return opening }
      next = level.outer
    }
    return nil
  }

  /// All factories below, at any depth: those declared here, then those below each of them.
  var below: [EnvironmentDeclarations] { factories + factories.flatMap(\.below) }
}

extension BeanSpec {
  /// Returns the report's text for a declaration that has not been compiled, in the children of the scope or in none.
  func text(_ scopeName: String?) -> String {
    (isDecorator ? "decorator of " : "")
      + BeanDefinition.text(
        type, id, isLazy: isLazy ?? false, isAbstract: isAbstract, isPrimary: isPrimary,
        scopeName: self.scopeName ?? scopeName ?? "singleton")
  }
}
