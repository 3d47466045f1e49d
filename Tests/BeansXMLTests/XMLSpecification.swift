import Beans
import BeansXML
import Foundation
import Testing

/// The meaning of documents, by the public API alone.
@Suite struct XMLSpecification {
  private static let root = """
    <beans
        xmlns:configuration="http://www.springframework.org/schema/configuration"
        xmlns="http://www.springframework.org/schema/beans"
        xsi:schemaLocation="http://www.springframework.org/schema/beans spring-beans-3.2.xsd">
    """

  /// The content begins in line 6.
  private func load(_ content: String, parent: Environment? = nil) throws -> Environment {
    let environment = try Environment(name: "xml", parent: parent)
    return try environment.loadXML(
      Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(Self.root)\n\(content)\n</beans>".utf8), source: "app.xml")
  }

  private func startupFaults(_ content: String) throws -> [EnvironmentError] {
    let environment = try load(content)
    let fault = try #require(throws: EnvironmentError.self) { try environment.startup() }
    return fault.code == .startupFailed ? fault.underlying.compactMap { $0 as? EnvironmentError } : [fault]
  }

  // MARK: the original's examples

  private func parent() throws -> Environment {
    try load(
      """
      <bean id="variables" class="ProcessInfoConfigurationSource"/>
      <bean id="first" class="Record">
        <property name="string" value="first"/>
        <property name="int" value="1"/>
        <property name="float" value="-1.1"/>
        <property name="double" value="-2.2"/>
      </bean>
      <bean class="Office"><property name="owner"><bean class="Person">
        <property name="name" value="${nobody=Andrea?}"/>
        <property name="age" value="${NO_SUCH_VARIABLE_HERE=51}"/>
      </bean></property></bean>
      <bean id="template" abstract="true" class="Person"><property name="name" value="${nobody=Andrea?}"/></bean>
      <configuration:configuration namespace="com.foo">
        <configuration:define key="odd" type="Int" value="not a number"/>
      </configuration:configuration>
      """)
  }

  @Test func aChildLoadsOnTopOfItsParent() throws {
    let parent = try parent()
    let child = try load(
      """
      <bean id="second" class="Record" depends-on="first"><property name="string" value="second"/></bean>
      <bean id="lazy" class="Record" lazy="true"><property name="string" value="lazy"/></bean>
      <bean id="prototype" class="Record" scope="prototype"/>
      <bean id="maker" class="PersonFactory" target="Person"><property name="name" value="4711"/></bean>
      <bean id="heir" parent="template"><property name="age" value="4711"/></bean>
      """, parent: parent)
    #expect(try child.getBean(Record.self, byId: "second").string == "second")
    #expect(try child.getBean(Record.self, byId: "lazy").string == "lazy")
    #expect(
      try child.getBean(Record.self, byId: "prototype") !== child.getBean(Record.self, byId: "prototype"))
    let heir = try child.getBean(Person.self, byId: "heir")
    #expect(heir.age == 4711 && heir.name == "Andrea?")
    #expect(try child.getBean(Person.self, byId: "maker").name == "4711")
    #expect(try child.getBean(PersonFactory.self, byId: "&maker").name == "4711")
    let first = try child.getBean(Record.self, byId: "first")
    #expect(first.int == 1 && first.float == -1.1 && first.double == -2.2)
    #expect(try child.getBean(Office.self).owner?.age == 51)
    try parent.shutdown()
  }

  @Test func aFactoryIsFoundByTheTypeOfItsProduct() throws {
    let environment = try load(
      """
      <bean id="template" abstract="true" class="PersonFactory"/>
      <bean class="PersonFactory" target="Person"><property name="name" value="only"/></bean>
      """)
    let person = try environment.getBean(Person.self)
    #expect(try person.name == "only" && environment.getBean(Person.self) === person)
  }

