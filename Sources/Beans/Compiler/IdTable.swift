import BeansErrors
import BeansSupport

/// The ids of one environment while its declarations are read: those of beans, and aliases.
struct IdTable {
  /// An alias, and the name under which it is entered: an alias of a private bean is private to the module, too.
  typealias NamedAlias = (name: String, alias: EnvironmentDeclarations.Alias)

  private let graph: EnvironmentGraph
  /// The meanings of all ids, by the names that are private to a module or not.
  private(set) var names: [String: BeanDirectory.Name] = [:]
  /// The locations of ids that no declaration has itself: aliases, and factories behind their products.
  private var locations: [String: SourceLocation] = [:]
  /// The active aliases, by the names under which they are entered.
  private var aliases: [String: EnvironmentDeclarations.Alias] = [:]

  init(_ graph: EnvironmentGraph, capacity: Int) {
    self.graph = graph
    names.reserveCapacity(capacity)
  }

  /// Enters the id of a bean. If several declarations have it, the first one keeps it and the others are faults.
  ///
  /// - Parameters:
  ///   - id: the id, as `BeanSpec.name` returns it.
  ///   - name: the bean or the declaration.
  ///   - location: the location of the declaration.
  ///   - specs: the declarations that have been entered.
  ///   - faults: the faults found so far.
  mutating func enter(
    _ id: String, _ name: BeanDirectory.Name, at location: SourceLocation, _ specs: [FrozenSpec],
    _ faults: inout [EnvironmentError]
  ) {
    guard let earlier = names.updateValue(name, forKey: id) else {
      if name.position < 0 { locations[id] = location }
      return
    }
    names[id] = earlier
    let taken = self.location(of: id, specs).map { "\($0.origin)" } ?? "another bean"
    let written = IncludedModule.id(named: id)
    faults.append(
      EnvironmentError(
        .duplicateId, "the id '\(written)' is taken by \(taken)", path: ["'\(written)'"], origin: location.origin))
  }

  /// Returns the location at which an id is declared.
  private func location(of id: String, _ specs: [FrozenSpec]) -> SourceLocation? {
    locations[id] ?? names[id].map { specs[Int($0.position)].location }
  }

  /// Returns hints at an inactive declaration of an id, and at a similar id.
  func hint(forId id: String, from module: IncludedModule?) -> String {
    let isMeant = { (inactive: InactiveDeclaration) in inactive.hasId(id, from: module?.key) }
    let own = graph.active.inactive.filter(isMeant).map(\.hint).joined()
    let inactive = graph.outerDirectory.map { own + $0.hint(forInactive: isMeant) } ?? own
    let known = Set(names.keys.filter { !IncludedModule.isPrivate(name: $0) }).union(
      graph.outerDirectory.map { $0.chain.flatMap { $0.directory.names.keys } } ?? [])
    guard let near = known.filter({ EditDistance.isSmall($0, id) }).min() else { return inactive }
    return "\(inactive); did you mean '\(near)'?"
  }

  // MARK: aliases

  /// Takes the names of the active aliases and decides which are private. Aliases may name each other in any order.
  mutating func nameAliases() -> [NamedAlias] {
    let all = graph.active.aliases
    if all.isEmpty { return [] }
    var named = all.map { NamedAlias($0.name, $0) }
    var isComplete = false
    while !isComplete {
      isComplete = true
      for (index, alias) in all.enumerated() where named[index].name == alias.name {
        guard let module = alias.module, name(alias.target, from: module) != alias.target else { continue }
        named[index].name = IncludedModule.name(alias.name, privateTo: module.key)
        add(named[index])
        isComplete = false
      }
    }
    for (index, alias) in all.enumerated() where named[index].name == alias.name { add(named[index]) }
    return named
  }

  /// Adds a named alias. Keeps an existing bean or an earlier alias of that name.
  private mutating func add(_ named: NamedAlias) {
    if names[named.name] == nil, aliases[named.name] == nil { aliases[named.name] = named.alias }
  }

