import Beans
@_spi(BeansPackage) import BeansErrors

extension BeanOverride {
  /// Returns hints at declarations of a level that resemble those which the override would match.
  func nearMisses(in level: DeclarationLevel) -> [String] {
    var hints: [String] = []
    if let seed = level.declarations.seed?.type, isAnswered(by: seed) {
      hints.append("the seed of '\(level.declarations.name)' is a \(seed): build the child from another one")
    }
    for template in level.templates {
      guard template.type.map(isAnswered) == true || id != nil && template.id == id else { continue }
      hints.append(
        "\(template.written) (\(template.origin)) is abstract, and no bean: override the declarations that inherit from it"
      )
    }
    hints += level.inactive.filter { $0.answers(to: type) }.map { String($0.hint.dropFirst(2)) }
    for bean in level.beans where bean.isCandidate {
      if isAnswered(by: bean.type) {
        hints.append("\(bean.text) lives in scope '\(bean.scopeName)'\(mismatches(with: bean))")
      } else if isNear(bean) {
        hints.append("did you mean \(bean.text)?")
      }
    }
    return hints
  }

  /// Returns the criteria of the override that a bean of the right type does not meet.
  private func mismatches(with bean: BeanDefinition) -> String {
    var reasons: [String] = []
    if let id, bean.id != id {
      reasons.append(bean.id.map { "has the id '\($0)'" } ?? "has no id")
    }
    if let qualifier, !bean.qualifiers.contains(ObjectIdentifier(qualifier)) {
      reasons.append("does not have the qualifier \(qualifier)")
    }
    return reasons.map { " and \($0)" }.joined()
  }

  /// Whether a bean is a near miss: its id or type resembles that of the override.
  private func isNear(_ bean: BeanDefinition) -> Bool {
    if let id, let other = bean.id, id == other || EditDistance.isSmall(id, other) { return true }
    if TypeRelation.isUsable(type, as: bean.type) { return true }
    let (wanted, name) = ("\(type)", "\(bean.type)")
    return wanted == name || EditDistance.isSmall(wanted, name) || name.hasSuffix(wanted) || wanted.hasSuffix(name)
  }
}
