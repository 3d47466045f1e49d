import BeansErrors

/// The replacements that a hook makes in the declarations of one startup.
final class BeanOverrides {
  private let hook: any EnvironmentHook
  /// Whether an override without a matching declaration is a fault.
  private let isStrict: Bool
  /// The numbers of the overrides that matched a declaration.
  private var matched: Set<Int> = []
  /// The replacements in the environment read last.
  private var made: [BeanReplacement] = []

  init(_ hook: any EnvironmentHook, isStrict: Bool) { (self.hook, self.isStrict) = (hook, isStrict) }

  /// Replaces the beans of one environment, or of the children of one factory.
  ///
  /// - Parameters:
  ///   - definitions: the beans by number, before decorators are added.
  ///   - graph: the graph of the environment.
  ///   - bindings: the bindings of the compilation.
  /// - Returns: the new beans whose declarations must be checked, and the faults of the overrides.
  func apply(
    to definitions: inout [BeanDefinition], _ graph: EnvironmentGraph, _ bindings: BeanBindings
  ) -> (added: [BeanDefinition], faults: [EnvironmentError]) {
    let decision = hook.replacements(for: definitions.filter(\.isCandidate))
    made = decision.made
    matched.formUnion(decision.matched)
    var added: [BeanDefinition] = []
    for replacement in made {
      let old = definitions[Int(replacement.number)]
      let new = self.replacement(of: old, by: replacement.factory, graph.declared)
      definitions[Int(replacement.number)] = new
      graph.changeFaulty { $0.remove(old.number) }
      // The factory stays available to lookups of the factory itself, but startup does not build it.
      if let maker = old.maker {
        let lazy = lazy(maker, graph.declared)
        definitions[Int(maker.number)] = lazy
        _ = bindings.bind(lazy, graph.declared)
      }
      if replacement.factory.type != nil { added.append(new) }
    }
    return (added, decision.faults)
  }

  /// Returns the same bean, which startup does not build.
  private func lazy(_ bean: BeanDefinition, _ declared: DeclaredBeans) -> BeanDefinition {
    var spec = bean.spec.object.value
    spec.isLazy = true
    return BeanDefinition(
      declared.keep(FrozenSpec(spec)), type: bean.type, lifetime: bean.lifetime, traits: bean.traits,
      factory: bean.factory.object, number: bean.number, product: bean.product)
  }

  /// Returns the replacement of a bean. It keeps the id, scope, qualifiers, module, laziness and preference of the old
  /// one.
  private func replacement(
    of old: BeanDefinition, by factory: ReplacingFactory, _ declared: DeclaredBeans
  ) -> BeanDefinition {
    let type = factory.type ?? old.type
    var spec = old.spec.object.value.replacement(type, at: factory.location ?? old.location)
    // A test replaces a bean that threads may share by one that they may share.
    spec.isSendable = old.spec.object.value.isSendable
    // Startup must not build a bean that is forbidden.
    if factory.type == nil { spec.isLazy = true }
    return BeanDefinition(
      declared.keep(FrozenSpec(spec)), type: type, lifetime: old.lifetime,
      factory: declared.keep(factory.function(old)), number: old.number)
  }

  /// Returns a fault for each override whose bean lookups in the environment do not find.
  func faults(in directory: BeanDirectory) -> [EnvironmentError] {
    made.compactMap { replacement in
      guard let lookup = replacement.lookup else { return nil }
      let bean = directory.beans[Int(replacement.number)]
      let criteria = BeanDirectory.Criteria(module: bean.privateTo, tag: lookup.qualifier)
      let (found, rivals) = directory.choose(lookup.type, criteria)
      if let found, found.number == replacement.number, found.directory === directory, rivals.isEmpty { return nil }
      let others = directory.candidates(for: lookup.type).filter { $0 != replacement.number }
        .map { directory.beans[Int($0)] }.map { "\($0.label) (\($0.location.origin))" }
      return hook.fault(of: replacement.override, making: bean.label, losingTo: others, in: directory.name)
    }
  }

  /// Returns a fault for each override that matched no declaration.
  func unmet(in graphs: [EnvironmentGraph]) -> [EnvironmentError] {
    if isStrict { hook.faults(besides: matched, in: graphs.map { DeclarationLevel(graph: $0) }) } else { [] }
  }
}
