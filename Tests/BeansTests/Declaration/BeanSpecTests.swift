import Testing

@testable import Beans

/// Each field of a spec, and the copies that keep it.
@Suite struct BeanSpecTests {
  struct Copies: OptionSet, Sendable {
    let rawValue: Int
    /// The declaration that inherits from a template.
    static let template = Copies(rawValue: 1)
    /// The product of a factory bean.
    static let product = Copies(rawValue: 2)
    /// The bean of a test that replaces the original one.
    static let replacement = Copies(rawValue: 4)
  }

  struct Field: CustomTestStringConvertible, Sendable {
    let name: String
    let copies: Copies
    let set: @Sendable (inout BeanSpec) -> Void
    let isSet: @Sendable (BeanSpec) -> Bool

    init(
      _ name: String, _ copies: Copies, _ set: @escaping @Sendable (inout BeanSpec) -> Void,
      _ isSet: @escaping @Sendable (BeanSpec) -> Bool
    ) {
      (self.name, self.copies, self.set, self.isSet) = (name, copies, set, isSet)
    }

    var testDescription: String { name }
  }

  private final class Part {}
  private struct Content: BeanModule {
    func configure(_ environment: Environment) throws {}
  }

  private static let location = SourceLocation(file: "Tests/Here.swift", line: 7)
  private static func factory() -> FactoryFunction { FactoryFunction(parameters: []) { _ in Part() } }
  private static func callback() -> BeanCallback { BeanCallback { (_: Part, _) in } }
  private static func module() -> IncludedModule { IncludedModule(Content.self, .none, nil) }

  static let fields: [Field] = [
    Field("id", [.product, .replacement], { $0.id = "a" }, { $0.id == "a" }),
    // The compiler itself passes the lifetime of a product on.
    Field("scopeName", [.template, .replacement], { $0.scopeName = "own" }, { $0.scopeName == "own" }),
    Field("isLazy", [.template, .product, .replacement], { $0.isLazy = true }, { $0.isLazy == true }),
    Field("isAbstract", [], { $0.isAbstract = true }, { $0.isAbstract }),
    Field("isPrimary", [.product, .replacement], { $0.isPrimary = true }, { $0.isPrimary }),
    // The resolver takes the flag together with the type.
    Field("isSendable", [], { $0.isSendable = true }, { $0.isSendable }),
    Field("isDecorator", [], { $0.isDecorator = true }, { $0.isDecorator }),
    Field("location", .product, { $0.location = location }, { $0.location.origin == location.origin }),
    // The resolver chooses among all templates.
    Field("factory", [], { $0.factory = factory() }, { $0.factory != nil }),
    Field("initializer", [], { $0.initializer = factory() }, { $0.initializer != nil }),
    Field("arguments", .template, { $0.arguments = [(1, .reference("a"))] }, { $0.argument(1) != nil }),
    Field(
      "properties", .template, { $0.properties = [PropertyInjection(.text("part"), .reference("a"))] },
      { !$0.properties.isEmpty }),
    Field(
      "postConstructs", .template, { $0.rare.postConstructs = [callback()] }, { !$0.rare.postConstructs.isEmpty }),
    Field("onDestroys", .template, { $0.rare.onDestroys = [callback()] }, { !$0.rare.onDestroys.isEmpty }),
    // Rarely used settings.
    Field("template", [], { $0.template = "a" }, { $0.template == "a" }),
    Field("instance", .template, { $0.instance = InstanceHolder(Part()) }, { $0.instance != nil }),
    Field("target", .template, { $0.target = Part.self }, { $0.target == Part.self }),
    Field("isTargetSendable", .template, { $0.isTargetSendable = true }, { $0.isTargetSendable }),
    Field(
      "requirements", .template, { $0.rare.requirements = [(.requirement(Any.self), .reference("a"))] },
      { !$0.rare.requirements.isEmpty }),
    Field("stated", [], { $0.rare.stated = [Any.self] }, { !$0.rare.stated.isEmpty }),
    Field("module", [.product, .replacement], { $0.rare.module = module() }, { $0.rare.module != nil }),
    Field("isPrivate", [.product, .replacement], { $0.rare.isPrivate = true }, { $0.rare.isPrivate }),
    Field(
      "qualifiers", [.product, .replacement], { $0.rare.qualifiers = [Part.self] }, { !$0.rare.qualifiers.isEmpty }),
    Field("conditions", .product, { $0.rare.conditions = [.missing(Part.self)] }, { !$0.rare.conditions.isEmpty }),
    Field(
      "listeners", .template, { $0.rare.listeners = [EventHandler { (_: Part, _: Int) in }] },
      { !$0.rare.listeners.isEmpty }),
    Field("works", .template, { $0.rare.works = [NoWork()] }, { !$0.rare.works.isEmpty }),
    Field(
      "restarts", [.template, .product],
      { $0.rare.restarts = RestartPolicy(delay: .seconds(1), longest: .seconds(2), limit: 3) },
      { $0.rare.restarts?.limit == 3 }),
    Field(
      "sharing", [.template, .product], { $0.rare.sharing = "loop" }, { $0.rare.sharing == "loop" }),
    Field(
      "releaseLimit", [.template, .product], { $0.rare.releaseLimit = .seconds(1) },
      { $0.rare.releaseLimit == .seconds(1) }),
    Field(
      "isExternallyOwned", [.template, .product], { $0.rare.isExternallyOwned = true },
      { $0.rare.isExternallyOwned }),
    Field("faults", [], { $0.rare.faults = [(.releaseLimit, "a")] }, { !$0.rare.faults.isEmpty }),
  ]

