import Beans
import BeansXML
import Foundation
import Testing

/// The places of faults in documents: the element with the error.
@Suite struct FaultPlaceSpecification {
  /// Returns the faults of startup, each with its place; the first line of the text is line 2.
  private func faults(
    _ text: String, _ prepare: (Environment) throws -> Void = { _ in }
  ) throws -> [(place: String, fault: EnvironmentError)] {
    let environment = try Environment(name: "places")
    try prepare(environment)
    try environment.loadXML(Data("<beans>\n\(text)\n</beans>".utf8), source: "app.xml")
    let fault = try #require(throws: EnvironmentError.self) { try environment.startup() }
    let all = fault.code == .startupFailed ? fault.underlying.compactMap { $0 as? EnvironmentError } : [fault]
    return all.map { ($0.origin.map { "\($0)" } ?? "nowhere", $0) }.sorted { $0.0 < $1.0 }
  }

  @Test func aFaultOfAPropertyHasThePlaceOfTheProperty() throws {
    let found = try faults(
      """
      <bean class="Record">
        <property name="string" value="all is well"/>
        <property name="strng" value="no such property"/>
        <property name="int"
                  value="no number"/>
        <property name="double" value="${missing}"/>
        <property name="small"><value>300</value></property>
        <property name="flag"><null/></property>
      </bean>
      """)
    #expect(
      found.map(\.place) == ["app.xml:4:3", "app.xml:5:3", "app.xml:7:3", "app.xml:8:3", "app.xml:9:3"], "\(found)")
    #expect(
      found.map(\.fault.code) == [
        .unknownProperty, .conversionFailed, .unresolvedPlaceholder, .conversionFailed, .typeMismatch,
      ])
    #expect(found.allSatisfy { $0.fault.path == ["Record"] })
  }

  @Test func anUnknownReferenceHasThePlaceOfTheProperty() throws {
    let found = try faults(
      """
      <bean id="lamp" class="Lamp"/>
      <bean id="office" class="Office">
        <property name="owner" ref="nobody"/>
        <property name="desk" ref="lamp"/>
      </bean>
      <bean class="Office">
        <property name="owner">
          <ref bean="nobody"/>
        </property>
      </bean>
      """)
    #expect(found.map(\.place) == ["app.xml:4:3", "app.xml:5:3", "app.xml:8:3"], "\(found)")
    #expect(found.map(\.fault.code) == [.unknownBean, .typeMismatch, .unknownBean])
  }

  @Test func aFaultOfAnElementHasThePlaceOfTheElement() throws {
    let found = try faults(
      """
      <bean class="Office">
        <property name="numbers">
          <list>
            <value>1</value>
            <value>two</value>
          </list>
        </property>
        <property name="ages">
          <map>
            <entry key="a" value="1"/>
            <entry key="b" value="none"/>
          </map>
        </property>
        <property name="people">
          <list>
            <ref bean="nobody"/>
          </list>
        </property>
        <property name="byName">
          <map>
            <entry key="a" value-ref="nobody"/>
          </map>
        </property>
      </bean>
      <bean class="Office">
        <property name="ages">
          <props>
            <prop key="a">1</prop>
            <prop key="b">none</prop>
          </props>
        </property>
      </bean>
      <bean class="Office">
        <property name="ages">
          <map>
            <entry key="a" value="1"/>
            <entry key="a" value="2"/>
          </map>
        </property>
        <property name="owner"><list/></property>
      </bean>
      """)
    #expect(
      found.map(\.place) == [
        "app.xml:12:7", "app.xml:17:7", "app.xml:22:7", "app.xml:30:7", "app.xml:35:3", "app.xml:41:3", "app.xml:6:7",
      ], "\(found)")
    #expect(found.last?.fault.message.hasPrefix("property 'numbers', element 1: ") == true)
  }

  @Test func aFaultOfAnArgumentHasThePlaceOfTheArgument() throws {
    let found = try faults(
      """
      <bean id="a" parent="invoice">
        <constructor-arg value="12"/>
        <constructor-arg ref="nobody"/>
      </bean>
      <bean id="b" parent="invoice">
        <constructor-arg value="twelve"/>
        <constructor-arg index="7" value="1"/>
      </bean>
      <bean id="payer" class="Person"/>
      """
    ) { environment in
      try environment.define(
        environment.bean(Invoice.self, id: "invoice", abstract: true, factory: Invoice.init(number:payer:)))
    }
    #expect(found.map(\.place) == ["app.xml:4:3", "app.xml:7:3", "app.xml:8:3"], "\(found)")
    #expect(found.map(\.fault.code) == [.unknownBean, .conversionFailed, .invalidDeclaration])
  }

  @Test func aFaultOfATemplatesContentHasItsPlaceInTheTemplate() throws {
    let found = try faults(
      """
      <bean id="template" class="Person" abstract="true">
        <property name="name" value="nobody"/>
        <property name="age" value="old"/>
      </bean>
      <bean id="person" parent="template">
        <property name="name" value="somebody"/>
      </bean>
      <bean id="office" class="Office">
        <property name="owner">
          <bean class="Person">
            <property name="age" value="young"/>
          </bean>
        </property>
      </bean>
      """)
    #expect(found.map(\.place) == ["app.xml:12:7", "app.xml:4:3"], "\(found)")
    #expect(found.map(\.fault.path) == [["Person"], ["Person 'person'"]], "\(found)")
  }

  private struct Archive: BeanModule {
    func configure(_ environment: Environment) throws {
      let document = """
        <beans>
          <bean class="Office">
            <property name="numbers">
              <list><value>one</value></list>
            </property>
            <property name="owner" ref="nobody"/>
          </bean>
        </beans>
        """
      try environment.loadXML(Data(document.utf8), source: "archive.xml")
    }
  }

  @Test func aFaultInADocumentOfAModuleNamesTheModule() throws {
    let found = try faults("") { try $0.include(Archive()) }
    #expect(
      found.map(\.place) == ["archive.xml:4:13 in module Archive", "archive.xml:6:5 in module Archive"], "\(found)")
  }

  @Test func aFaultOfTheBeanHasThePlaceOfTheBean() throws {
    let found = try faults(
      """
      <bean class="Person"
            scope="no such scope">
        <property name="age" value="7"/>
      </bean>
      """)
    #expect(found.map(\.place) == ["app.xml:2:1"], "\(found)")
  }

  @Test func textThatIsMalformedIsFoundAtItsPropertyBeforeSourcesAreBuilt() throws {
    let found = try faults(
      """
      <bean class="ProcessInfoConfigurationSource"/>
      <bean class="Record">
        <property name="string" value="${open"/>
      </bean>
      """)
    #expect(found.map(\.place) == ["app.xml:4:3"], "\(found)")
  }

  @Test func theReportShowsLineAndColumnWhereOriginsAreTraced() throws {
    let environment = try Environment(name: "places", traceOrigin: true)
    let document = "<beans>\n  <bean id='one' class='Person'/><bean id='two' class='Person'/>\n</beans>"
    try environment.loadXML(Data(document.utf8), source: "app.xml")
    for report in [environment.report(), try environment.startup().report()] {
      #expect(report.contains("origin: app.xml:2:3\n"), "\(report)")
      #expect(report.contains("origin: app.xml:2:34\n"), "\(report)")
    }
  }
}
