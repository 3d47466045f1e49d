import Beans
import BeansInject
import BeansXML
import Foundation
import Testing

// The listings of the wiki page "Injection Container", in order: beans with properties, XML, configuration, abstract
// beans and factory beans. The others are in ContainerWiki.swift and ContainerWikiDescriptors.swift.
//
// Changed by Swift 6: throwing calls are marked `try`; `Data` instead of `NSData`; no class has to be an `NSObject`,
// but a class without a superclass declares that it is `Initializable`. Parentheses that the page omits are added.

/// A namespace in which documents find classes by their names alone.
enum Wiki {
  final class Foo: Initializable {
    var id: String = ""
    var number: Int = 0
    var bar: Bar?
  }

  final class Bar: Initializable {
    var id: String = ""
    var age: Int = 0
    var flavor: String = ""
  }
}

private typealias Foo = Wiki.Foo
private typealias Bar = Wiki.Bar

// Factory beans.

private class BarFactoryBean: FactoryBean, Initializable {
  // MARK: instance data

  var flavor: String = ""

  // NSObject brings one.
  required init() {}

  // MARK: implement FactoryBean

  // The page's returns `AnyObject`: here the protocol knows the product.
  func create() throws -> Bar {
    let result = Bar()

    result.flavor = flavor

    return result
  }
}

@Suite("The wiki page on the container: properties, XML, configuration, templates") struct ContainerWikiConfiguration {
  @Test("Two beans have properties (Defining beans, the example)")
  func properties() throws {
    let environment = try Environment(name: "environment")
    try environment
      .define(
        environment.bean(Foo.self, id: "foo")
          .property("id", value: "foo")
          .property("number", value: 1)
      )

      .define(
        environment.bean(Bar.self)
          .property("id", value: "bar")
          .property("age", value: 4711))
    let foo = try environment.getBean(Foo.self, byId: "foo")
    #expect(foo.id == "foo" && foo.number == 1)
    let bar = try environment.getBean(Bar.self)
    #expect(bar.id == "bar" && bar.age == 4711)
  }

  @Test("A bean has a class name, with an id, lazy or abstract")
  func className() throws {
    let environment = try Environment(name: "environment")
    try environment
      .define(environment.bean(className: "Wiki.Bar", id: "template", abstract: true).property("age", value: 7))
      .define(environment.bean(className: "SeedExamples.Wiki.Bar", id: "bar", parent: "template", lazy: true))
    #expect(try environment.getBean(Bar.self, byId: "bar").age == 7)
    let error = #expect(throws: EnvironmentError.self) { try environment.bean(className: "Wiki.Baz") }
    #expect(error?.code == .unknownClass)
  }

  @Test("A property injection has one of the kinds value, ref, resolve, bean, inject")
  func kinds() throws {
    let environment = try Environment(name: "environment")
    try environment
      .define(environment.settings().setValue(key: "number", value: "2"))
      .define(environment.bean(Bar.self, id: "bar").property("age", value: 1))
      .define(environment.bean(Foo.self, id: "by ref").property("bar", ref: "bar"))
      .define(environment.bean(Foo.self, id: "resolved").property("number", resolve: "${number}"))
      .define(
        environment.bean(Foo.self, id: "recursive").property(
          "bar", bean: environment.bean(Bar.self).property("age", value: 3))
      )
      .define(environment.bean(Foo.self, id: "injected").property("bar", inject: InjectBean(id: "bar")))
    func foo(_ id: String) throws -> Foo { try environment.getBean(Foo.self, byId: id) }
    #expect(try foo("by ref").bar?.age == 1)
    #expect(try foo("resolved").number == 2)
    #expect(try foo("recursive").bar?.age == 3)
    #expect(try foo("injected").bar === foo("by ref").bar)
  }

  @Test("A property injection with more than one kind is refused")
  func onlyOneKind() throws {
    let environment = try Environment(name: "environment")
    try environment.define(environment.bean(Foo.self).property("number", value: 1, resolve: "${number}"))
    let error = #expect(throws: EnvironmentError.self) { try environment.startup() }
    #expect(error?.code == .invalidDeclaration)
  }

  @Test("loadXML reads Spring's basic syntax (XML configuration)")
  func xml() throws {
    let data = Data(
      """
      <beans>
        <bean id="bar" class="Wiki.Bar"><property name="flavor" value="vanilla"/></bean>
        <bean class="Wiki.Foo"><property name="bar" ref="bar"/></bean>
      </beans>
      """.utf8)
    let environment = try Environment(name: "environment").loadXML(data)
    #expect(try environment.getBean(Foo.self).bar?.flavor == "vanilla")
  }

  @Test("Manual values are set and retrieved (Configuration)")
  func configuration() throws {
    let environment = try Environment(name: "environment")
    // The page says `environment.define.settings()`.
    try environment.define(
      environment.settings()
        .setValue(key: "key", value: 4711))
    #expect(try environment.getConfigurationValue(Int.self, key: "key") == 4711)
    #expect(try environment.getConfigurationValue(String.self, key: "key") == "4711")
    #expect(try environment.getConfigurationValue(Int.self, namespace: "other", key: "key", defaultValue: 1) == 1)
    let error = #expect(throws: EnvironmentError.self) {
      try environment.getConfigurationValue(Int.self, namespace: "other", key: "key")
    }
    #expect(error?.code == .missingConfiguration)
  }

  @Test("addConfigurationSource adds a source (Configuration)")
  func source() throws {
    let environment = try Environment(name: "environment")
    try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["wiki:key": "4711"]))
    #expect(try environment.getConfigurationValue(Int.self, namespace: "wiki", key: "key") == 4711)
  }

  @Test("The flavor is inherited, the id is separately set (Abstract beans, the example)")
  func abstractBeans() throws {
    let environment = try Environment()

    try environment
      .define(
        environment.bean(Bar.self, id: "bar-template", abstract: true)
          .property("flavor", value: "vanilla")
      )

      .define(
        environment.bean(Bar.self, id: "bar-1", parent: "bar-template")
          .property("id", value: "1")
      )

      // The page calls both "bar-1", which is a fault: see below.
      .define(
        environment.bean(Bar.self, id: "bar-2", parent: "bar-template")
          .property("id", value: "2")
      )

    let bar = try environment.getBean(Bar.self, byId: "bar-1")
    #expect(bar.flavor == "vanilla" && bar.id == "1")
    let other = try environment.getBean(Bar.self, byId: "bar-2")
    #expect(other.flavor == "vanilla" && other.id == "2")
  }

  @Test("An id that occurs twice is a fault of startup (Abstract beans, the example to the letter)")
  func oneIdTwice() throws {
    let environment = try Environment()
    try environment
      .define(environment.bean(Bar.self, id: "bar-template", abstract: true))
      .define(environment.bean(Bar.self, id: "bar-1", parent: "bar-template").property("id", value: "1"))
      .define(environment.bean(Bar.self, id: "bar-1", parent: "bar-template").property("id", value: "2"))
    let error = #expect(throws: EnvironmentError.self) { try environment.getBean(Bar.self, byId: "bar-1") }
    #expect(error?.code == .duplicateId)
  }

  @Test("A factory bean creates another bean (Factory beans, the example)")
  func factoryBeans() throws {
    let environment = try Environment()

    try environment.define(
      environment.bean(BarFactoryBean.self)
        .property("flavor", value: "vanilla")
        .target(Bar.self)
    )

    let bar = try environment.getBean(Bar.self)  // this is created by the factory
    #expect(bar.flavor == "vanilla")
  }
}
