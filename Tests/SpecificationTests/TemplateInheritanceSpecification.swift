import Beans
import Testing

@Suite("Inheritance from templates") struct TemplateInheritanceSpecification {
  @FreshEnvironment private var environment

  @Test("Factory, arguments, properties, scope and callbacks are inherited, in any order of declaration")
  func everythingIsInheritedInAnyOrder() throws {
    let journal = Journal()
    try environment.define(environment.bean(Part.self, id: "bean", parent: "middle").property(\.name, value: "own"))
    try environment.define(environment.template("middle").parent("base").scope("prototype").argument(0, value: 3))
    try environment.define(
      environment.bean(Part.self, id: "base", abstract: true, factory: Part.init)
        .property(\.name, value: "base").property(\.other, value: "base").argument(0, value: 1).argument(1, value: 2)
        .postConstruct { journal.note($0.name) })
    let (one, two) = (try environment.getBean(Part.self), try environment.getBean(Part.self))
    #expect(one !== two)
    #expect([one.name, one.other] == ["own", "base"])
    #expect([one.first, one.second] == [3, 2])
    #expect(journal.entries == ["own", "own"])
  }

  @Test("Templates of ancestors are visible")
  func templatesOfAncestorsAreSeen() throws {
    let parent = try Environment()
    try parent.define(parent.bean(Part.self, id: "t", abstract: true, factory: { Part(first: 1, second: 2) }))
    let child = try Environment(parent: parent)
    try child.define(child.bean(Part.self, id: "t", parent: "t").property(\.name, value: "child"))
    #expect(try child.getBean(Part.self).name == "child")
    #expect(code { try parent.getBean(Part.self) } == .unknownBean)
    try parent.shutdown()
  }

  @Test("An unknown template hints at a near one")
  func unknownTemplatesHintAtNearOnes() throws {
    try environment.define(environment.template("service"))
    try environment.define(environment.bean(Part.self, parent: "servcie"))
    let found = faults(of: environment)
    #expect(found.map(\.code) == [.unknownBean])
    #expect(found.first?.message.contains("did you mean 'service'?") == true)
  }

  @Test("A circle of templates is reported once, and drawn")
  func circlesAreReportedOnce() throws {
    try environment.define(environment.template("a").parent("b"))
    try environment.define(environment.template("b").parent("c"))
    try environment.define(environment.template("c").parent("a"))
    try environment.define(environment.bean(Part.self, parent: "a"))
    try environment.define(environment.template("self").parent("self"))
    let found = faults(of: environment)
    #expect(found.map(\.code) == [.cyclicDependency, .cyclicDependency])
    #expect(found.first?.path == ["a", "b", "c", "a"])
    #expect(found.last?.path == ["self", "self"])
  }

  @Test("A bean whose templates bring no class, or no factory, is an invalid declaration")
  func beansWithoutAClassOrAFactory() throws {
    try environment.define(environment.template("t"))
    try environment.define(environment.template("concrete").parent("t").abstract(false))
    try environment.define(environment.bean(Part.self))
    try environment.define(environment.bean(Part.self, id: "abstract", abstract: true))
    #expect(faults(of: environment).map(\.code) == [.invalidDeclaration, .invalidDeclaration])
  }

  @Test("A template's factory of another class is a type mismatch")
  func aFactoryOfAnotherClassDoesNotFit() throws {
    try environment.define(environment.bean(Int.self, id: "t", abstract: true, factory: { 1 }))
    try environment.define(environment.bean(Part.self, parent: "t"))
    #expect(faults(of: environment).map(\.code) == [.typeMismatch])
  }

  private final class Part {
    let first: Int
    let second: Int
    var name = ""
    var other = ""
    init(first: Int, second: Int) {
      self.first = first
      self.second = second
    }
  }
}