  @Test func configurationValuesAreReadByTheirType() throws {
    let environment = try load(
      """
      <configuration:configuration namespace="com.foo">
        <configuration:define key="string" type="String" value="hello"/>
        <configuration:define key="int" type="Int" value="1"/>
        <configuration:define key="bool" type="Bool" value="true"/>
        <configuration:define key="double" type="Double" value="1.5"/>
        <configuration:define key="odd" type="Int" value="bla"/>
        <configuration:define namespace="other" key="small" type="Int8" value="-5"/>
      </configuration:configuration>
      <configuration:configuration>
        <configuration:define key="plain" type="String" value=""/>
      </configuration:configuration>
      """
    ).startup()
    #expect(!environment.report().isEmpty)
    #expect(environment.configurationManager.report().contains("app.xml:6:1"))
    #expect(try environment.getConfigurationValue(String.self, namespace: "com.foo", key: "string") == "hello")
    #expect(try environment.getConfigurationValue(Int.self, namespace: "com.foo", key: "int") == 1)
    #expect(try environment.getConfigurationValue(Bool.self, namespace: "com.foo", key: "bool"))
    #expect(try environment.getConfigurationValue(Double.self, namespace: "com.foo", key: "double") == 1.5)
    #expect(try environment.getConfigurationValue(Int8.self, namespace: "other", key: "small") == -5)
    #expect(try environment.getConfigurationValue(String.self, key: "plain") == "")
    let fault = try #require(throws: EnvironmentError.self) {
      try environment.getConfigurationValue(Int.self, namespace: "com.foo", key: "odd")
    }
    #expect(fault.code == .conversionFailed && fault.message.contains("app.xml:6:1"), "\(fault)")
  }

  @Test func placeholdersAreResolvedAtStartup() throws {
    let environment = try load(
      """
      <bean id="a" class="Record">
        <property name="string" value="x${com.foo:text}y${plain=${com.foo:text}}z"/>
        <property name="int" value="${com.foo:number}"/>
        <property name="flag"><value>${no.such=true}</value></property>
        <property name="small" value="${com.foo:number}"/>
      </bean>
      <configuration:configuration namespace="com.foo">
        <configuration:define key="text" type="String" value="T"/>
        <configuration:define key="number" type="Int" value="12"/>
      </configuration:configuration>
      """)
    let record = try environment.getBean(Record.self)
    #expect(record.string == "xTyTz" && record.int == 12 && record.small == 12 && record.flag)
    let faults = try startupFaults("\n<bean class='Record'><property name='string' value='${no.such}'/></bean>")
    #expect(faults.map(\.code) == [.unresolvedPlaceholder])
    #expect(faults.first?.origin == .init(file: "app.xml", line: 7, column: 22), "\(faults)")
  }

  // MARK: beans

  @Test func attributesHaveTheirMeaningInSwift() throws {
    let environment = try load(
      """
      <bean id="one" class="Record" primary="true" lazy-init="true" depends-on="three, two"/>
      <bean id="two" class="Record" lazy="false"/>
      <bean id="three" class="Record" depends-on="two"/>
      <alias name="two" alias="zwei"/>
      <description>text that nobody reads</description>
      """)
    let two = try environment.getBean(Record.self, byId: "zwei")
    #expect(try environment.getBean(Record.self, byId: "two") === two)
    #expect(try environment.getBean(Record.self) === environment.getBean(Record.self, byId: "one"))
    let report = environment.report()
    #expect(report.contains("Record \"one\" lazy: true primary: true"), "\(report)")
  }

  @Test func aBeanMayDependOnProfiles() throws {
    for (active, value) in [("test", 1), ("production", 2)] {
      let parent = try Environment(name: "parent")
      defer { try? parent.shutdown() }
      try parent.define(parent.settings().setValue(key: "beans.profiles", value: active))
      let environment = try load(
        """
        <bean id="one" class="Record" profile="test, development"><property name="int" value="1"/></bean>
        <bean id="one" class="Record" profile="production"><property name="int" value="2"/></bean>
        """, parent: parent)
      #expect(try environment.getBean(Record.self, byId: "one").int == value)
    }
  }

  @Test(arguments: [
    ("test &amp; eu", ["test, eu"], ["test", "eu"]),
    ("test | !eu", ["test, eu", "us"], ["eu"]),
    ("(test | staging) &amp; !eu, us", ["test", "staging", "us, eu"], ["test, eu", "eu"]),
    ("test staging", ["test", "staging"], ["eu"]),
    ("test;\n!staging &amp; eu  us", ["test", "eu", "us, staging"], ["staging, eu"]),
  ])
  func profilesOfADocumentAreAListOfExpressions(text: String, holds: [String], fails: [String]) throws {
    for (active, count) in holds.map({ ($0, 2) }) + fails.map({ ($0, 0) }) {
      let parent = try Environment(name: "parent")
      defer { try? parent.shutdown() }
      try parent.define(parent.settings().setValue(key: "beans.profiles", value: active))
      let environment = try load(
        """
        <bean class="Record" profile="\(text)"/>
        <module class="RecordModule" profile="\(text)"/>
        """, parent: parent)
      #expect(try environment.getBeansByType(Record.self).count == count, "\(text) with \(active)")
    }
  }

  @Test(arguments: ["a &amp;", "a &amp; b | c", "(a", "a)", "!", ",", "a &amp; , b"])
  func aMalformedProfileIsAFaultAtItsAttribute(text: String) throws {
    for element in ["<bean class='Record'\n profile='\(text)'/>", "<module class='RecordModule'\n profile='\(text)'/>"]
    {
      let error = try #require(throws: EnvironmentError.self) { try load(element) }
      #expect(error.code == (text == "," ? .invalidXML : .invalidDeclaration), "\(error)")
      #expect(error.origin?.line == 7 && error.origin?.column == 2, "\(error)")
    }
  }

  @Test func aBeanMayGiveTheReasonWhyThreadsMayShareIt() throws {
    let environment = try load(
      """
      <bean id="one" class="Record" confined-to="the main loop"/>
      <bean id="two" class="Record" assume-sendable="nobody writes to it"/>
      """)
    try environment.startup(options: [.requireSendable])
    let other = try load("<bean id='one' class='Record'/>")
    let error = #expect(throws: EnvironmentError.self) { try other.startup(options: [.requireSendable]) }
    #expect(error?.code == .invalidDeclaration)
  }

  @Test func aDocumentMayIncludeModules() throws {
    for (active, count) in [("test", 1), ("production", 0)] {
      let parent = try Environment(name: "parent")
      defer { try? parent.shutdown() }
      try parent.define(parent.settings().setValue(key: "beans.profiles", value: active))
      let environment = try load(
        """
        <module class="RecordModule" profile="test"/>
        <module class="BeansXMLTests.RecordModule" profile="test"/>
        """, parent: parent)
      #expect(try environment.getBeansByType(Record.self).count == count)
    }
  }

  @Test(arguments: [
    ("<module class='Record'/>", "does not conform to BeanModule and Initializable"),
    ("<module class='NoSuchModule'/>", "NoSuchModule"),
    ("<module/>", "the attribute 'class' is missing"),
    ("<module class='RecordModule'><bean class='Record'/></module>", "<bean> is not known"),
  ])
  func aClassThatIsNoModuleIsAFault(element: String, message: String) throws {
    let error = try #require(throws: EnvironmentError.self) { try load(element) }
    #expect("\(error)".contains(message), "\(error)")
    #expect(error.origin?.line != nil)
  }

  @Test func templatesMayLackAClassAndBeAnywhere() throws {
    let environment = try load(
      """
      <bean id="leaf" parent="middle" class="Record"><property name="int" value="3"/></bean>
      <bean id="middle" parent="top" abstract="true"><property name="string" value="middle"/></bean>
      <bean id="top" abstract="true" scope="prototype"><property name="string" value="top"/><property name="flag" value="true"/></bean>
      """)
    let leaf = try environment.getBean(Record.self)
    #expect(leaf.string == "middle" && leaf.flag && leaf.int == 3)
    #expect(try environment.getBean(Record.self) !== leaf)
  }

  @Test func constructorArgumentsPinTheParametersOfATemplatesFactory() throws {
    let environment = try Environment(name: "swift")
    try environment.define(environment.bean(Invoice.self, id: "invoice", abstract: true, factory: Invoice.init))
    try environment.loadXML(
      Data(
        """
        <beans>
          <bean id="payer" class="Person"/>
          <bean class="Person"/>
          <bean id="a" parent="invoice"><constructor-arg index="1" ref="payer"/><constructor-arg index="0" value="${no=7}"/></bean>
          <bean id="b" parent="invoice">
            <constructor-arg><value>8</value></constructor-arg>
            <constructor-arg><bean class="Person"><property name="name" value="inner"/></bean></constructor-arg>
          </bean>
        </beans>
        """.utf8))
    let (a, b) = try (environment.getBean(Invoice.self, byId: "a"), environment.getBean(Invoice.self, byId: "b"))
    #expect(try a.number == 7 && a.payer === environment.getBean(Person.self, byId: "payer"))
    #expect(b.number == 8 && b.payer.name == "inner")
  }

  @Test func beansInBeansAreBeansToAnyDepth() throws {
    let environment = try load(
      """
      <bean class="Labeller"/>
      <bean class="Office"><property name="desk"><bean class="Desk">
        <property name="drawers" value="3"/>
        <property name="lamp"><bean class="Lamp">
          <property name="watts" value="40"/>
          <property name="shade"><bean id="shade" class="Shade"><property name="colour" value="red"/></bean></property>
        </bean></property>
      </bean></property></bean>
      """)
    let desk = try #require(try environment.getBean(Office.self).desk)
    #expect(desk.drawers == 3 && desk.lamp?.watts == 40)
    #expect(desk.lamp?.shade?.colour == "red labelled")
    #expect(try environment.getBean(Shade.self, byId: "shade") === desk.lamp?.shade)
  }

  @Test func collectionsTakeValuesReferencesAndBeans() throws {
    let environment = try load(
      """
      <bean id="eve" class="Person"><property name="name" value="Eve"/></bean>
      <bean class="Office">
        <property name="owner" ref="eve"/>
        <property name="names"><list><value>a</value><value> b </value><value><![CDATA[ c ]]></value><value/></list></property>
        <property name="numbers"><set><value>1</value><value>${two=2}</value></set></property>
        <property name="ages"><map>
          <entry key="x" value="1"/><entry key="y"><value>2</value></entry>
          <entry value="3"><key><value>z</value></key></entry>
        </map></property>
        <property name="people"><list><ref bean="eve"/><bean class="Person"><property name="age" value="9"/></bean></list></property>
        <property name="byName"><map><entry key="eve" value-ref="eve"/></map></property>
      </bean>
      """)
    let office = try environment.getBean(Office.self)
    let eve = try environment.getBean(Person.self, byId: "eve")
    #expect(office.owner === eve && office.names == ["a", " b ", " c ", ""])
    #expect(office.numbers == [1, 2] && office.ages == ["x": 1, "y": 2, "z": 3])
    #expect(office.people.map(\.age) == [51, 9] && office.people[0] === eve && office.byName["eve"] === eve)
  }

  @Test func nullClearsAnOptional() throws {
    let environment = try load(
      """
      <bean id="base" abstract="true" class="Person"><property name="name" value="somebody"/></bean>
      <bean parent="base"><property name="name"><null/></property></bean>
      """)
    #expect(try environment.getBean(Person.self).name == nil)
  }

  @Test func scopesAreKnownAtStartup() throws {
    let environment = try load("<bean class='Record' scope='shift'/>\n<bean class='ShiftScope'/>")
    let record = try environment.getBean(Record.self)
    #expect(try environment.getBean(Record.self) === record)
    #expect(try startupFaults("<bean class='Record' scope='no.such'/>").map(\.code) == [.unknownScope])
  }

  @Test func aConfigurationSourceIsABean() throws {
    let folder = try TemporaryFolder()
    let json = try folder.write("a.json", #"{"server": {"port": 8080}}"#)
    let plist = try folder.write(
      "b.plist", "<plist version=\"1.0\"><dict><key>com.foo:name</key><string>P</string></dict></plist>")
    let environment = try load(
      """
      <bean class="Record">
        <property name="int" value="${server.port}"/><property name="string" value="${com.foo:name}"/>
      </bean>
      <bean class="JSONConfigurationSource"><property name="path" value="\(json)"/></bean>
      <bean class="PlistConfigurationSource"><property name="path" value="\(plist)"/></bean>
      """)
    let record = try environment.getBean(Record.self)
    #expect(record.int == 8080 && record.string == "P")
  }

  // MARK: all or nothing, and faults

  @Test func aFaultyDocumentLeavesNoDeclarationBehind() throws {
    let environment = try Environment(name: "xml")
    for document in [
      "<beans><bean id='a' class='Record'/><unknown/></beans>", "<beans><bean id='a' class='Record'/>",
      "<beans xmlns:c='http://www.springframework.org/schema/configuration'><c:configuration><c:define key='k' "
        + "type='Int' value='1'/></c:configuration><alias name='a' alias='b'/><bean class='NoSuchClass'/></beans>",
    ] {
      #expect(throws: EnvironmentError.self) { try environment.loadXML(Data(document.utf8)) }
    }
    try environment.loadXML(Data("<beans><bean id='a' class='Record'/></beans>".utf8))
    #expect(try environment.getBean(Record.self, byId: "a").string == "")
    #expect(!environment.configurationManager.hasValue(key: "k"))
    #expect(throws: EnvironmentError.self) { try environment.getBean(Record.self, byId: "b") }
  }

  @Test func faultsOfStartupNameTheTag() throws {
    let faults = try startupFaults(
      """
      <bean id="one" class="Record"><property name="strin" value=""/></bean>
        <bean id="two" class="Record"><property name="int" value="many"/></bean>
      <bean id="three" class="Office"><property name="owner" ref="nobody"/></bean>
      <bean id="four" class="Record" depends-on="nobody"/>
      <bean id="five" parent="nobody"/>
      <bean id="one" class="Record"/>
      <alias name="nobody" alias="somebody"/>
      <bean id="six" class="Office"><property name="desk"><bean class="Desk">
        <property name="drawer" value="1"/></bean></property></bean>
      """)
    let places = faults.map { "\($0.code) \($0.origin.map { "\($0.line):\($0.column ?? 0)" } ?? "-")" }.sorted()
    #expect(
      places
        == [
          "conversionFailed 7:33", "duplicateId 11:1", "unknownBean 10:1", "unknownBean 12:1", "unknownBean 8:33",
          "unknownBean 9:1", "unknownProperty 14:3", "unknownProperty 6:31",
        ], "\(faults)")
    #expect(faults.allSatisfy { $0.origin?.file == "app.xml" })
  }

  @Test func cyclesAreDrawnWithTheirPlace() throws {
    let faults = try startupFaults(
      "<bean id='a' class='Record' depends-on='b'/>\n<bean id='b' class='Record' depends-on='a'/>")
    #expect(faults.map(\.code) == [.cyclicDependency] && faults.first?.origin?.file == "app.xml")
  }

  @Test func aStartedEnvironmentIsFrozen() throws {
    let environment = try load("<bean class='Record'/>").startup()
    let fault = #expect(throws: EnvironmentError.self) {
      try environment.loadXML(
        Data(
          "<beans xmlns:c='http://www.springframework.org/schema/configuration'><c:configuration>"
            .appending("<c:define key='k' type='Int' value='1'/></c:configuration></beans>").utf8))
    }
    #expect(fault?.code == .frozen)
    #expect(!environment.configurationManager.hasValue(key: "k"))
  }

  @Test func manyBeansLoad() throws {
    let content = (0..<2_000).map {
      "<bean id='b\($0)' class='Record' lazy='true'><property name='int' value='\($0)'/></bean>"
    }
    let environment = try load(content.joined(separator: "\n"))
    #expect(try environment.getBean(Record.self, byId: "b1999").int == 1999)
  }

  @Test func aChildrensConfigureMayLoad() throws {
    let environment = try load("<bean id='p' class='Person'/>")
    let factory = try environment.childFactory("request", seed: Int.self) { child in
      try child.loadXML(
        Data(
          "<beans><bean class='Office'><property name='owner' ref='chief'/></bean><alias name='p' alias='chief'/></beans>"
            .utf8))
    }
    try environment.startup()
    try factory.withChild(1) { child in
      let person = try environment.getBean(Person.self, byId: "p")
      #expect(try child.getBean(Office.self).owner === person)
    }
  }
}
