import BeansReflection
import BeansSupport

/// The beans that one environment declares, by number, type and id, as lookups and faults name them.
///
/// Frozen before the first dependency is resolved, and kept by the plan: dependencies at startup and lookups that nobody
/// foresaw are selected by the same rules.
final class BeanDirectory: Sendable {
  struct Entry: Sendable {
    let type: Any.Type
    let id: String?
    let lifetime: Lifetime
    let isPrimary: Bool
    /// A seed answers to exactly its own type and is nobody's bean.
    let isSeed: Bool
    /// Whether the object is made by a factory bean, which has an entry of its own.
    let isMade: Bool
    let location: SourceLocation

    /// How the bean is named in paths.
    var label: String { Self.label(type, id) }

    static func label(_ type: Any.Type, _ id: String?) -> String { id.map { "\(type) '\($0)'" } ?? "\(type)" }

    func fault(_ code: EnvironmentError.Code, _ message: String, path: [String] = []) -> EnvironmentError {
      EnvironmentError(code, message, path: path.isEmpty ? [label] : path, origin: location.origin)
    }
  }

  /// What an id stands for: a bean, or a declaration that is none.
  struct Name: Sendable {
    /// nil for a template, and for a declaration at fault.
    var entry: Int32?
    var isAbstract = false
    /// The id that an alias stands for, where that is declared further out.
    var outer: String?
    let location: SourceLocation
  }

  let name: String
  /// The scope that its environments open; nil for an environment that is no child of a factory.
  let scopeName: String?
  let parent: BeanDirectory?
  let entries: [Entry]
  /// Aliases included.
  let names: [String: Name]
  /// By the number of a declaration.
  let declared: [Int: Int32]
  private let byType: [ObjectIdentifier: [Int32]]

  init(
    name: String, scopeName: String?, parent: BeanDirectory?, entries: [Entry], names: [String: Name],
    declared: [Int: Int32]
  ) {
    self.name = name
    self.scopeName = scopeName
    self.parent = parent
    self.entries = entries
    self.names = names
    self.declared = declared
    var byType: [ObjectIdentifier: [Int32]] = [:]
    byType.reserveCapacity(entries.count)
    for (number, entry) in entries.enumerated() {
      byType[ObjectIdentifier(entry.type), default: []].append(Int32(number))
      var next: AnyClass? = entry.isSeed ? nil : (entry.type as? AnyClass).flatMap { _getSuperclass($0) }
      while let type = next {
        byType[ObjectIdentifier(type), default: []].append(Int32(number))
        next = _getSuperclass(type)
      }
    }
    self.byType = byType
  }

  /// A bean of this directory or of one further out.
  struct Found: Sendable {
    let directory: BeanDirectory
    let number: Int32
    let hops: Int

    var entry: Entry { directory.entries[Int(number)] }
  }

  /// This directory and those further out, nearest first, with their distance.
  var chain: some Sequence<(directory: BeanDirectory, hops: Int)> {
    sequence(state: (Optional(self), 0)) { state -> (directory: BeanDirectory, hops: Int)? in
      guard let directory = state.0 else { return nil }
      defer { state = (directory.parent, state.1 + 1) }
      return (directory, state.1)
    }
  }

  /// All types that beans here answer to as classes, or as what they are declared with.
  var types: [Any.Type] {
    var seen: Set<ObjectIdentifier> = []
    return entries.flatMap { entry in
      let classes = entry.isSeed ? [] : TypeRelation.classes(of: entry.type)
      return (classes.isEmpty ? [entry.type] : classes.map { $0 as Any.Type }).filter {
        seen.insert(ObjectIdentifier($0)).inserted
      }
    }
  }

  // MARK: by type

  /// Beans declared here that can be used as `type`, in order of definition; the seed only by its own type.
  func candidates(for type: Any.Type) -> [Int32] {
    let exact = byType[ObjectIdentifier(type)] ?? []
    guard TypeRelation.isExistential(type) else { return exact }
    // What is declared as exactly that type is among them.
    guard let wanted = ProtocolType(type) else { return exact }
    return entries.indices.filter {
      entries[$0].type == type || !entries[$0].isSeed && wanted.isMet(by: entries[$0].type)
    }.map { Int32($0) }
  }

