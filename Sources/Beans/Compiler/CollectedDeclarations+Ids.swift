import BeansErrors

// The ids of declarations and aliases.

extension CollectedDeclarations {
  /// An alias, and the id that it enters: an alias of a private bean is private to the module, too.
  typealias KnownAlias = (id: BeanId, alias: EnvironmentDeclarations.Alias)

  /// Enters the id of a bean. If several declarations have it, the first one keeps it and the others are faults.
  ///
  /// - Parameters:
  ///   - id: the id.
  ///   - meaning: the bean or the declaration.
  ///   - location: the location of the declaration.
  mutating func enter(
    _ id: BeanId, _ meaning: BeanDirectory.Meaning, at location: @autoclosure () -> SourceLocation
  ) {
    guard let earlier = meanings.updateValue(meaning, forKey: id) else {
      if meaning.position == nil { locations[id] = location() }
      return
    }
    meanings[id] = earlier
    let taken = self.location(of: id).map { "\($0.origin)" } ?? "another bean"
    faults.append(
      EnvironmentError(
        .duplicateId, "the id '\(id.text)' is taken by \(taken)", path: ["'\(id.text)'"], origin: location().origin))
  }

  /// Returns the location at which an id is declared.
  private func location(of id: BeanId) -> SourceLocation? {
    locations[id] ?? meanings[id]?.position.map { specs[$0].location }
  }

  /// Returns hints at an inactive declaration of an id, and at a similar id.
  func hint(forId id: String, from module: IncludedModule?) -> String {
    let inactive = graph.hint { $0.hasId(id, from: module?.key) }
    let known = Array(meanings.keys) + (graph.outerDirectory?.visibleIds ?? [])
    return inactive + BeanDirectory.hint(forId: id, among: known)
  }

  // MARK: aliases

  /// Decides which of the active aliases are private to a module. Aliases may name each other in any order.
  mutating func nameAliases() {
    named = graph.active.aliases.map { (BeanId($0.name), $0) }
    var isComplete = named.isEmpty
    while !isComplete {
      isComplete = true
      for (index, (id, alias)) in named.enumerated() where !id.isPrivate {
        guard let module = alias.module, self.id(alias.target, from: module).isPrivate else { continue }
        named[index].id = BeanId(alias.name, privateTo: module.key)
        add(named[index])
        isComplete = false
      }
    }
    for alias in named where !alias.id.isPrivate { add(alias) }
  }

  /// Adds an alias. Keeps an existing bean or an earlier alias of that id.
  private mutating func add(_ alias: KnownAlias) {
    if meanings[alias.id] == nil, aliases[alias.id] == nil { aliases[alias.id] = alias.alias }
  }

  /// Returns the id that a text means inside a module, where private ids come first.
  private func id(_ text: String, from module: IncludedModule?) -> BeanId {
    guard let module else { return BeanId(text) }
    // A factory behind a product is entered after its product, so the id of the product decides.
    let plain = BeanId(text.hasPrefix("&") ? String(text.dropFirst()) : text, privateTo: module.key)
    let isPrivate = meanings[plain] != nil || aliases[plain] != nil || outerMeaning(of: plain) != nil
    return BeanId(text, privateTo: isPrivate ? module.key : nil)
  }

  /// Enters aliases among the ids, so that lookups by id find them. Returns the ids that are not private.
  mutating func enterAliases() -> [String] {
    var sound: [(id: BeanId, target: BeanId)] = []
    var circles: Set<Set<BeanId>> = []
    var seen: Set<BeanId> = []
    for (id, alias) in named {
      let first: SourceLocation? = if seen.insert(id).inserted { nil } else { aliases[id]?.location }
      if let earlier = location(of: id) ?? first {
        faults.append(fault(alias, .duplicateId, "the id '\(alias.name)' is taken by \(earlier.origin)"))
        continue
      }
      let (target, circle) = follow((id, alias))
      if !circle.isEmpty {
        // One report for all aliases that lead to the same circle.
        if circles.insert(Set(circle)).inserted {
          let drawn = circle.map { "'\($0.text)'" }.joined(separator: " → ")
          faults.append(fault(alias, .circleOfAliases, "aliases name each other: \(drawn); let one name a bean"))
        }
        meanings[id] = .nothing
        continue
      }
      guard meanings[target] != nil || outerMeaning(of: target) != nil else {
        let hint = hint(forId: target.text, from: alias.module)
        faults.append(fault(alias, .unknownId, "no bean has the id '\(target.text)'\(hint)"))
        meanings[id] = .nothing
        continue
      }
      // The factory behind the bean as well.
      sound += [(id, target), (id.ofFactory, target.ofFactory)]
    }
    let entered = sound.filter { id, target in
      guard let meaning = meanings[target] ?? outerMeaning(of: target) else { return false }
      meanings[id] = meaning
      return true
    }
    return entered.map(\.id).filter { !$0.isPrivate }.map(\.text)
  }

  /// Returns the meaning of an id that is declared further out; nil if there is none.
  private func outerMeaning(of id: BeanId) -> BeanDirectory.Meaning? {
    graph.outerDirectory?.find(id).map { _ in .outer(id) }
  }

  /// Returns the id to which an alias leads; the id itself if it is no alias, or one that leads to a circle.
  func target(of id: BeanId) -> BeanId {
    guard let alias = aliases[id] else { return id }
    let (target, circle) = follow((id, alias))
    return if circle.isEmpty { target } else { id }
  }

  /// Follows a chain of aliases. Returns the id at its end; if aliases name each other, also these, with the first one
  /// repeated.
  private func follow(_ known: KnownAlias) -> (end: BeanId, circle: [BeanId]) {
    var chain = [known.id]
    var seen: Set = [known.id]
    var id = id(known.alias.target, from: known.alias.module)
    while let next = aliases[id] {
      guard seen.insert(id).inserted else { return (id, chain.drop { $0 != id } + [id]) }
      chain.append(id)
      id = self.id(next.target, from: next.module)
    }
    return (id, [])
  }

  private func fault(
    _ alias: EnvironmentDeclarations.Alias, _ cause: FaultCause, _ message: String
  ) -> EnvironmentError {
    EnvironmentError(cause: cause, message, path: ["'\(alias.name)'"], origin: alias.location.origin)
  }
}
