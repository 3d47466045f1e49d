/// Declarations that are correct, and may be meant in another way: for reports.
final class DeclarationRemarks: Sendable {
  /// The optional parameters and properties that no bean satisfies, with the places of their declarations.
  let absent: [String]
  /// The beans that no lookup by type finds alone, with the places of their declarations.
  let ambiguous: [String]
  /// The beans of a scope that no factory here opens, with the places of their declarations. A factory of an environment
  /// further in may open it.
  let unopened: [String]

  /// - Parameter levels: the levels of an environment, outermost first.
  init(_ levels: [DeclarationLevel]) {
    let dependencies = levels.flatMap(\.dependencies)
    absent = dependencies.absences.map { taker, type in "\(taker.label) takes \(type)?: none\(taker.place)" }
    let templates = levels.flatMap(\.inheritances).map(\.template)
    let taken = Set(dependencies.flatMap(\.beans).map { ObjectIdentifier($0) }).union(templates)
    let opened = levels.flatMap { [$0.declarations] + $0.inactiveFactories.map(\.declarations) }.map(\.scopeName)
    unopened = levels.flatMap(\.beans).filter { bean in
      Lifetime.isFactoryScope(bean.lifetime.name) && !opened.contains(bean.lifetime.name)
    }.map { "\($0.label): \($0.lifetime.name)\($0.place)" }
    ambiguous = levels.flatMap { level in
      let rivals = Dictionary(grouping: level.beans.filter(\.isFoundByType)) { ObjectIdentifier($0.type) }
      return rivals.values.sorted { $0[0].number < $1[0].number }.compactMap { beans -> String? in
        let isDecided = beans.count == 1 || beans.contains(where: \.isPrimary)
        let isTaken = beans.contains { taken.contains(ObjectIdentifier($0)) }
        let areNamed = beans.allSatisfy { $0.id != nil || !$0.qualifiers.isEmpty }
        if isDecided || isTaken || areNamed { return nil }
        return "\(beans[0].type): \(beans.count) beans\(beans.map(\.place).joined())"
      }
    }
  }
}

extension BeanDefinition {
  /// The place of the declaration, at the end of a line.
  fileprivate var place: String { " origin: \(origin)" }

  /// Whether a lookup by just the bean's type is meant to find it.
  fileprivate var isFoundByType: Bool { isCandidate && !makesBean && !(type is any FactoryOfChildren.Type) }
}
