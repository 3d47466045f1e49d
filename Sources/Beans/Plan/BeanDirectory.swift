import BeansReflection
import BeansErrors
import Synchronization

/// The beans that one environment declares, by number, type and id, for lookups and faults.
///
/// It is frozen before the first dependency is resolved, and the plan keeps it: dependencies at startup and unforeseen
/// lookups are selected by the same rules.
final class BeanDirectory: NestedLevel, Sendable {
  let name: String
  /// The scope that the environments open; nil for an environment that is no child of a factory.
  let scopeName: String?
  let parent: BeanDirectory?
  let depth: Int
  let shortcut: BeanDirectory?
  let beans: [BeanDefinition]
  private let home: Unretained<DeclaredBeans>
  /// The union of the traits of the beans, without the seed.
  let traits: BeanTraits
  /// The meanings of all ids, aliases included.
  let ids: [BeanId: Meaning]
  /// The depths of ids, here and further out.
  private let nearestIds: NearestNames<BeanId, Meaning>?
  /// The depths of factories' scopes, here and further out.
  private let nearestScopes: NearestNames<String, Bool>?
  /// Additional ids of beans.
  let aliases: [String]
  /// The numbers of declarations, in their order, with the numbers of their beans; -1 for a declaration without one.
  private let declared: [(number: Int, bean: Int32)]
  /// The elements of `declared`, in ascending order of numbers.
  private let sorted: [(number: Int, bean: Int32)]
  /// Declarations that have an id and no bean, by their index in `declared`.
  let unbuilt: [Int32: Unbuilt]
  /// The outermost decorators of beans, by bean and requested type.
  private let decorators: [SearchKey: Int32]
  /// Whether a bean has a decorator, here or further out.
  let hasDecorators: Bool
  /// Whether a bean receives events, here or further out.
  let hasListeners: Bool
  /// The union of the traits of the beans, here and further out.
  let visibleTraits: BeanTraits
  /// Whether some beans are private to a module.
  let hasPrivateBeans: Bool
  /// Beans that receive events, in order.
  let listeners: [Int32]
  /// Inactive declarations, for hints.
  let inactive: [InactiveDeclaration]
  /// The types of the beans here, with their superclasses.
  let types: [Any.Type]
  private let byType: [ObjectIdentifier: [Int32]]
  private let existingTypeIndex = AtomicLazyReference<ConformanceIndex>()

  init(
    name: String, scopeName: String?, parent: BeanDirectory?, beans: [BeanDefinition], home: DeclaredBeans,
    ids: [BeanId: Meaning],
    aliases: [String] = [], declared: [(number: Int, bean: Int32)] = [],
    unbuilt: [Int32: Unbuilt] = [:], inactive: [InactiveDeclaration] = [],
    decorators: [SearchKey: Int32] = [:], listeners: [Int32] = []
  ) {
    self.name = name
    self.scopeName = scopeName
    self.parent = parent
    depth = parent.map { $0.depth + 1 } ?? 0
    shortcut = BeanDirectory.shortcut(below: parent)
    self.beans = beans
    self.home = Unretained(home)
    self.ids = ids
    nearestIds = .index(ids, depth: depth, outer: parent?.nearestIds)
    nearestScopes = .index(scopeName.map { [$0: true] } ?? [:], depth: depth, outer: parent?.nearestScopes)
    self.aliases = aliases
    traits = beans.reduce(into: []) { if $1.isCandidate { $0.formUnion($1.traits) } }
    hasPrivateBeans = beans.contains { $0.privateTo != nil }
    let isSorted = zip(declared, declared.dropFirst()).allSatisfy { $0.number < $1.number }
    self.declared = declared
    self.sorted = if isSorted { declared } else { declared.sorted { $0.number < $1.number } }
    self.unbuilt = unbuilt
    self.inactive = inactive
    self.decorators = decorators
    self.listeners = listeners
    hasDecorators = !decorators.isEmpty || parent?.hasDecorators == true
    hasListeners = !listeners.isEmpty || parent?.hasListeners == true
    visibleTraits = traits.union(parent?.visibleTraits ?? [])
    (types, byType) = Self.index(beans)
  }

