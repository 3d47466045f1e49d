import Beans
import BeansXML
import Foundation
import Testing

private typealias Record = Acceptance.Data

extension AcceptanceFacts {
  private static func document(_ content: String) -> Data {
    Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <beans
          xmlns:configuration="http://www.springframework.org/schema/configuration"
          xmlns="http://www.springframework.org/schema/beans"
          xsi:schemaLocation="http://www.springframework.org/schema/beans spring-beans-3.2.xsd">
      \(content)
      </beans>
      """.utf8)
  }

  private static var parent: Data {
    document(
      """
      <configuration:configuration namespace="com.foo">
        <configuration:define key="odd" type="Int" value="not a number"/>
      </configuration:configuration>
      <bean class="ProcessInfoConfigurationSource"/>
      <bean id="b0" class="Acceptance.Data">
        <property name="string" value="b0"/>
        <property name="int" value="1"/>
        <property name="float" value="-1.1"/>
        <property name="double" value="-2.2"/>
      </bean>
      <bean id="foo" class="Acceptance.FooBean">
        <property name="name" value="${andi=Andreas?}"/>
        <property name="age" value="${NO_SUCH_SCREEN_HEIGHT=51}"/>
      </bean>
      <bean id="bar" class="Acceptance.BarBean" abstract="true"><property name="name" value="template"/></bean>
      """)
  }

  private static var application: Data {
    document(
      """
      <bean id="b1" class="Acceptance.Data" depends-on="b0"><property name="string" value="b1"/></bean>
      <bean id="lazy" class="Acceptance.Data"><property name="string" value="lazy"/></bean>
      <bean id="prototype" class="Acceptance.Data" scope="prototype"/>
      <bean class="Acceptance.BarFactoryBean" target="Acceptance.BarBean">
        <property name="name" value="made"/>
        <property name="age" value="4711"/>
      </bean>
      """)
  }

  private func environments() throws -> (parent: Environment, child: Environment) {
    let parent = try Environment(name: "parent").loadXML(Self.parent)
    return (parent, try Environment(name: "child", parent: parent).loadXML(Self.application))
  }

  @Test(
    "4: parent and child load; the first lookup starts both; a value of the wrong type fails only a read as that type")
  func loading() throws {
    let (parent, child) = try environments()
    defer { try? parent.shutdown() }
    let foo = try child.getBean(Acceptance.FooBean.self)
    #expect(foo.name == "Andreas?" && foo.age == 51)
    #expect(throws: EnvironmentError(.frozen, "")) { try parent.define(parent.bean(Record.self)) }
    let error = #expect(throws: EnvironmentError.self) {
      try child.getConfigurationValue(Int.self, namespace: "com.foo", key: "odd")
    }
    #expect(error?.code == .conversionFailed)
  }

  @Test("5: the child's bean that depends on one of the parent's is built, and has the parent's foo")
  func dependsOnParent() throws {
    let (parent, child) = try environments()
    defer { try? parent.shutdown() }
    let b1 = try child.getBean(Record.self, byId: "b1")
    #expect(try b1.string == "b1" && b1.foo === child.getBean(Acceptance.FooBean.self))
  }

  @Test("6: the bean called lazy has its text")
  func lazy() throws {
    let (parent, child) = try environments()
    defer { try? parent.shutdown() }
    #expect(try child.getBean(Record.self, byId: "lazy").string == "lazy")
  }

  @Test("7: two lookups of a prototype return different objects")
  func prototype() throws {
    let (parent, child) = try environments()
    defer { try? parent.shutdown() }
    let prototype = try child.getBean(Record.self, byId: "prototype")
    #expect(try child.getBean(Record.self, byId: "prototype") !== prototype)
  }

  @Test("8: the only bar is the factory's, the parent's abstract one is ignored")
  func factory() throws {
    let (parent, child) = try environments()
    defer { try? parent.shutdown() }
    let bar = try child.getBean(Acceptance.BarBean.self)
    #expect(bar.age == 4711 && bar.name == "made")
  }

  @Test("18, 19: configuration values load, are reported, and are read by their types")
  func configuration() throws {
    let data = Self.document(
      """
      <configuration:configuration namespace="com.foo">
        <configuration:define key="string" type="String" value="hello"/>
        <configuration:define key="int" type="Int" value="1"/>
        <configuration:define key="bool" type="Bool" value="true"/>
      </configuration:configuration>
      """)
    let environment = try Environment(name: "environment").loadXML(data, source: "configuration.xml").startup()
    #expect(environment.report().contains("ENVIRONMENT environment"))
    let report = environment.configurationManager.report()
    #expect(report.contains("configuration.xml") && report.contains("com.foo:string"), "\(report)")
    #expect(try environment.getConfigurationValue(String.self, namespace: "com.foo", key: "string") == "hello")
    #expect(try environment.getConfigurationValue(Int.self, namespace: "com.foo", key: "int") == 1)
    #expect(try environment.getConfigurationValue(Bool.self, namespace: "com.foo", key: "bool"))
  }

  @Test("30: a document's factory creates a baz with its id")
  func sample() throws {
    let data = Self.document(
      """
      <bean class="Samples.BazFactory" target="Samples.Baz">
        <property name="name" value="baz"/>
        <property name="id" value="id"/>
      </bean>
      """)
    #expect(try Environment().loadXML(data).getBean(Samples.Baz.self).id == "id")
  }
}
