package import BeansErrors

/// The declarations of one environment, or of the children of one factory, as the rest of the package reads them.
package struct DeclarationLevel {
  let graph: EnvironmentGraph
  /// The dependencies of all beans that are compiled together, and the injection point of each; empty until they are
  /// resolved.
  var resolved: [PlacedBean.Dependency] = []
  var points: [InjectionPoint] = []

  /// All declarations, active or not.
  package var declarations: EnvironmentDeclarations { graph.declarations }
  /// The beans in order of definition, after the seed; decorators come last.
  package var beans: [BeanDefinition] { graph.definitions }
  package var templates: [FrozenSpec] { graph.declared.specs.filter(\.isAbstract) }
  /// The inactive declarations, including those for the children of inactive factories.
  package var inactive: [InactiveDeclaration] { graph.active.inactive }
}

extension BeanDefinition {
  package var scopeName: String { lifetime.name }
  package var isPrivate: Bool { privateTo != nil }
  package var origin: EnvironmentError.Origin { location.origin }
  /// Whether the bean is a `FactoryBean`, whose product is a bean of its own.
  package var isFactory: Bool { traits.contains(.factory) && maker == nil }
}

extension FrozenSpec {
  package var origin: EnvironmentError.Origin { value.location.origin }
}
