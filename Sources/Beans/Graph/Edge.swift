/// One dependency, connected: where an argument comes from when the time has come.
@usableFromInline
final class Edge: @unchecked Sendable {  // immutable
  enum Source {
    /// A bean, so many environments further out.
    case bean(Recipe, hops: Int)
    /// All beans of the type.
    case all([(recipe: Recipe, hops: Int)])
    /// An optional without a bean.
    case absent
    case provider(id: String?)
    case environment
    /// What a factory bean makes its products with.
    case assembly(Recipe)
    case configuration
    /// A value given in the declaration.
    case fixed(FixedValue)
    /// A collection of which at least one element is a bean.
    case composed(Composition)
    /// What the `Injection` of that kind computes for the property.
    case computed(Inject, PropertyDescriptor)
  }

  let dependency: Dependency
  /// nil for a single bean: that is `recipe`.
  private let other: Source?
  /// How a single bean is read without conversion; nil where it has to be converted.
  let direct: Argument.Access?
  /// How a single bean in a slot is read as a protocol type, if its class is the one that startup expects.
  let form: ExistentialForm?
  /// Of a single bean, which stands
  let recipe: Recipe?
  /// in this slot, or -1,
  var slot: Int { Int(slotNumber) }
  /// so many environments further out.
  var hops: Int { Int(distance) }
  // Memory holds fewer of either.
  private let slotNumber: Int32
  private let distance: Int32
  /// The recipe of a bean that is made anew each time.
  let prototype: Unmanaged<Recipe>?
  /// That slot, where it stands in a plain environment that has started.
  let fixed: UnsafeMutablePointer<Slot>?

  init(_ dependency: Dependency, _ source: Source, asked id: String? = nil) {
    self.asked = id
    self.askedWords = StringWords(id)
    self.dependency = dependency
    if case .bean(let recipe, let hops) = source {
      self.direct = Self.direct(dependency, recipe)
      self.form = direct == nil ? Self.form(dependency, recipe) : nil
      self.other = nil
      self.recipe = recipe
      self.slotNumber = Int32(truncatingIfNeeded: recipe.slot)
      self.distance = Int32(truncatingIfNeeded: hops)
      if case .prototype = recipe.kind { prototype = .passUnretained(recipe) } else { prototype = nil }
      self.fixed = recipe.fixedSlot
    } else {
      self.direct = nil
      self.form = nil
      self.other = source
      self.recipe = nil
      self.slotNumber = -1
      self.distance = 0
      self.fixed = nil
      self.prototype = nil
    }
  }

  var source: Source {
    if let recipe { return .bean(recipe, hops: hops) }
    // There is one where there is no recipe.
    return other ?? .absent
  }

  /// Of a lookup by id: what it was asked for.
  private let asked: String?
  private let askedWords: StringWords

  /// Whether this is the edge of a lookup by that type and id.
  @inline(__always)
  func isAnswer(to type: ObjectIdentifier, _ id: String) -> Bool {
    // Strings of the same words are equal: both are small, or they share their text, which `asked` holds.
    (askedWords == StringWords(id) || asked == id) && ObjectIdentifier(dependency.wanted) == type
  }

  /// The beans that must exist before the edge can be followed.
  var recipes: [Recipe] {
    var found: [Recipe] = []
    forEachRecipe { found.append($0) }
    return found
  }

  /// The same, one after the other.
  @inline(__always)
  func forEachRecipe(_ body: (Recipe) -> Void) {
    if let recipe { body(recipe) } else { forEachOfSeveral(body) }
  }

  @inline(never)
  private func forEachOfSeveral(_ body: (Recipe) -> Void) {
    switch other {
    case .all(let targets): targets.forEach { body($0.recipe) }
    case .composed(let composition): composition.parts.forEach { $0.recipe.map(body) ?? $0.forEachOfSeveral(body) }
    case nil, .bean, .absent, .provider, .environment, .configuration, .fixed, .computed, .assembly: break
    }
  }

  private static func form(_ dependency: Dependency, _ recipe: Recipe) -> ExistentialForm? {
    guard recipe.slot >= 0, case .one = dependency.shape,
      recipe.definition.isClass, let identity = recipe.identity
    else { return nil }
    return ExistentialForm(dependency.wanted, for: identity)
  }

  private static func direct(_ dependency: Dependency, _ recipe: Recipe) -> Argument.Access? {
    if dependency.isReference && recipe.definition.isClass { return .reference }
    // A struct or existential looked up as exactly the type it is declared with stands in its box already.
    return recipe.definition.type == dependency.wanted ? .boxed : nil
  }
}
