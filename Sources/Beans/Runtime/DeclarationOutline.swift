package import BeansErrors

/// The declarations of an environment, of those around it and of all factories below, as startup resolves them.
///
/// The outline serves other modules of the package, which need no other part of the compiler.
package struct DeclarationOutline {
  /// One environment, or all children of one factory.
  package struct Group {
    package let name: String
    /// The number of the group around this one.
    package let parent: Int?
    /// The scope that the children of a factory open; nil for an environment that is no child of a factory.
    package let scopeName: String?
    /// The condition that does not hold; nil if the children of the factory are active.
    package let inactive: String?
  }

  /// A bean, a template, or a declaration whose condition does not hold.
  package struct Declaration {
    /// The number of the group that declares it.
    package let group: Int
    /// The name in faults and reports.
    package let label: String
    package let id: String?
    /// The type; nil for a template without a class.
    package let type: Any.Type?
    package let scope: String
    package let origin: EnvironmentError.Origin?
    package let traits: Set<Trait>
    /// The condition that does not hold; nil if the declaration is active.
    package let inactive: String?
  }

  /// A property of a declaration besides its scope.
  package enum Trait: String {
    case template, seed, lazy, asynchronous, decorator, primary, `private`, factory, product, running, scheduled
    case qualified, ofChildren
  }

  /// A dependency on one declaration.
  package struct Dependency {
    /// The number of the dependent declaration.
    package let taker: Int
    /// The number of the declaration that the dependency leads to.
    package let taken: Int
    package let kind: Kind
    /// The name of the parameter or property in faults; empty if the kind names the place.
    package let place: String

    /// The kind of a dependency.
    package enum Kind: String {
      case parameter, property, optional, collection, lazy, owned, provider, current
      case requirement, decorates, factory, template
    }
  }

  /// An optional dependency on a bean that is not declared.
  package struct Absence: Hashable {
    /// The number of the dependent declaration.
    package let taker: Int
    /// The type of the missing bean, as text.
    package let type: String
  }

  /// The groups, outermost first.
  package internal(set) var groups: [Group] = []
  /// The declarations by group: beans, then templates, then inactive declarations.
  package internal(set) var declarations: [Declaration] = []
  /// The dependencies, one for each environment that sees the dependent declaration: several may be equal.
  package internal(set) var dependencies: [Dependency] = []
  /// The optional dependencies that nothing satisfies, each once.
  package internal(set) var absences: [Absence] = []
}