  private let plain = BeanSpec(
    type: Part.self, id: nil, location: SourceLocation(file: "Tests/Elsewhere.swift", line: 1))

  @Test func theTableContainsEachField() {
    let names =
      Mirror(reflecting: plain).children.compactMap(\.label)
      + Mirror(reflecting: BeanSpec.Options()).children.compactMap(\.label)
    // The fields that a copy sets itself, and the box of rarely used settings.
    #expect(Set(Self.fields.map(\.name)).union(["number", "type", "options"]) == Set(names))
  }

  @Test(arguments: fields) func copiesKeepTheField(_ field: Field) {
    #expect(!field.isSet(plain))
    var spec = plain
    field.set(&spec)
    #expect(field.isSet(spec))
    #expect(!field.isSet(plain), "a copy changes its original")
    #expect(spec.number == plain.number)

    var heir = BeanSpec(type: Part.self, id: nil, location: plain.location)
    heir.inherit(spec)
    #expect(field.isSet(heir) == field.copies.contains(.template))
    #expect(heir.number != spec.number)

    let product = spec.product(Int.self)
    #expect(field.isSet(product) == field.copies.contains(.product))
    #expect(product.type == Int.self)

    let replacement = spec.replacement(Part.self, at: plain.location)
    #expect(field.isSet(replacement) == field.copies.contains(.replacement))
    #expect(replacement.number != spec.number)
  }

  @Test func aProductIsSendableIfItsTargetIs() {
    var spec = plain
    spec.isTargetSendable = true
    #expect(spec.product(Int.self).isSendable)
  }

  @Test func settingsOfADeclarationOverrideThoseOfItsTemplate() {
    var (template, heir) = (plain, BeanSpec(type: Part.self, id: nil, location: Self.location))
    template.scopeName = "template"
    heir.scopeName = "heir"
    template.arguments = [(0, .reference("template"))]
    heir.arguments = [(0, .reference("heir"))]
    template.rare.releaseLimit = .seconds(1)
    heir.rare.releaseLimit = .seconds(2)
    heir.inherit(template)
    #expect(heir.scopeName == "heir")
    #expect(heir.arguments.count == 1)
    #expect(heir.rare.releaseLimit == .seconds(2))
  }

  @Test func aFrozenSpecDoesNotChange() {
    let declaration = BeanDeclaration(plain)
    let taken = FrozenSpec(declaration.spec)
    declaration.ofSendableType().lazy().argument(1, ref: "b").argument(0, ref: "a").qualifier(Part.self)
    #expect(!taken.isSendable)
    #expect(taken.isLazy == nil)
    #expect(taken.arguments.isEmpty)
    #expect(taken.qualifiers.isEmpty)
    #expect(declaration.spec.isSendable)
    #expect(declaration.spec.isLazy == true)
    #expect(declaration.spec.arguments.map(\.index) == [0, 1])
    #expect(declaration.spec.number == taken.number)
  }
}

private struct NoWork: AttachedWork {
  let owner: Any.Type = Int.self
  func start(_ task: any BeanTask) {}
}
