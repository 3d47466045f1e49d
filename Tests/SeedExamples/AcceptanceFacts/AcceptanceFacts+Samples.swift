import Beans
import BeansInject
import BeansLogging
import Testing

private typealias Foo = Samples.Foo
private typealias Bar = Samples.Bar
private typealias Baz = Samples.Baz
private typealias Bazong = Samples.Bazong
private typealias Plain = Samples.Plain

extension AcceptanceFacts {
  @Test("26: the playground runs, from its sources to an error that is logged")
  func playground() throws {
    let processor = Samples.Processor()
    let environment = try Environment(name: "playground", traceOrigin: true)
    defer { try? environment.shutdown() }
    try environment
      .define(environment.bean(ProcessInfoConfigurationSource.self))
      .define(
        environment.settings()
          .setValue(namespace: "foo", key: "number", value: "1")
          .setValue(namespace: "foo", key: "id", value: "id!")
      )
      .define(environment.bean(processor))
      .define(
        environment.bean(
          Samples.AutowiredFoo.self,
          factory: {
            let foo = Samples.AutowiredFoo()
            foo.id = try environment.getConfigurationValue(String.self, namespace: "foo", key: "id")
            foo.number = try environment.getConfigurationValue(Int.self, namespace: "foo", key: "number")
            return foo
          }
        ).requires(class: Bar.self)
      )
      .define(environment.bean(Bar.self, factory: Bar.init))
      .define(
        environment.bean(Samples.BazFactory.self)
          .property("name", value: "baz")
          .property("id", value: "id")
          .target(Baz.self)
      )
      .startup()
    #expect(environment.report().contains("AcceptanceFacts+Samples.swift"))
    #expect(environment.configurationManager.report().contains("foo:number"))
    let foo = try environment.getBean(Foo.self)
    #expect(foo.id == "id!" && foo.number == 1)
    #expect(try foo.bar === environment.getBean(Bar.self))
    #expect(try environment.getBean(Baz.self).name == "baz")
    #expect(try environment.getBeansByType(Foo.self).count == 1)
    // The foo, the bar, the factory and its product; the number of the container's own beans is not specified.
    #expect(processor.count >= 4)

    let log = CountingLog(name: "counting")
    let logger = LogManager(installing: false).registerLogger("", level: .ALL, logs: [log]).getLogger(forName: "a")
    do {
      _ = try environment.getBean(String.self)
      Issue.record("there is no text")
    } catch {
      logger.error(error, message: "playground")
    }
    #expect(log.count == 1)
  }

  @Test("31: templates, references, embedded beans, placeholders and factories work together")
  func fluent() throws {
    let environment = try Environment(name: "fluent")
    try environment
      .define(
        environment.bean(
          Foo.self, id: "foo-by-factory",
          factory: {
            let foo = Foo()
            foo.id = "foo-by-factory"
            return foo
          })
      )
      .define(environment.bean(Samples.Processor.self))
      .define(
        environment.bean(Foo.self, id: "foo-1").property("id", value: "foo-1").property("number", resolve: "${dunno=1}")
      )
      .define(
        environment.bean(Foo.self, id: "foo-prototype").scope("prototype")
          .property("number", resolve: "${com.foo:bar=1}")
      )
      .define(environment.bean(Bar.self, id: "bar-parent", abstract: true).property("magic", value: 4711))
      .define(environment.bean(Bar.self, id: "bar", parent: "bar-parent"))
      .define(
        environment.bean(Samples.BazFactory.self, id: "baz").target(Baz.self)
          .property("name", value: "factory").property("id", value: "baz")
      )
      .define(environment.bean(Bazong.self, id: "bazong-1").property("foo", ref: "foo-1"))
      .define(
        environment.bean(Bazong.self, id: "bazong-2")
          .property("foo", bean: environment.bean(Foo.self).property("id", value: "embedded"))
      )
      .startup()
    #expect(try environment.getBeansByType(Foo.self).count == 4)
    #expect(try environment.getBean(Baz.self).id == "baz")
    #expect(try environment.getBean(Bar.self).magic == 4711)
    let foo = try environment.getBean(Foo.self, byId: "foo-1")
    #expect(foo.number == 1)
    #expect(try environment.getBean(Bazong.self, byId: "bazong-1").foo === foo)
    #expect(try environment.getBean(Bazong.self, byId: "bazong-2").foo?.id == "embedded")
  }

  private func noReflection() throws -> Environment {
    let environment = try Environment(name: "no reflection")
    try environment
      .define(
        environment.bean(
          Plain.self,
          factory: {
            Plain(
              bar: try environment.getBean(Bar.self),
              configured: try environment.getConfigurationValue(Int.self, key: "configured", defaultValue: 1))
          }
        )
        .requires(class: Bar.self)
        .scope("sample")
        .implements((any Samples.SwiftProtocol).self)
      )
      .define(environment.bean(Samples.SampleScope.self, factory: Samples.SampleScope.init))
      .define(environment.bean(Bar.self, factory: Bar.init))
    return environment
  }

  @Test("32: a plain class belongs to a scope that is a bean, by a closure that looks up while the environment starts")
  func ownScope() throws {
    let environment = try noReflection()
    defer { try? environment.shutdown() }
    let plain = try #require(try environment.getBean((any Samples.SwiftProtocol).self) as? Plain)
    #expect(try plain.bar === environment.getBean(Bar.self) && plain.configured == 1)
    #expect(try environment.getBean(Plain.self) === plain)
  }

  @Test("33: a class declares a configuration value, and has its default")
  func configurationDefault() throws {
    let environment = try noReflection()
    defer { try? environment.shutdown() }
    #expect(try environment.getBean(Plain.self).number == -1)
  }

  @Test("34: beans are found by their protocols")
  func protocols() throws {
    let environment = try noReflection()
    defer { try? environment.shutdown() }
    #expect(try environment.getBeansByType((any Samples.SwiftProtocol).self).count == 1)
    #expect(try environment.getBeansByType((any BeanDescriptorInitializer).self).count == 2)
    // The original found two classes that declared it. Here every conformance is found: the scope and the bar.
    #expect(try environment.getBeansByType((any Initializable).self).count == 2)
  }
}
