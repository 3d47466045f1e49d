import Beans
import BeansInject
import Testing

// The listings of the wiki page "Injection Container", in order: defining beans, scopes, post processors, lifecycle
// callbacks, startup and retrieving.
//
// Changed by Swift 6: protocols as types are `any`; throwing calls are marked `try`. Changed by the design: a
// `BeanScope` is `Sendable` and returns through `any BeanFactory`; protocols of the container that the page lists are
// those of Beans and are implemented here instead of repeated.

private final class Bar: Initializable {
  init() {}
}

private final class Foo: Initializable {
  let bar: Bar?
  init() { bar = nil }
  init(bar: Bar) { self.bar = bar }
}

// Bean scopes: a class that implements the protocol, to be registered or defined.

private final class SampleBeanScope: AbstractBeanScope, @unchecked Sendable {  // adds no state
  init() { super.init(name: "sample") }
}

/// `BeanScope` to the letter: one new instance per request for it.
private final class ForgetfulScope: BeanScope {
  var name: String { "forgetful" }

  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {}

  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { try factory.create(bean) }

  func finish() {}
}

// Bean post processors and lifecycle callbacks.

private final class Recorder: BeanPostProcessor, Initializable {
  init() {}

  func process(_ bean: AnyObject) throws -> AnyObject {
    (bean as? Living)?.events.append("process")
    return bean
  }
}

private final class Living: Bean, EnvironmentAware, Initializable {
  var events: [String] = []
  var environment: Environment? { didSet { events.append("environment") } }

  init() {}

  func postConstruct() throws -> Void {
    events.append("postConstruct")
  }
}

// Retrieving beans: class hierarchies and protocols.

private protocol Swimming {}
private class Animal {}
private final class Duck: Animal, Swimming, Initializable { override init() {} }
private final class Cat: Animal, Initializable { override init() {} }

@Suite("The wiki page on the container") struct ContainerWiki {
  @Test("An environment has a name, a parent, traceOrigin, and a report of all bean definitions (Environment)")
  func environment() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    let environment = try Environment(name: "environment", parent: parent, traceOrigin: true)
    try environment.define(environment.bean(Foo.self, id: "foo"))
    try environment.startup()
    let report = environment.report()
    #expect(report.contains("Foo") && report.contains("foo") && report.contains("ContainerWiki.swift"))
  }

  @Test("A bean is created by its initializer (Example: init call)")
  func initCall() throws {
    let environment = try Environment(name: "environment")
    // a factory for type T is a function () -> T
    try environment.define(environment.bean(Foo.self, factory: Foo.init as @Sendable () -> Foo))
    #expect(try environment.getBean(Foo.self).bar == nil)
  }

  @Test("A bean is created by a closure (Example: closure)")
  func closure() throws {
    let environment = try Environment(name: "environment")
    try environment.define(environment.bean(Foo.self, factory: { Foo() }))
    #expect(try environment.getBean(Foo.self).bar == nil)
  }

  @Test("A constructed object is a bean, with an optional id")
  func instance() throws {
    let environment = try Environment(name: "environment")
    let foo = Foo()
    try environment.define(environment.bean(foo, id: "foo"))
    #expect(try environment.getBean(Foo.self, byId: "foo") === foo)
  }

  @Test("A closure factory has external dependencies (Example)")
  func externalDependencies() throws {
    let environment = try Environment(name: "environment")
    defer { try? environment.shutdown() }
    // Declared first, to be built second.
    try environment.define(
      environment.bean(
        Foo.self,
        factory: {
          return Foo(bar: try environment.getBean(Bar.self))
        }
      )
      .requires(Bar.self))  // we beed to make sure that bar is constructed first!
    try environment.define(environment.bean(Bar.self))
    #expect(try environment.getBean(Foo.self).bar === environment.getBean(Bar.self))
  }

  @Test("The fluent functions of a declaration set id, lazy, abstract, parent, scope, requires, dependsOn")
  func fluent() throws {
    let environment = try Environment(name: "environment")
    defer { try? environment.shutdown() }
    try environment
      .define(environment.bean(Foo.self).id("template").abstract().scope("prototype"))
      .define(environment.bean(Foo.self).id("foo").parent("template").lazy().requires(id: "bar"))
      .define(environment.bean(Bar.self).id("bar").requires(id: "other"))
      .define(environment.bean(Living.self).id("other").requires(class: Duck.self))
      .define(environment.bean(Duck.self))
    #expect(try environment.getBean(Foo.self, byId: "foo") !== environment.getBean(Foo.self, byId: "foo"))
    #expect(throws: EnvironmentError.self) { try environment.getBean(Foo.self, byId: "template") }
  }

  @Test("singleton caches, and prototype creates a new instance for each request (Builtin scopes)")
  func builtinScopes() throws {
    let environment = try Environment(name: "environment")
    try environment
      .define(environment.bean(Foo.self).scope("singleton"))
      .define(environment.bean(Bar.self).scope("prototype"))
    #expect(try environment.getBean(Foo.self) === environment.getBean(Foo.self))
    #expect(try environment.getBean(Bar.self) !== environment.getBean(Bar.self))
  }

  @Test("A scope is registered with registerScope, or defined in the environment")
  func ownScopes() throws {
    let environment = try Environment(name: "environment")
    try environment
      .registerScope(ForgetfulScope())
      .define(environment.bean(SampleBeanScope.self, factory: SampleBeanScope.init))
      .define(environment.bean(Foo.self).scope("sample"))
      .define(environment.bean(Bar.self).scope("forgetful"))
    #expect(try environment.getBean(Foo.self) === environment.getBean(Foo.self))
    #expect(try environment.getBean(Bar.self) !== environment.getBean(Bar.self))
  }

  @Test("The environment is set, post processors run, then postConstruct (Lifecycle)")
  func lifecycle() throws {
    let environment = try Environment(name: "environment")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Living.self)).define(environment.bean(Recorder.self))
    let living = try environment.getBean(Living.self)
    #expect(living.environment === environment)
    #expect(living.events == ["environment", "process", "postConstruct"])
  }

  @Test("Any function that retrieves beans starts the environment, and so does startup() (Startup)")
  func startup() throws {
    let environment = try Environment(name: "environment")
    try environment.define(environment.bean(Foo.self))
    _ = try environment.getBean(Foo.self)
    let error = #expect(throws: EnvironmentError.self) { try environment.define(environment.bean(Bar.self)) }
    #expect(error?.code == .frozen)
    try environment.startup()
  }

  @Test("getBean and getBeansByType respect class hierarchies and protocols; several matches are an error")
  func retrieving() throws {
    let environment = try Environment(name: "environment")
    try environment
      .define(environment.bean(Duck.self).implements((any Swimming).self))
      .define(environment.bean(Cat.self))
    #expect(try environment.getBean((any Swimming).self) is Duck)
    #expect(try environment.getBeansByType(Animal.self).count == 2)
    let error = #expect(throws: EnvironmentError.self) { try environment.getBean(Animal.self) }
    #expect(error?.code == .ambiguousBean)
  }
}