  private static func index(_ beans: [BeanDefinition]) -> (types: [Any.Type], byType: [ObjectIdentifier: [Int32]]) {
    var types: [Any.Type] = []
    var byType: [ObjectIdentifier: [Int32]] = [:]
    func add(_ run: Range<Int>, to type: Any.Type) {
      if byType[ObjectIdentifier(type), default: []].isEmpty { types.append(type) }
      byType[ObjectIdentifier(type), default: []].append(contentsOf: run.lazy.map { Int32($0) })
    }
    var start = 0
    while start < beans.count {
      // Beans of one type are often consecutive.
      let bean = beans[start]
      if bean.isDecorator {
        start += 1
        continue
      }
      let end = beans[start...].firstIndex { !$0.isLike(bean) } ?? beans.count
      add(start..<end, to: bean.type)
      var next: AnyClass? = if bean.isSeed { nil } else { (bean.type as? AnyClass).flatMap { _getSuperclass($0) } }
      while let type = next {
        add(start..<end, to: type)
        next = _getSuperclass(type)
      }
      start = end
    }
    return (types, byType)
  }

  /// The declarations, which the environment that has compiled them drops at its end. For compilations.
  var declarations: DeclaredBeans { home.object }

  /// Whether the bean is declared here.
  func declares(_ bean: BeanDefinition) -> Bool {
    beans.indices.contains(Int(bean.number)) && beans[Int(bean.number)] === bean
  }

  /// Returns a bean of this directory or of one further out, as seen from here.
  func found(_ number: Int32, in home: BeanDirectory) -> Found {
    Found(directory: home, number: number, hops: max(0, depth - home.depth))
  }

  /// The beans that children of factories build anew: prototypes, and beans that name another scope than the usual one.
  var inheritable: [Found] {
    let usual = Lifetime(scopeName ?? "singleton")
    return beans.filter { $0.lifetime != .singleton && $0.lifetime != usual }.map { found($0.number, in: self) }
  }

  /// Returns the number of levels to the environment that opens a factory's scope of that name; nil if none does.
  func hops(toScope name: String) -> Int? { nearestScopes?.depth(of: name).map { depth - $0 } }

  /// This directory and those further out, nearest first, with their distance.
  var chain: some Sequence<(directory: BeanDirectory, hops: Int)> {
    zip(sequence(first: self, next: \.parent), 0...).lazy.map { (directory: $0, hops: $1) }
  }

  // MARK: by type

  /// Returns the beans declared here that can be used as `type`, in order of definition; the seed only for its own
  /// type.
  func candidates(for type: Any.Type) -> [Int32] {
    let exact = byType[ObjectIdentifier(type)] ?? []
    guard TypeRelation.isExistential(type) else { return exact }
    // They include the beans declared as exactly that type.
    guard let wanted = ProtocolType(type) else { return exact }
    func isCandidate(_ number: Int32) -> Bool {
      let bean = beans[Int(number)]
      return !bean.isDecorator && bean.type == type || bean.isCandidate && wanted.isMet(by: bean.type)
    }
    guard let conforming = typeIndex.value.positions(of: wanted) else {
      return beans.map(\.number).filter(isCandidate)
    }
    return (exact.isEmpty ? conforming : Set(conforming).union(exact).sorted()).filter(isCandidate)
  }

  /// The beans by the conformances of their types, made at the first lookup of a protocol.
  private var typeIndex: ConformanceIndex {
    existingTypeIndex.load() ?? existingTypeIndex.storeIfNil(ConformanceIndex(TypeIndex(beans.lazy.map(\.type))))
  }

  private final class ConformanceIndex: Sendable {
    let value: TypeIndex

    init(_ value: TypeIndex) { self.value = value }
  }