  /// The bean for a type: the nearest environment that has any candidate decides.
  func select(
    _ type: Any.Type, _ candidates: (BeanDirectory) -> [Int32]
  ) throws(EnvironmentError) -> Found? {
    for (home, hops) in chain {
      var found = candidates(home)
      if hops > 0, !found.isEmpty { found.removeAll { hides(home.entries[Int($0)], hops: hops) } }
      if found.count > 1 { found = try home.narrow(found, to: type) }
      if let only = found.first { return Found(directory: home, number: only, hops: hops) }
    }
    return nil
  }

  /// The one of several that is meant.
  private func narrow(_ candidates: [Int32], to type: Any.Type) throws(EnvironmentError) -> [Int32] {
    let exact = candidates.filter { entries[Int($0)].type == type }
    let best = exact.isEmpty ? candidates : exact
    if best.count < 2 { return best }
    let primary = best.filter { entries[Int($0)].isPrimary }
    if primary.count == 1 { return primary }
    let list = best.map { "\(entries[Int($0)].label) (\(entries[Int($0)].location.origin))" }
      .joined(separator: ", ")
    throw EnvironmentError(
      .ambiguousBean,
      "\(best.count) beans answer to \(type)\(primary.isEmpty ? "" : ", \(primary.count) of them primary"): \(list); "
        + "make one primary, or ask by id", path: ["\(type)"])
  }

  /// Whether a nearer environment than the one `hops` out uses the bean's id for something else.
  func hides(_ entry: Entry, hops: Int) -> Bool {
    guard hops > 0, let id = entry.id else { return false }
    return chain.prefix(hops).contains { $0.directory.names[id] != nil }
  }

  // MARK: by id

  /// The nearest environment's word on an id.
  func find(id: String) -> (name: Name, directory: BeanDirectory, hops: Int)? {
    for (directory, hops) in chain {
      guard let name = directory.names[id] else { continue }
      guard let outer = name.outer else { return (name, directory, hops) }
      return directory.parent?.find(id: outer).map { ($0.name, $0.directory, $0.hops + hops + 1) }
    }
    return nil
  }

  /// The bean with that id.
  func bean(id: String) throws(EnvironmentError) -> Found {
    guard let (name, directory, hops) = find(id: id) else {
      throw EnvironmentError(.unknownBean, "no bean has the id '\(id)'\(hint(forId: id))", path: ["'\(id)'"])
    }
    if let number = name.entry { return Found(directory: directory, number: number, hops: hops) }
    let reason = name.isAbstract ? "is abstract: a template, not a bean" : "is at fault itself"
    throw EnvironmentError(.unknownBean, "'\(id)' \(reason)", path: ["'\(id)'"], origin: name.location.origin)
  }

  /// The bean of a declaration.
  func bean(declared number: Int) -> Found? {
    for (directory, hops) in chain {
      if let entry = directory.declared[number] { return Found(directory: directory, number: entry, hops: hops) }
    }
    return nil
  }

  /// "; did you mean …" for an id that is almost one.
  func hint(forId id: String) -> String {
    let known = chain.flatMap { $0.directory.names.keys }
    guard let near = known.filter({ EditDistance.isSmall($0, id) }).min() else { return "" }
    return "; did you mean '\(near)'?"
  }
}

/// How long a bean lives, as the graph compares it.
enum Lifetime: Sendable, Equatable {
  case singleton
  case prototype
  /// As long as the children of a factory, or as a user's scope decides: which of them, the environments tell.
  case scope(String)

  init(_ name: String) {
    self =
      switch name {
      case "singleton": .singleton
      case "prototype": .prototype
      default: .scope(name)
      }
  }

  var name: String {
    switch self {
    case .singleton: "singleton"
    case .prototype: "prototype"
    case .scope(let name): name
    }
  }

  /// Names that no scope of a user's or a factory's may have.
  static func isBuiltIn(_ name: String) -> Bool { name == "singleton" || name == "prototype" }

  /// Names that always belong to the children of some factory, which may be declared by an environment further in.
  static func isFactoryScope(_ name: String) -> Bool { name == "request" || name == "session" }
}
