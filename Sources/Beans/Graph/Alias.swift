/// Another name for a bean, as it was declared.
struct Alias {
  let name: String
  let target: String
  let origin: EnvironmentError.Origin
}

extension Alias {
  /// Enters a plan's aliases beside its ids, so that whatever looks for an id finds them. Those of ancestors are entered.
  ///
  /// - Returns: what is wrong with them; those are left out.
  static func enter(in plan: Plan) -> [EnvironmentError] {
    var faults: [EnvironmentError] = []
    var known: [String: Alias] = [:]
    for alias in plan.aliases {
      if let earlier = plan.ownOrigin(ofId: alias.name) ?? known[alias.name]?.origin {
        faults.append(alias.fault(.duplicateId, "the id '\(alias.name)' is taken by \(earlier)"))
      } else {
        known[alias.name] = alias
      }
    }
    var circles: Set<Set<String>> = []
    for alias in plan.aliases where known[alias.name]?.origin == alias.origin {
      guard let target = alias.end(in: known) else {
        // One report for all aliases that run into the same circle.
        let circle = alias.circle(in: known)
        if circles.insert(Set(circle)).inserted {
          let drawn = circle.map { "'\($0)'" }.joined(separator: " → ")
          faults.append(alias.fault(.cyclicDependency, "aliases name each other: \(drawn); let one name a bean"))
        }
        continue
      }
      if !plan.enter(alias: alias.name, of: target) {
        faults.append(alias.fault(.unknownBean, "no bean has the id '\(target)'\(plan.hint(forId: target))"))
      }
    }
    return faults
  }

  /// The id at the end of a chain of aliases; nil for a circle.
  private func end(in known: [String: Alias]) -> String? {
    var seen: Set = [name]
    var id = target
    while let next = known[id] {
      guard seen.insert(id).inserted else { return nil }
      id = next.target
    }
    return id
  }

  /// The aliases that name each other, of which the first is also the last.
  private func circle(in known: [String: Alias]) -> [String] {
    var chain = [name]
    var seen: Set = [name]
    var id = target
    while seen.insert(id).inserted, let next = known[id] {
      chain.append(id)
      id = next.target
    }
    return chain.drop { $0 != id } + [id]
  }

  private func fault(_ code: EnvironmentError.Code, _ message: String) -> EnvironmentError {
    EnvironmentError(code, message, path: ["'\(name)'"], origin: origin)
  }
}
