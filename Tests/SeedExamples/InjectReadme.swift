import Beans
import BeansInject
import Testing

// The listings of the README of `inject`, in order, as far as the container. XML and configuration values are in
// InjectReadmeConfiguration.swift, logging is in InjectReadmeLogging.swift.
//
// Changed by Swift 6: throwing calls are marked `try` and not `try!`; no class has to be an `NSObject`. Changed by the
// design: `initializeBeanDescriptor` is static.

private final class Bar: Initializable {}

private final class Foo: Initializable {
  let bar: Bar?
  var name = ""
  var number = 0
  var url = ""
  var port = 0
  var missing = ""

  init() { bar = nil }
  init(bar: Bar) { self.bar = bar }
}

// Injections: the same class as in the wiki, with the injection spelled out.

private class AbstractConfigurationSource: Bean, BeanDescriptorInitializer, ConfigurationSource, @unchecked Sendable {
  // MARK: instance data

  let url = "README"
  let canOverrule = true
  var configurationManager: ConfigurationManager? = nil  // injected before other code uses the source

  // MARK: implement BeanDescriptorInitializer

  class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["configurationManager"].inject(InjectBean())
  }

  // MARK: implement Bean

  // we know, that all injections have been executed....
  func postConstruct() throws -> Void {
    try configurationManager!.addSource(self)
  }

  func load(_ manager: ConfigurationManager) throws {
    try manager.configurationAdded(ConfigurationItem(key: "greeting", value: "hello"), source: self)
  }
}

private final class Source: AbstractConfigurationSource, Initializable, @unchecked Sendable {  // adds no state
  override init() {}
}

private final class Greeter: Initializable, BeanDescriptorInitializer {
  var greeting = ""

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["greeting"].inject(InjectConfigurationValue(key: "greeting"))
  }
}

private final class FooFactory: FactoryBean, Initializable {
  var someProperty = ""

  func create() throws -> Foo {
    let foo = Foo()
    foo.name = someProperty
    return foo
  }
}

@Suite("The README of inject: the container") struct InjectReadme {
  @Test("A bar is created by its constructor, and a foo by a closure that depends on it (Examples)")
  func firstEnvironment() throws {
    let environment = try Environment(name: "my first environment")

    try environment
      // a bar created by the default constructor

      .define(environment.bean(Bar.self, factory: Bar.init))

      // a foo that depends on bar

      .define(
        environment.bean(
          Foo.self,
          factory: {
            return Foo(bar: try environment.getBean(Bar.self))
          }
        ).requires(class: Bar.self)
      )

      // get goin'

      .startup()

    let foo = try environment.getBean(Foo.self)
    #expect(try foo.bar === environment.getBean(Bar.self))
    // The closure holds the environment that holds it.
    try environment.shutdown()
  }

  @Test("Properties are injected (Examples)")
  func properties() throws {
    let environment = try Environment()
    try environment.define(
      environment.bean(Foo.self, id: "foo-1")
        .property("name", value: "foo")
        .property("number", value: 7))
    let foo = try environment.getBean(Foo.self, byId: "foo-1")
    #expect(foo.name == "foo" && foo.number == 7)
  }

  @Test("InjectBean and InjectConfigurationValue inject properties (Injections)")
  func injections() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment
      .define(environment.bean(Greeter.self))
      .define(environment.bean(Source.self))
    #expect(try environment.getBean(Greeter.self).greeting == "hello")
  }

  @Test("A prototype is created each time (Scopes)")
  func scopes() throws {
    let environment = try Environment()
    try environment.define(
      environment.bean(Foo.self)
        .scope("prototype")
        .property("name", value: "foo")
        .property("number", value: 7))
    let foo = try environment.getBean(Foo.self)
    #expect(foo.name == "foo" && foo.number == 7)
    #expect(try environment.getBean(Foo.self) !== foo)
  }

  @Test("A factory bean creates another bean (Factory beans)")
  func factoryBeans() throws {
    let environment = try Environment()
    try environment
      .define(
        environment.bean(FooFactory.self)
          .property("someProperty", value: "...")  // configure the factory....
          .target(Foo.self)  // i will create foo's
      )

    let foo = try environment.getBean(Foo.self)  // is created by the factory!
    #expect(foo.name == "...")
  }

  @Test("A bean inherits from an abstract bean (Abstract beans)")
  func abstractBeans() throws {
    let environment = try Environment()
    try environment
      // a template

      .define(
        environment.bean(Foo.self, id: "foo-template", abstract: true)
          .property("url", value: "...")
          .property("port", value: 8080)
      )

      // the concrete bean

      .define(
        environment.bean(Foo.self, parent: "foo-template")
          .property("missing", value: "foo")  // add missing properties
      )
    let foo = try environment.getBean(Foo.self)
    #expect(foo.url == "..." && foo.port == 8080 && foo.missing == "foo")
  }

  @Test("A template may be part of a parent environment (Abstract beans)")
  func templateInParent() throws {
    let technical = try Environment(name: "technical")
    try technical.define(
      technical.bean(Foo.self, id: "foo-template", abstract: true)
        .property("url", value: "...")
        .property("port", value: 8080))
    let environment = try Environment(name: "environment", parent: technical)
    try environment.define(
      environment.bean(Foo.self, parent: "foo-template")
        .property("missing", value: "foo"))
    let foo = try environment.getBean(Foo.self)
    #expect(foo.url == "..." && foo.port == 8080 && foo.missing == "foo")
    try technical.shutdown()
  }

  @Test("Cyclic and unresolvable dependencies are found before anything is built (Behind the scenes)")
  func validation() throws {
    let environment = try Environment()
    try environment
      .define(environment.bean(Foo.self, id: "foo").requires(id: "bar"))
      .define(environment.bean(Bar.self, id: "bar").requires(id: "foo"))
      .define(environment.bean(Greeter.self).requires(id: "nobody"))
    let error = #expect(throws: EnvironmentError.self) { try environment.startup() }
    let codes = error?.underlying.compactMap { ($0 as? EnvironmentError)?.code }
    #expect(codes.map(Set.init)?.isSuperset(of: [.cyclicDependency, .unknownBean]) == true, "\(error as Any)")
  }
}
