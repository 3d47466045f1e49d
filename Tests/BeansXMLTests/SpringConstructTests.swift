import Beans
import BeansInject
import Foundation
import Testing

@testable import BeansXML

final class Kiosk: Initializable {
  var name = ""
  var open = false
  var seats = 0
  var neighbour: Kiosk?
  var menu: [String] = []
  var prices: [String: Int] = [:]
  var any: Any = 0
  var texts: [String: String] = [:]
}

final class CircleTable: Initializable {
  var guest: CircleGuest?
}

final class CircleGuest: Initializable {
  var table: CircleTable?
}

final class CircleWaiter: Initializable {
  @Injected var table: Provider<CircleTable>
}

/// Constructs of Spring's documents, and their meaning here.
@Suite struct SpringConstructTests {
  private static let namespaces =
    "xmlns='http://www.springframework.org/schema/beans' xmlns:p='http://www.springframework.org/schema/p' "
    + "xmlns:c='http://www.springframework.org/schema/c' xmlns:util='http://www.springframework.org/schema/util' "
    + "xmlns:context='http://www.springframework.org/schema/context'"

  /// The content begins in line 2.
  private func load(
    _ content: String, root: String = "", profiles: String? = nil, placeholders: XMLPlaceholders = .standard,
    settings: [String: String] = [:]
  ) throws -> Environment {
    let environment = try Environment(name: "spring")
    var settings = settings
    settings["beans.profiles"] = profiles
    try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: settings))
    return try environment.loadXML(
      Data("<beans \(Self.namespaces) \(root)>\n\(content)\n</beans>".utf8), source: "spring.xml", handlers: [],
      placeholders: placeholders)
  }

  private func faults(_ content: String, root: String = "") throws -> [EnvironmentError] {
    let error = try #require(throws: EnvironmentError.self) { try load(content, root: root).startup() }
    return error.underlying.isEmpty ? [error] : error.underlying.compactMap { $0 as? EnvironmentError }
  }

  private func has(_ environment: Environment, _ id: String) -> Bool {
    (try? environment.getBean(Kiosk.self, byId: id)) != nil
  }

  private func kiosk(_ content: String, settings: [String: String] = [:]) throws -> Kiosk {
    try load(content, settings: settings).getBean(Kiosk.self)
  }

  // MARK: <beans>

  @Test(arguments: [
    ("dev", ["all", "dev"]), ("prod", ["all", "prod"]), ("prod,eu", ["all", "prod", "prod-eu"]), ("eu", ["all"]),
  ])
  func nestedBeansHoldUnderAllEnclosingProfiles(profiles: String, ids: [String]) throws {
    let environment = try load(
      """
      <bean id="all" class="Kiosk"/>
      <beans profile="dev"><bean id="dev" class="Kiosk"/><alias name="dev" alias="dev-alias"/></beans>
      <beans profile="prod">
        <bean id="prod" name="prod-name" class="Kiosk"/>
        <beans profile="eu, us"><bean id="prod-eu" class="Kiosk"/></beans>
      </beans>
      """, profiles: profiles)
    for id in ["all", "dev", "prod", "prod-eu"] {
      #expect(has(environment, id) == ids.contains(id), "\(id)")
    }
    #expect(has(environment, "dev-alias") == ids.contains("dev"))
    #expect(has(environment, "prod-name") == ids.contains("prod"))
  }

  @Test func aFaultOfAnAliasUnderAProfileHasItsPlace() throws {
    let faults = try faults("<beans profile='default'>\n<alias name='none' alias='a'/></beans>")
    #expect(faults.count == 1 && faults[0].message.contains("'none'"), "\(faults)")
    #expect(faults.first?.origin?.line == 3 && faults.first?.origin?.column == 1)
  }

  @Test func theProfilesOfTheRootHoldForAll() throws {
    for (profiles, isFound) in [("a", true), ("b", false)] {
      let environment = try load("<bean id='a' class='Kiosk'/>", root: "profile='a'", profiles: profiles)
      #expect(has(environment, "a") == isFound)
    }
  }

  @Test func valuesDoNotDependOnProfiles() throws {
    let faults = try faults(
      """
      <beans profile="a" xmlns:s="http://www.springframework.org/schema/configuration">
      <s:configuration><s:define key="k" type="Int" value="1"/></s:configuration></beans>
      """)
    #expect(faults.count == 1 && faults[0].message.contains("cannot depend on a profile"), "\(faults)")
    #expect(faults.first?.origin?.line == 3)
  }

  @Test func lazinessIsThatOfTheNearestBeans() throws {
    let environment = try load(
      """
      <bean id="a" class="Kiosk"/><bean id="b" class="Kiosk" lazy-init="false"/>
      <bean id="c" class="Kiosk" lazy-init="default"/>
      <beans default-lazy-init="false"><bean id="d" class="Kiosk"/></beans>
      <beans><bean id="e" class="Kiosk"/></beans>
      """, root: "default-lazy-init='true'")
    try environment.startup()
    let report = environment.report()
    let lines = report.split(separator: "\n").filter { $0.contains("Kiosk") }
    let lazy = lines.filter { $0.contains("lazy") }.compactMap { line in
      ["a", "b", "c", "d", "e"].first { line.contains("\"\($0)\"") }
    }
    #expect(Set(lazy) == ["a", "c", "e"], "\(report)")
  }

  // MARK: <bean>

  @Test func namesAreTheIdAndAliases() throws {
    let environment = try load(
      "<bean name='one, two three' class='Kiosk'/><bean id='four' name='five' class='Kiosk'/>")
    let one = try environment.getBean(Kiosk.self, byId: "one")
    for id in ["two", "three"] { #expect(try environment.getBean(Kiosk.self, byId: id) === one) }
    #expect(
      try environment.getBean(Kiosk.self, byId: "four") === environment.getBean(Kiosk.self, byId: "five"))
  }

  @Test func attributesOfTheShortNamespacesSetPropertiesAndArguments() throws {
    let environment = try load(
      """
      <bean id="other" class="Kiosk" p:name="other" p:seats=" 4 "/>
      <bean id="one" class="Kiosk" p:name="${name=one}" p:neighbour-ref="other"><property name="open" value="on"/></bean>
      """)
    let one = try environment.getBean(Kiosk.self, byId: "one")
    #expect(one.name == "one" && one.open && one.neighbour?.seats == 4)
    let invoices = try Environment(name: "invoices")
    try invoices.define(
      invoices.bean(Invoice.self, id: "template", abstract: true) { (number: Int, payer: Person) in
        Invoice(number: number, payer: payer)
      })
    try invoices.loadXML(
      Data(
        """
        <beans \(Self.namespaces)><bean id="payer" class="Person"/>
        <bean parent="template" c:_0="7" c:_1-ref="payer"/></beans>
        """.utf8))
    #expect(try invoices.getBean(Invoice.self).number == 7)
  }

  @Test(arguments: [
    ("<bean class='Kiosk' p:name='a'><property name='name' value='b'/></bean>", "'name' is set twice"),
    ("<bean class='Kiosk' p:name-ref=' '/>", "'p:name-ref' must not be empty"),
    ("<bean class='Kiosk' c:name='a'/>", "'c:name' is not supported: use the index of the factory's parameter, c:_0"),
    ("<bean class='Kiosk' c:name-ref='a'/>", "c:_0-ref"),
    ("<bean class='Kiosk' c:_0='a' c:_0-ref='a'/>", "argument 0 is given twice"),
    ("<bean class='Kiosk' p:nmae='a'/>", "no stored property 'nmae'; did you mean 'name'?"),
  ])
  func faultsOfShortAttributesNameTheirPlace(text: String, message: String) throws {
    let faults = try faults(text)
    #expect(faults.count == 1 && faults[0].message.contains(message), "\(faults)")
    #expect(faults.first?.origin?.line == 2 && (faults.first?.origin?.column ?? 0) > 10)
  }

  @Test func anUndeclaredShortPrefixIsNamedWithItsNamespace() throws {
    let error = try #require(throws: EnvironmentError.self) {
      try Environment().loadXML(Data("<beans><bean class='Kiosk' p:name='a'/></beans>".utf8))
    }
    #expect(error.message.contains("add xmlns:p=\"http://www.springframework.org/schema/p\""), "\(error)")
  }

  @Test func descriptionsMayBeAnywhere() throws {
    let kiosk = try kiosk(
      """
      <description>all</description>
      <bean class="Kiosk"><description>bean</description><meta key="a" value="b"/>
        <property name="name"><description>text</description><meta key="a" value="b"/><value>n</value></property>
        <property name="menu"><list><description>list</description><value>tea</value></list></property>
        <property name="prices"><map><description>map</description>
          <entry key="tea"><description>entry</description><value>3</value></entry>
          <entry value="4"><key><description>key</description><value>milk</value></key></entry></map></property>
      </bean>
      <beans><description>inner</description></beans>
      """)
    #expect(kiosk.name == "n" && kiosk.menu == ["tea"] && kiosk.prices == ["tea": 3, "milk": 4])
  }

  // MARK: values

  @Test func anIdIsTextThatStartupChecks() throws {
    let text = """
      <bean id="one" class="Kiosk"><property name="name"><idref bean="two"/></property>
      <property name="menu"><list><idref bean="one"/><value>tea</value></list></property></bean>
      """
    let two = "<bean id='two' class='Kiosk'><property name='name'><idref bean='one'/></property></bean>"
    let environment = try load(text + two)
    #expect(try environment.getBean(Kiosk.self, byId: "one").name == "two")
    #expect(try environment.getBean(Kiosk.self, byId: "one").menu == ["one", "tea"])
    let faults = try faults(text)
    #expect(faults.map(\.code) == [.unknownBean], "\(faults)")
    #expect(faults.first?.message.contains("'two'") == true && faults.first?.origin?.line == 2)
  }

  @Test func collectionsAreMergedWithThoseOfTheTemplates() throws {
    let environment = try load(
      """
      <bean id="base" class="Kiosk" abstract="true">
        <property name="menu"><list><value>tea</value></list></property>
        <property name="prices"><map><entry key="tea" value="3"/><entry key="milk" value="1"/></map></property>
        <property name="texts"><props><prop key="a">1</prop></props></property>
      </bean>
      <bean id="middle" parent="base" abstract="true">
        <property name="menu"><list merge="true"><value>coffee</value></list></property>
      </bean>
      <bean id="merged" parent="middle">
        <property name="menu"><list merge="true"><value>cake</value></list></property>
        <property name="prices"><map merge="true"><entry key="tea" value="4"/></map></property>
        <property name="texts"><props merge="true"><prop key="b">2</prop></props></property>
      </bean>
      <bean id="own" parent="middle"><property name="menu"><list merge="false"><value>cake</value></list></property></bean>
      <beans default-merge="true">
        <bean id="default" parent="middle">
          <property name="menu"><list merge="default"><value>cake</value></list></property>
          <property name="prices"><map merge="false"><entry key="tea" value="4"/></map></property>
        </bean>
      </beans>
      <bean id="alone" class="Kiosk"><property name="menu"><list merge="true"><value>pie</value></list></property></bean>
      """)
    let merged = try environment.getBean(Kiosk.self, byId: "merged")
    #expect(merged.menu == ["tea", "coffee", "cake"] && merged.prices == ["tea": 4, "milk": 1])
    #expect(merged.texts == ["a": "1", "b": "2"])
    #expect(try environment.getBean(Kiosk.self, byId: "own").menu == ["cake"])
    let byDefault = try environment.getBean(Kiosk.self, byId: "default")
    #expect(byDefault.menu == ["tea", "coffee", "cake"] && byDefault.prices == ["tea": 4])
    #expect(try environment.getBean(Kiosk.self, byId: "alone").menu == ["pie"])
  }

  @Test func typesOfValuesAreChecked() throws {
    let kiosk = try kiosk(
      """
      <bean class="Kiosk"><property name="any"><value type="int"> 5 </value></property>
        <property name="menu"><list value-type="java.lang.String"><value>a</value></list></property>
        <property name="prices"><map key-type="java.lang.String" value-type="java.lang.Integer">
          <entry key="a" value="1"/><entry key="b"><value>${b=2}</value></entry></map></property></bean>
      """)
    #expect(kiosk.any as? Int == 5 && kiosk.menu == ["a"] && kiosk.prices == ["a": 1, "b": 2])
    for (text, message, column) in [
      ("<value type='int'>five</value>", "'five' is no value of the type 'int'", 44),
      ("<value type='int'>3000000000</value>", "no value of the type 'int'", 44),
      ("<value type='java.util.Date'>5</value>", "the type 'java.util.Date' is not known for values: omit it", 44),
      ("<list value-type='boolean'><value>maybe</value></list>", "'maybe' is no value of the type 'boolean'", 71),
    ] {
      let faults = try faults("<bean class='Kiosk'><property name='any'   >\(text)</property></bean>")
      #expect(faults.count == 1 && faults[0].message.contains(message), "\(faults)")
      #expect(faults.first?.origin == .init(file: "spring.xml", line: 2, column: column + 1), "\(faults)")
    }
  }

  @Test func blanksOfAValueAreKeptAndThoseOfAPropAreNot() throws {
    let kiosk = try kiosk(
      """
      <bean class="Kiosk"><property name="name"><value> </value></property>
        <property name="menu"><list><value>  a  </value><value></value><value><![CDATA[ b ]]> </value></list></property>
        <property name="seats"><value>
          7
        </value></property>
        <property name="texts"><props><prop key="a">  b  </prop></props></property></bean>
      """)
    #expect(kiosk.name == " " && kiosk.menu == ["  a  ", "", " b  "] && kiosk.seats == 7)
    #expect(kiosk.texts == ["a": "b"])
  }

  @Test(arguments: [
    ("${a.b:127.0.0.1}", "127.0.0.1"), ("${x:y:z}", "y:z"), ("${one:${two:2}}", "2"), ("${known:no}", "yes"),
    ("http://${host:h}:${port:80}/", "http://h:80/"), ("${${part:kno}${rest:wn}:no}", "yes"), ("a:b", "a:b"),
    ("$${a:b}", "${a:b}"), ("${empty:}", ""), ("${u:jdbc:x?a=b}", "jdbc:x?a=b"),
  ])
  func aDefaultMayFollowAColonBySwitch(text: String, expected: String) throws {
    let environment = try load(
      "<bean class='Kiosk' p:name='\(text)'><property name='menu'><list><value>\(text)</value></list></property></bean>",
      placeholders: .spring, settings: ["known": "yes"])
    let kiosk = try environment.getBean(Kiosk.self)
    #expect(kiosk.name == expected && kiosk.menu == [expected])
  }

  @Test func theFaultNamesTheSignWithoutTheSwitch() throws {
    let faults = try faults("<bean class='Kiosk' p:name='${a.b:127.0.0.1}'/>")
    #expect(faults.count == 1 && faults[0].message.contains("="), "\(faults)")
  }

  @Test func utilityCollectionsAreValues() throws {
    let kiosk = try kiosk(
      """
      <bean class="Kiosk"><property name="menu"><util:list value-type="java.lang.String"><value>a</value></util:list></property>
      <property name="prices"><util:map><entry key="a" value="1"/></util:map></property></bean>
      """)
    #expect(kiosk.menu == ["a"] && kiosk.prices == ["a": 1])
  }

  @Test func beansThatTheContainerNeedsFirstMayBeLazyByDefault() throws {
    let environment = try load(
      """
      <bean class="ShiftScope"/><bean class="Labeller"/><bean id="shade" class="Shade"/>
      <bean id="record" class="Record" scope="shift"/>
      """, root: "default-lazy-init='true'")
    try environment.startup()
    #expect(try environment.getBean(Shade.self).colour == " labelled")
    #expect(try environment.getBean(Record.self) === environment.getBean(Record.self))
  }

  @Test func theProfilesOfAnImportHoldForItsDocument() throws {
    for (profiles, ids) in [("a", ["one"]), ("b", ["two"]), ("a,c", ["one", "three"])] {
      let environment = try Environment(name: "spring")
      try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["beans.profiles": profiles]))
      let text = """
        <beans><beans profile="a"><import resource="one"/></beans><beans profile="b"><import resource="two"/></beans></beans>
        """
      try environment.loadXML(Data(text.utf8), source: "root", handlers: []) { resource, _ in
        XMLResource(
          data: Data(
            """
            <beans><bean id="\(resource)" class="Kiosk"/>
            <beans profile="c"><bean id="three" class="Kiosk"/></beans></beans>
            """.utf8), source: resource)
      }
      #expect(["one", "two", "three"].filter { has(environment, $0) } == ids)
    }
  }

  @Test func theDocumentOfTheClassPathIsFoundBesideTheImportingOne() throws {
    let folder = try TemporaryFolder()
    let root = try folder.write(
      "root.xml",
      "<beans><import resource='classpath:one.xml'/><import resource='classpath*:/sub/two.xml'/></beans>")
    try folder.write("one.xml", "<beans><bean id='one' class='Kiosk'/></beans>")
    try folder.write("sub/two.xml", "<beans><bean id='two' class='Kiosk'/></beans>")
    let environment = try Environment(name: "spring").loadXML(path: root)
    #expect(has(environment, "one") && has(environment, "two"))
  }

  @Test func aRegisteredHandlerHasPrecedenceOverARefusal() throws {
    final class Context: NamespaceHandler, @unchecked Sendable {  // has no state
      init() { super.init(namespace: "context") }

      override func process(_ element: DocumentElement, context: XMLContext) throws {
        context.define(context.environment.bean(Kiosk.self, id: element.name), at: element)
      }
    }
    let environment = try Environment(name: "spring").loadXML(
      Data("<beans \(Self.namespaces)><context:annotation-config/></beans>".utf8), source: "x", handlers: [Context()])
    #expect(has(environment, "annotation-config"))
  }

  // MARK: refusals

  /// The attributes of the schema of Spring 6.2, of older ones and of the DTD.
  private static let schema: [(element: String, attributes: [String], document: @Sendable (String) -> String)] = [
    (
      "beans",
      [
        "profile", "default-lazy-init", "default-merge", "default-autowire", "default-autowire-candidates",
        "default-init-method", "default-destroy-method", "default-dependency-check",
      ], { "<beans \($0)/>" }
    ),
    (
      "bean",
      [
        "id", "name", "class", "parent", "scope", "abstract", "lazy-init", "autowire", "depends-on",
        "autowire-candidate", "primary", "fallback", "init-method", "destroy-method", "factory-method", "factory-bean",
        "singleton", "dependency-check",
      ], { "<bean \($0)/>" }
    ),
    ("constructor-arg", ["index", "type", "name", "ref", "value"], { "<bean><constructor-arg \($0)/></bean>" }),
    ("property", ["name", "ref", "value"], { "<bean><property \($0)/></bean>" }),
    ("ref", ["bean", "local", "parent"], { "<bean><property name='a'><ref \($0)/></property></bean>" }),
    ("idref", ["bean", "local"], { "<bean><property name='a'><idref \($0)/></property></bean>" }),
    ("value", ["type"], { "<bean><property name='a'><value \($0)/></property></bean>" }),
    ("list", ["value-type", "merge"], { "<bean><property name='a'><list \($0)/></property></bean>" }),
    ("set", ["value-type", "merge"], { "<bean><property name='a'><set \($0)/></property></bean>" }),
    ("array", ["value-type", "merge"], { "<bean><property name='a'><array \($0)/></property></bean>" }),
    ("map", ["key-type", "value-type", "merge"], { "<bean><property name='a'><map \($0)/></property></bean>" }),
    ("props", ["value-type", "merge"], { "<bean><property name='a'><props \($0)/></property></bean>" }),
    (
      "entry", ["key", "key-ref", "value", "value-ref", "value-type"],
      { "<bean><property name='a'><map><entry \($0)/></map></property></bean>" }
    ),
    ("import", ["resource"], { "<import \($0)/>" }), ("alias", ["name", "alias"], { "<alias \($0)/>" }),
  ]

  @Test func noAttributeOfTheSchemaIsUnknown() throws {
    for (element, attributes, document) in Self.schema {
      for attribute in attributes {
        do { _ = try load(document("\(attribute)='x'")) } catch let error as EnvironmentError {
          let faults = [error] + error.underlying.compactMap { $0 as? EnvironmentError }
          let messages = faults.map(\.message).joined(separator: "\n")
          #expect(!messages.contains("not known; "), "\(element) \(attribute): \(messages)")
          #expect(!messages.contains("is not known\n") && !messages.hasSuffix("is not known"), "\(element) \(messages)")
          #expect(!messages.contains("did you mean"), "\(element) \(attribute): \(messages)")
        }
      }
    }
  }

  @Test func eachRefusalIsReportedOnceWithItsCount() throws {
    let faults = try faults(
      """
      <bean id="a" class="Kiosk" init-method="start" destroy-method="stop"/>
      <bean id="b" class="Kiosk" init-method="begin"/>
      <bean id="c" class="Kiosk" init-method="run" autowire="no" autowire-candidate="true"/>
      <context:property-placeholder location="classpath:a.properties"/>
      <context:property-placeholder location="classpath:b.properties"/>
      """)
    #expect(
      faults.map(\.message) == [
        "<bean>: the attribute 'init-method' is not supported: conform to Bean, whose postConstruct() is called "
          + "(and 2 more, the next at 3:28)",
        "<bean>: the attribute 'destroy-method' is not supported: conform to DisposableBean, whose preDestroy() is called",
        "<context:property-placeholder> is not supported: add a configuration source to the environment in Swift; "
          + "placeholders need no element (again at 6:1)",
      ], "\(faults)")
    #expect(faults.map { $0.origin?.line } == [2, 2, 5])
  }

  @Test(arguments: [
    ("<bean class='Kiosk' factory-method='make'/>", "'factory-method' is not supported: declare the factory in Swift"),
    ("<bean factory-bean='a' factory-method='make'/>", "'factory-bean' is not supported"),
    ("<bean class='Kiosk' autowire='byName'/>", "'autowire' is not supported: declare injections"),
    ("<bean class='Kiosk' singleton='false'/>", "write scope=\"prototype\""),
    ("<bean class='Kiosk'><constructor-arg name='a' value='1'/></bean>", "'name' is not supported: use index"),
    ("<bean class='Kiosk'><lookup-method name='a' bean='b'/></bean>", "<lookup-method> is not supported"),
    ("<bean class='Kiosk'><replaced-method name='a' replacer='b'/></bean>", "<replaced-method> is not supported"),
    ("<bean class='Kiosk'><qualifier value='a'/></bean>", "<qualifier> is not supported: declare the tag"),
    ("<bean class='Kiosk'><property name='neighbour'><ref parent='a'/></property></bean>", "'parent' is not supported"),
    ("<bean class='Kiosk' value='1'/>", "'value' is not known; it belongs to <constructor-arg>, <entry>, <property>"),
    ("<bean class='Kiosk' clss='1'/>", "did you mean 'class'?"),
    ("<bean class='Kiosk'><property name='neighbour.name' value='1'/></bean>", "'neighbour.name' is a path"),
    ("<bean class='Kiosk' p:name='#{1 + 1}'/>", "expressions such as #{…} are not evaluated"),
    ("<util:list id='a'><value>1</value></util:list>", "a collection is not a bean"),
    ("<util:constant static-field='a'/>", "<util:constant> is not supported: write the value"),
    (
      "<bean class='Kiosk'><property name='any'><util:constant static-field='a'/></property></bean>",
      "<util:constant> is not supported: write the value"
    ),
    (
      "<bean class='org.springframework.beans.factory.config.PropertyPlaceholderConfigurer'/>",
      "placeholders need no bean"
    ),
    ("<bean class='java.util.ArrayList'/>", "a collection is not a bean"),
    ("<aop:config xmlns:aop='http://www.springframework.org/schema/aop'/>", "decorate the bean in Swift"),
    (
      "<bean class='Kiosk'><aop:scoped-proxy xmlns:aop='http://www.springframework.org/schema/aop'/></bean>",
      "declare the dependent property as a Provider"
    ),
    ("<x:y xmlns:x='http://www.springframework.org/schema/nothing'/>", "no handler is registered"),
  ])
  func constructsWithoutAnEquivalentNameTheirReplacement(text: String, message: String) throws {
    let faults = try faults(text)
    let isBoth = text.contains("factory-bean")
    #expect(faults.count == (isBoth ? 2 : 1) && faults.contains { $0.message.contains(message) }, "\(faults)")
  }

  @Test func aCircleOfPropertiesIsNamedAsOne() throws {
    let faults = try faults(
      """
      <bean id="t" class="CircleTable"><property name="guest" ref="g"/></bean>
      <bean id="g" class="CircleGuest"><property name="table" ref="t"/></bean>
      """)
    #expect(faults.map(\.code) == [.cyclicDependency])
    let message = faults.first?.message ?? ""
    #expect(message.contains("a circle of properties"), "\(message)")
    #expect(message.contains("property 'guest' at spring.xml:2:34"), "\(message)")
    #expect(message.contains("property 'table' at spring.xml:3:34"), "\(message)")
    #expect(message.contains("Provider") && message.contains("postConstruct()"), "\(message)")
    let environment = try load(
      "<bean id='t' class='CircleTable'/><bean class='CircleWaiter'/>")
    #expect(try environment.getBean(CircleWaiter.self).table.get() === environment.getBean(CircleTable.self))
    // A provider keeps its environment until the end.
    try environment.shutdown()
  }
}
