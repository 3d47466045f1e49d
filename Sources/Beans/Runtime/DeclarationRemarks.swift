/// Declarations that are correct, and may be meant in another way: for reports.
final class DeclarationRemarks: Sendable {
  /// The optional parameters and properties that no bean satisfies, with the places of their declarations.
  let absent: [String]
  /// The beans that no lookup by type finds alone, with the places of their declarations.
  let ambiguous: [String]
  /// The beans of a scope that no factory here opens, with the places of their declarations. A factory of an environment
  /// further in may open it.
  let unopened: [String]

  init(_ outline: DeclarationOutline) {
    func place(_ number: Int) -> String { outline.declarations[number].origin.map { " origin: \($0)" } ?? "" }
    absent = outline.absences.map { absence in
      "\(outline.declarations[absence.taker].label) takes \(absence.type)?: none\(place(absence.taker))"
    }
    let opened = Set(outline.groups.compactMap(\.scopeName))
    unopened = outline.declarations.indices.compactMap { number in
      let declaration = outline.declarations[number]
      let isOpened = !Lifetime.isFactoryScope(declaration.scope) || opened.contains(declaration.scope)
      if isOpened || declaration.inactive != nil || declaration.traits.contains(.template) { return nil }
      return "\(declaration.label): \(declaration.scope)\(place(number))"
    }
    let taken = Set(outline.dependencies.map(\.taken))
    var rivals = [Rivals: [Int]]()
    for (number, declaration) in outline.declarations.enumerated() {
      guard let type = declaration.type, declaration.inactive == nil else { continue }
      if !declaration.traits.isDisjoint(with: [.template, .seed, .decorator, .factory, .ofChildren]) { continue }
      rivals[Rivals(group: declaration.group, type: ObjectIdentifier(type)), default: []].append(number)
    }
    ambiguous = rivals.values.sorted { $0[0] < $1[0] }.compactMap { numbers in
      let beans = numbers.map { outline.declarations[$0] }
      let isDecided = numbers.count == 1 || beans.contains { $0.traits.contains(.primary) }
      let isTaken = numbers.contains(where: taken.contains)
      let isNamed = beans.allSatisfy { $0.id != nil || $0.traits.contains(.qualified) }
      if isDecided || isTaken || isNamed { return nil }
      return "\(beans[0].type.map { "\($0)" } ?? ""): \(numbers.count) beans\(numbers.map(place).joined())"
    }
  }

  private struct Rivals: Hashable {
    let group: Int
    let type: ObjectIdentifier
  }
}