  // MARK: decorators

  /// Returns the outermost decorator of the bean for exactly that type, as seen from here; the bean itself if there is
  /// none.
  @inline(__always)
  func decorated(_ bean: Found, as type: Any.Type) -> Found {
    if hasDecorators { findDecorator(of: bean, as: type) } else { bean }
  }

  @inline(never)
  private func findDecorator(of bean: Found, as type: Any.Type) -> Found {
    let key = SearchKey(bean.definition, as: type)
    for (directory, hops) in chain.prefix(bean.hops + 1) {
      if let number = directory.decorators[key] { return Found(directory: directory, number: number, hops: hops) }
    }
    return bean
  }

  /// Returns the bean for a type. The nearest environment that has any candidate decides.
  func select(
    _ type: Any.Type, _ criteria: Criteria = Criteria(), _ memory: CandidateMemory? = nil
  ) throws(EnvironmentError) -> Found? {
    let (found, rivals) = choose(type, criteria, memory)
    if let found, !rivals.isEmpty { throw found.directory.ambiguity(rivals, type, criteria) }
    return found
  }

  /// Returns the bean for a type, and all beans that match the type equally well.
  func choose(
    _ type: Any.Type, _ criteria: Criteria = Criteria(), _ memory: CandidateMemory? = nil
  ) -> (found: Found?, rivals: [Int32]) {
    var next = Optional(self)
    while let (directory, candidates) = next?.nearestLevel(with: type, memory) {
      let hops = depth - directory.depth
      var found = candidates
      if directory.hasPrivateBeans || criteria.qualifier != nil {
        found.removeAll { !directory.beans[Int($0)].meets(criteria) }
      }
      if hops > 0, !found.isEmpty { found.removeAll { hides(directory.beans[Int($0)], hops: hops) } }
      if found.count > 1 { found = directory.narrow(found, to: type, from: criteria.module) }
      if let only = found.first {
        return (Found(directory: directory, number: only, hops: hops), found.count > 1 ? found : [])
      }
      next = directory.parent
    }
    return (nil, [])
  }

  /// Returns the preferred candidate; several if none is preferred.
  private func narrow(_ candidates: [Int32], to type: Any.Type, from module: ObjectIdentifier?) -> [Int32] {
    // A bean that is private to the module is nearer to it than a public one.
    if module != nil {
      let own = candidates.filter { beans[Int($0)].privateTo != nil }
      if !own.isEmpty, own.count < candidates.count { return narrow(own, to: type, from: nil) }
    }
    let exact = candidates.filter { beans[Int($0)].type == type }
    let best = if exact.isEmpty { candidates } else { exact }
    let primary = best.filter { beans[Int($0)].isPrimary }
    return if primary.count == 1 { primary } else { best }
  }

  private func ambiguity(_ rivals: [Int32], _ type: Any.Type, _ criteria: Criteria) -> EnvironmentError {
    let beans = rivals.map { self.beans[Int($0)] }
    let primary = beans.filter(\.isPrimary)
    func list(_ beans: [BeanDefinition]) -> String {
      beans.map { "\($0.label) (\($0.location.origin))" }.joined(separator: ", ")
    }
    let tag = criteria.tag.map { " with qualifier \($0)" } ?? ""
    if !primary.isEmpty {
      return EnvironmentError(
        cause: .severalPrimary,
        "\(primary.count) of \(beans.count) beans\(tag) that match \(type) are primary: \(list(primary)); "
          + "leave primary() at one of them, or ask by id", path: ["\(type)"])
    }
    return EnvironmentError(
      cause: .ambiguousBean,
      "\(beans.count) beans\(tag) match \(type): \(list(beans)); make one primary, or ask by id"
        + hint { $0.isPrimary && $0.answers(to: type, criteria) }, path: ["\(type)"])
  }

