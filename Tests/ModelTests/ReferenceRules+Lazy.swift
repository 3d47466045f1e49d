extension ReferenceRules {
  /// Returns the beans that exist before a bean which takes them lazily and is built in an environment of a level: those
  /// that startup builds, since they are not lazy themselves, and that do not lead back to their taker.
  func precedents(of bean: ReferenceBean, in level: Int) -> [ReferenceBean] {
    let deferred = bean.needs.filter(\.isDeferred)
    if deferred.isEmpty { return [] }
    return deferred.flatMap { targets(of: $0, openFrom: level) }
      .filter { $0.scope == nil && scenario.levels[$0.level].scope == nil && !$0.isLazy }
      .filter { !leads($0, to: bean, level, from: level) }
  }

  /// Returns whether a bean takes another one, which is built in an environment of a level, in any form and directly or
  /// through others.
  private func leads(_ bean: ReferenceBean, to last: ReferenceBean, _ level: Int, from asking: Int) -> Bool {
    var seen: Set<[Int]> = []
    var rest = [(bean: bean, asking: asking)]
    while let next = rest.popLast() {
      guard let home = place(next.bean, from: next.asking) else { continue }
      if next.bean === last, home == level { return true }
      if !seen.insert([next.bean.number, home]).inserted { continue }
      rest += next.bean.needs.flatMap { targets(of: $0, openFrom: home) }.map { ($0, home) }
    }
    return false
  }

  /// Returns the beans of a need; none where one of them is missing or its scope is not active.
  private func targets(of need: ReferenceBean.Need, openFrom level: Int) -> [ReferenceBean] {
    let found = (try? targets(of: need, from: level)) ?? []
    return found.contains { place($0, from: level) == nil } ? [] : found
  }
}
