import Beans
import BeansInject
import Testing

/// The listings of the documents on which the container is based, in this version of Swift.
@Suite("Examples of the seeds") struct SeedExamplesSpecification {
  @FreshEnvironment private var environment

  @Test("The first example builds a bar by its constructor, and a foo by a closure that looks it up")
  func firstEnvironment() throws {
    let environment = try Environment(name: "my first environment")
    try environment
      // a bar created by the default constructor
      .define(environment.bean(Bar.self, factory: Bar.init))
      // a foo that depends on bar
      .define(
        environment.bean(Foo.self, factory: { Foo(bar: try environment.getBean(Bar.self)) }).requires(class: Bar.self)
      )
      // get goin'
      .startup()
    let foo = try environment.getBean(Foo.self)
    #expect(try foo.bar === environment.getBean(Bar.self))
    try environment.shutdown()
  }

  @Test("A missing requirement of a closure is a fault, not a lookup that fails in the middle")
  func missingRequirement() throws {
    let environment = try Environment(name: "incomplete")
    let called = Counter()
    try environment.define(environment.bean(Foo.self, factory: { called.counting(Foo(bar: Bar())) }).requires(Bar.self))
    try requireFault(.unknownBean) { try environment.startup() }
    #expect(called.value == 0)
  }

  @Test("The fluent interface injects properties")
  func properties() throws {
    let environment = try Environment(name: "environment")
    try environment
      .define(environment.bean(Foo.self, id: "foo-1").property(\.name, value: "foo").property(\.number, value: 7))
      .define(environment.bean(Bar.self).property(\.id, value: "bar").property(\.age, value: 4711))
    let foo = try environment.getBean(Foo.self, byId: "foo-1")
    #expect(foo.name == "foo" && foo.number == 7)
    let bar = try environment.getBean(Bar.self)
    #expect(bar.id == "bar" && bar.age == 4711)
  }

  @Test("A prototype has its properties")
  func prototype() throws {
    try environment.define(
      environment.bean(Foo.self)
        .scope("prototype")
        .property(\.name, value: "foo")
        .property(\.number, value: 7))
    let foo = try environment.getBean(Foo.self)
    #expect(try environment.getBean(Foo.self) !== foo)
    #expect(foo.name == "foo" && foo.number == 7)
  }

  @Test("Two bars inherit from one template")
  func abstractBeans() throws {
    try environment
      .define(environment.bean(Bar.self, id: "bar-template", abstract: true).property(\.flavor, value: "vanilla"))
      .define(environment.bean(Bar.self, id: "bar-1", parent: "bar-template").property(\.id, value: "1"))
      .define(environment.bean(Bar.self, id: "bar-2", parent: "bar-template").property(\.id, value: "2"))
    let bar = try environment.getBean(Bar.self, byId: "bar-1")
    #expect(bar.flavor == "vanilla" && bar.id == "1")
    #expect(try environment.getBean(Bar.self, byId: "bar-2").flavor == "vanilla")
    try requireFault(.ambiguousBean) { try environment.getBean(Bar.self) }
  }

  @Test("A template in a parent environment separates technical aspects")
  func templateInParent() throws {
    let technical = try Environment(name: "technical")
    defer { try? technical.shutdown() }
    try technical.define(
      technical.bean(Foo.self, id: "foo-template", abstract: true)
        .property(\.url, value: "http://localhost").property(\.port, value: 8080))
    let environment = try Environment(name: "environment", parent: technical)
    try environment.define(environment.bean(Foo.self, parent: "foo-template").property(\.name, value: "foo"))
    let foo = try environment.getBean(Foo.self)
    #expect(foo.url == "http://localhost" && foo.port == 8080 && foo.name == "foo")
  }

  @Test("A scope is added by defining the implementing class in the environment")
  func customScope() throws {
    try environment
      .define(environment.bean(SampleBeanScope.self, factory: SampleBeanScope.init))
      .define(environment.bean(Foo.self).scope("sample"))
    #expect(try environment.getBean(Foo.self) === environment.getBean(Foo.self))
  }

  @Test("A protocol finds its one implementing class, declared or not")
  func protocols() throws {
    try environment.define(environment.bean(Bar.self, factory: Bar.init).implements((any Flavored).self))
    try environment.define(environment.bean(Foo.self))
    #expect(try environment.getBean((any Flavored).self) is Bar)
  }

  @Test("All definitions are validated behind the scenes: a cyclic dependency is found at startup")
  func cycle() throws {
    try environment
      .define(environment.bean(Foo.self, id: "foo").requires(id: "bar"))
      .define(environment.bean(Bar.self, id: "bar").requires(id: "foo"))
    try requireFault(.cyclicDependency) { try environment.startup() }
  }
}

private protocol Flavored { var flavor: String { get } }

private final class Bar: Initializable, Flavored {
  var id = ""
  var age = 0
  var flavor = ""
  init() {}
}

private final class Foo: Initializable {
  var name = ""
  var number = 0
  var url = ""
  var port = 0
  let bar: Bar?
  init() { bar = nil }
  init(bar: Bar) { self.bar = bar }
}

private final class SampleBeanScope: AbstractBeanScope, @unchecked Sendable {  // adds no state
  init() { super.init(name: "sample") }
}