  /// Returns the name that an id has inside a module, where private names come first.
  private func name(_ id: String, from module: IncludedModule?) -> String {
    guard let module else { return id }
    // A factory behind a product is entered after its product, so the name of the product decides.
    let plain = IncludedModule.name(id.hasPrefix("&") ? String(id.dropFirst()) : id, privateTo: module.key)
    let isPrivate =
      names[plain] != nil || aliases[plain] != nil || graph.outerDirectory?.find(id: plain) != nil
    return isPrivate ? IncludedModule.name(id, privateTo: module.key) : id
  }

  /// Enters aliases among the ids, so that lookups by id find them. Returns the names that are not private.
  mutating func enter(
    _ all: [NamedAlias], _ specs: [FrozenSpec], _ faults: inout [EnvironmentError]
  ) -> [String] {
    var entered: [(NamedAlias, target: String, BeanDirectory.Name)] = []
    var circles: Set<Set<String>> = []
    var seen: Set<String> = []
    for (name, alias) in all {
      let first = seen.insert(name).inserted ? nil : aliases[name]?.location
      if let earlier = location(of: name, specs) ?? first {
        faults.append(fault(alias, .duplicateId, "the id '\(alias.name)' is taken by \(earlier.origin)"))
        continue
      }
      guard let target = end(of: alias) else {
        // One report for all aliases that lead to the same circle.
        let circle = circle(of: alias)
        if circles.insert(Set(circle)).inserted {
          let drawn = circle.map { "'\($0)'" }.joined(separator: " → ")
          faults.append(fault(alias, .circleOfAliases, "aliases name each other: \(drawn); let one name a bean"))
        }
        enterFaulty(name, alias)
        continue
      }
      guard let found = names[target] ?? graph.outerDirectory?.find(id: target)?.name else {
        let id = IncludedModule.id(named: target)
        faults.append(fault(alias, .unknownId, "no bean has the id '\(id)'\(hint(forId: id, from: alias.module))"))
        enterFaulty(name, alias)
        continue
      }
      entered.append(((name, alias), target, found))
    }
    let names = entered.flatMap { named, target, found in enter(named, target, found) }
    return names.filter { !IncludedModule.isPrivate(name: $0) }
  }

  /// Enters an alias that names no bean, so that references to it cause no further faults.
  private mutating func enterFaulty(_ name: String, _ alias: EnvironmentDeclarations.Alias) {
    locations[name] = alias.location
    names[name] = BeanDirectory.Name()
  }

  /// Enters an alias of a bean, and of the factory behind it. A bean further out is found there, by its own id.
  private mutating func enter(_ named: NamedAlias, _ target: String, _ found: BeanDirectory.Name) -> [String] {
    func add(_ name: String, _ target: String, _ found: BeanDirectory.Name) {
      locations[name] = named.alias.location
      names[name] = names[target] == nil ? BeanDirectory.Name(outer: target) : found
    }
    add(named.name, target, found)
    guard let factory = names["&\(target)"] ?? graph.outerDirectory?.find(id: "&\(target)")?.name else {
      return [named.name]
    }
    add("&\(named.name)", "&\(target)", factory)
    return [named.name, "&\(named.name)"]
  }

  /// Returns the id to which an alias leads; the id itself if it is no alias, or one of a circle.
  func target(of id: String) -> String { aliases[id].flatMap { end(of: $0) } ?? id }

  /// Returns the id at the end of a chain of aliases; nil if the chain is circular.
  private func end(of alias: EnvironmentDeclarations.Alias) -> String? {
    var seen: Set<String> = []
    var id = name(alias.target, from: alias.module)
    while let next = aliases[id] {
      guard seen.insert(id).inserted else { return nil }
      id = name(next.target, from: next.module)
    }
    return id
  }

  /// Returns the aliases that name each other, with the first one repeated at the end.
  private func circle(of alias: EnvironmentDeclarations.Alias) -> [String] {
    var chain = [alias.name]
    var seen: Set = [alias.name]
    var id = alias.target
    while seen.insert(id).inserted, let next = aliases[id] {
      chain.append(id)
      id = next.target
    }
    return chain.drop { $0 != id } + [id]
  }

  private func fault(
    _ alias: EnvironmentDeclarations.Alias, _ cause: FaultCause, _ message: String
  ) -> EnvironmentError {
    EnvironmentError(cause: cause, message, path: ["'\(alias.name)'"], origin: alias.location.origin)
  }
}