  /// Whether an environment nearer than the one `hops` steps out uses the bean's id for another declaration.
  func hides(_ bean: BeanDefinition, hops: Int) -> Bool {
    guard hops > 0, let id = bean.beanId else { return false }
    return isTaken(id, before: hops)
  }

  /// Whether an environment nearer than the one `hops` steps out uses the id.
  func isTaken(_ id: BeanId, before hops: Int) -> Bool {
    nearestIds?.depth(of: id).map { depth - $0 < hops } ?? false
  }

  // MARK: by id

  /// Returns the nearest meaning of an id. Ids that are private to the module have precedence.
  func find(id: String, from module: ObjectIdentifier?) -> (meaning: Meaning, directory: BeanDirectory, hops: Int)? {
    module.flatMap { find(BeanId(id, privateTo: $0)) } ?? find(BeanId(id))
  }

  /// Returns the nearest meaning of an id.
  func find(_ id: BeanId) -> (meaning: Meaning, directory: BeanDirectory, hops: Int)? {
    if let meaning = ids[id] {
      if case .outer = meaning {} else { return (meaning, self, 0) }
    }
    var (id, next) = (id, Optional(self))
    while let depth = next?.nearestIds?.depth(of: id), let directory = ancestor(self.depth - depth),
      let meaning = directory.ids[id]
    {
      guard case .outer(let outer) = meaning else { return (meaning, directory, self.depth - depth) }
      (id, next) = (outer, directory.parent)
    }
    return nil
  }

  /// Whether a declaration of this directory has the id.
  func has(id: String, from module: ObjectIdentifier?) -> Bool {
    ids[BeanId(id)] != nil || module.map { ids[BeanId(id, privateTo: $0)] != nil } == true
  }

  /// Returns the bean with that id.
  func bean(
    id: String, from module: ObjectIdentifier? = nil, hasHints: Bool = true
  ) throws(EnvironmentError) -> Found {
    // Usually the bean is declared here.
    if module == nil, let position = ids[BeanId(id)]?.position, declared[position].bean >= 0 {
      return Found(directory: self, number: declared[position].bean, hops: 0)
    }
    guard let (meaning, directory, hops) = find(id: id, from: module) else {
      throw unknownId(id, hint { $0.hasId(id, from: module) }, hasHints: hasHints)
    }
    let number: Int32 =
      switch meaning {
      case .declaration(let position): directory.declared[Int(position)].bean
      case .factory(let number): number
      case .outer, .nothing: -1
      }
    if number >= 0 { return Found(directory: directory, number: number, hops: hops) }
    let unbuilt = meaning.position.flatMap { directory.unbuilt[Int32($0)] }
    var (cause, message) = (FaultCause.unknownBean, "the declaration of '\(id)' has errors of its own")
    if unbuilt?.isAbstract == true {
      (cause, message) = (.onlyTemplate, "'\(id)' is abstract: a template, not a bean")
    }
    throw EnvironmentError(cause: cause, message, path: ["'\(id)'"], origin: unbuilt?.location.origin)
  }

  /// Returns the bean of a declaration.
  func bean(declared number: Int) -> Found? {
    for (directory, hops) in chain {
      guard let bean = directory.number(declared: number) else { continue }
      return Found(directory: directory, number: bean, hops: hops)
    }
    return nil
  }

  /// Whether the declaration exists here or further out, as a bean, as a template or with errors.
  func isDeclared(_ number: Int) -> Bool { chain.contains { $0.directory.position(declared: number) != nil } }

  /// Returns the number of the bean of a declaration of this directory.
  func number(declared number: Int) -> Int32? {
    guard let position = position(declared: number), sorted[position].bean >= 0 else { return nil }
    return sorted[position].bean
  }

  private func position(declared number: Int) -> Int? {
    // Declarations usually have consecutive numbers.
    let usual = number - (sorted.first?.number ?? 0)
    if sorted.indices.contains(usual), sorted[usual].number == number { return usual }
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return if low < sorted.count && sorted[low].number == number { low } else { nil }
  }
}
