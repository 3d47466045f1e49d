import Beans
import Foundation
import Testing

@testable import BeansXML

final class FaultyBean: Initializable {
  var text = ""
}

/// Well-formed XML with errors: each fault has its place, and none of the document is defined.
@Suite struct FaultyDocumentTests {
  private static let bean = "class='FaultyBean'"

  /// Returns the faults of a document that has the text in its third line, from its third column.
  private func faults(_ text: String) throws -> [EnvironmentError] {
    let environment = try Environment(name: "test")
    let document =
      "<?xml version='1.0'?>\n<beans xmlns:configuration='http://www.springframework.org/schema/configuration'>\n  \(text)\n</beans>"
    let error = #expect(throws: EnvironmentError.self) {
      try environment.loadXML(Data("\(document)".utf8), source: "faulty.xml")
    }
    #expect(!environment.report().contains("FaultyBean"))
    guard let error else { return [] }
    return error.underlying.isEmpty ? [error] : error.underlying.compactMap { $0 as? EnvironmentError }
  }

  @Test(arguments: [
    // Unknown or misplaced elements.
    ("<unknown/>", 3, "<unknown> is not known in <beans>"),
    ("<bena \(bean)/>", 3, "<bena> is not known in <beans>; did you mean <bean>?"),
    ("<modul class='a'/>", 3, "did you mean <module>?"),
    ("<alais name='a' alias='b'/>", 3, "did you mean <alias>?"),
    (
      "<bean \(bean)><propery name='text' value='1'/></bean>", 28,
      "<propery> is not known in <bean>; did you mean <property>?"
    ),
    ("<bean \(bean)><constructor-args value='1'/></bean>", 28, "did you mean <constructor-arg>?"),
    ("<bean \(bean)><property name='text'><lsit/></property></bean>", 50, "did you mean <list>?"),
    (
      "<bean \(bean)><property name='text'><map><enrty key='a' value='b'/></map></property></bean>", 55,
      "did you mean <entry>?"
    ),
    (
      "<bean \(bean)><property name='text'><props><porp key='a'>b</porp></props></property></bean>", 57,
      "did you mean <prop>?"
    ),
    ("<configuration:configuraton/>", 3, "did you mean <configuration:configuration>?"),
    (
      "<configuration:configuration><configuration:defin key='a' type='Int' value='1'/></configuration:configuration>",
      32,
      "did you mean <configuration:define>?"
    ),
    ("<property name='a' value='b'/>", 3, "belongs into <bean>"),
    ("<beans default-lazy='true'/>", 10, "'default-lazy' is not known"),
    ("<configuration:define key='a' type='Int' value='1'/>", 3, "belongs into <configuration>"),
    ("<bean \(bean)><value>1</value></bean>", 28, "<value> is not known in <bean>; it belongs into <property>"),
    (
      "<bean \(bean)><property name='text'><prop key='a'>1</prop></property></bean>", 50,
      "<prop> is not known in a value; it belongs into <props>"
    ), ("<alias name='a' alias='b'><bean/></alias>", 29, "<bean> is not known in <alias>; it belongs into <beans>"),
    ("<configuration:unknown/>", 3, "not known in <beans>"),
    ("<configuration:configuration><bean \(bean)/></configuration:configuration>", 32, "<bean> is not known in"),
    ("<bean \(bean)><bean \(bean)/></bean>", 28, "<bean> is not known in <bean>"),
    ("<bean \(bean)><configuration:define/></bean>", 28, "not known in <bean>"),
    ("<bean \(bean)><property name='text'><entry/></property></bean>", 50, "not known in a value"),
    ("<bean \(bean)><property name='text'><map><value>1</value></map></property></bean>", 55, "not known in <map>"),
    (
      "<bean \(bean)><property name='text'><value>1<null/></value></property></bean>", 58,
      "<null> is not known in <value>"
    ),
    ("<bean \(bean)><property name='text'><configuration:define/></property></bean>", 50, "not known in a value"),
    ("<q:bean \(bean)/>", 3, "the prefix 'q' is not declared"),
    ("<q:bean xmlns:q='u:unknown'/>", 3, "no handler is registered for the namespace 'u:unknown'"),
    (
      "<q:define xmlns:q='http://www.springframework.org/schema/configuraton'/>", 3,
      "; did you mean 'http://www.springframework.org/schema/configuration'?"
    ),
    ("some text<!-- --><bean \(bean)/>", -10, "text is not expected"),
    ("<bean \(bean)>text</bean>", 3, "text is not expected"),
    // Attributes.
    ("<bean clas='FaultyBean' \(bean)/>", 9, "'clas' is not known; did you mean 'class'?"),
    ("<bean \(bean) init-method='start'/>", 28, "postConstruct"),
    ("<bean \(bean) name=','/>", 28, "names nothing"),
    ("<bean \(bean) lazy='yes'/>", 28, "'lazy' must be true or false, not 'yes'"),
    ("<bean \(bean) lazy-init=''/>", 28, "must not be empty"),
    ("<bean \(bean) abstract='TRUE'/>", 28, "must be true or false"),
    ("<bean \(bean) primary='1'/>", 28, "must be true or false"),
    ("<bean \(bean) lazy='true' lazy-init='true'/>", 40, "have the same meaning"),
    ("<bean \(bean) id=''/>", 28, "'id' must not be empty"),
    ("<bean \(bean) id=' '/>", 28, "'id' must not be empty"),
    ("<bean \(bean) depends-on=','/>", 28, "names nothing"),
    ("<bean \(bean) q:x='1'/>", 28, "'q:x' is not known"),
    ("<bean \(bean) xmlns:q='u:unknown' q:x='1'/>", 48, "'q:x' is not known"),
    ("<bean/>", 3, "neither a class nor a parent"),
    ("<bean class=''/>", 9, "'class' must not be empty"),
    ("<bean abstract='true'/>", 3, "a template needs an id"),
    ("<bean \(bean)><property value='1'/></bean>", 28, "'name' is missing"),
    ("<bean \(bean)><property name='text'/></bean>", 28, "exactly one of"),
    ("<bean \(bean)><property name='text' value='1' ref='a'/></bean>", 28, "exactly one of"),
    ("<bean \(bean)><property name='text' value='1'><null/></property></bean>", 28, "exactly one of"),
    ("<bean \(bean)><property name='text'><null/><null/></property></bean>", 28, "exactly one of"),
    ("<bean \(bean)><property name='text' value='1'>1</property></bean>", 28, "text is not expected"),
    ("<bean \(bean)><property name='text' ref=''/></bean>", 50, "'ref' must not be empty"),
    ("<bean \(bean)><property name='text'><ref/></property></bean>", 50, "'bean' is missing"),
    ("<bean \(bean)><property name='text'><null>x</null></property></bean>", 50, "text is not expected"),
    ("<bean \(bean)><constructor-arg index='-1' value=''/></bean>", 45, "must be a number from 0"),
    ("<bean \(bean)><constructor-arg index='99999999999999999999' value=''/></bean>", 45, "must be a number from 0"),
    ("<bean \(bean)><constructor-arg index=''  value=''/></bean>", 45, "must not be empty"),
    ("<bean \(bean)><constructor-arg type='Int' value='1'/></bean>", 45, "'type' is not supported: use index"),
    ("<bean \(bean)><property name='m'><map><entry value='1'/></map></property></bean>", 52, "'key', 'key-ref'"),
    ("<bean \(bean)><property name='m'><map><entry key='1'/></map></property></bean>", 52, "'value', 'value-ref'"),
    (
      "<bean \(bean)><property name='m'><map><entry value='1'><key/></entry></map></property></bean>", 69, "exactly one"
    ),
    ("<alias name='a'/>", 3, "'alias' is missing"), ("<alias name='a' alias=''/>", 19, "must not be empty"),
    ("<import/>", 3, "'resource' is missing"), ("<import resource='/no/such/file.xml'/>", 11, "does not exist"),
    ("<import resource='https://example.org/beans.xml'/>", 11, "only local files"),
    ("<import resource='classpath:beans.xml'/>", 11, "does not exist beside"),
    ("<import resource='classpath*:/beans.xml'/>", 11, "does not exist beside"),
    ("<import resource='classpath*:*/beans.xml'/>", 11, "wildcards"), ("<import resource='*.xml'/>", 11, "wildcards"),
    ("<import resource='${place}/beans.xml'/>", 11, "are not replaced"),
    ("<import resource='file://host/beans.xml'/>", 11, "only local files"),
    ("<import resource='/'/>", 11, "not a file"),
    ("<import resource='/dev/zero'/>", 11, "not a file"),
  ])
  func aFaultyElementIsOneFaultWithItsPlace(_ text: String, column: Int, says: String) throws {
    let faults = try faults(text)
    #expect(faults.count == 1, "\(faults)")
    let fault = try #require(faults.first)
    #expect(fault.code == .invalidXML)
    #expect(fault.message.contains(says), "\(fault)")
    // Text has no place of its own: that of its element.
    let place = column < 0 ? (line: 2, column: 1) : (line: 3, column: column)
    #expect(fault.origin == .init(file: "faulty.xml", line: place.line, column: place.column), "\(fault)")
  }

  @Test(arguments: [
    ("<configuration:define type='Int' value='1'/>", "'key' is missing"),
    ("<configuration:define key='' type='Int' value='1'/>", "'key' must not be empty"),
    ("<configuration:define key='a' value='1'/>", "'type' is missing"),
    ("<configuration:define key='a' type='Integer' value='1'/>", "'Integer' is not a type of values"),
    ("<configuration:define key='a' type='Int'/>", "'value' is missing"),
    ("<configuration:define key='a' type='Int' value='1' x=''/>", "'x' is not known"),
    ("<configuration:define key='a' type='Int' value='1'>1</configuration:define>", "text is not expected"),
    ("<configuration:define key='a' type='Int' value='1'><bean/></configuration:define>", "<bean> is not known"),
  ])
  func faultySettingsAreFaults(_ text: String, says: String) throws {
    let faults = try faults("<configuration:configuration>\(text)</configuration:configuration>")
    #expect(faults.count == 1 && faults[0].code == .invalidXML && faults[0].message.contains(says), "\(faults)")
    #expect(faults.first?.origin?.line == 3)
  }

  @Test func classesThatDoNotExistAreNamedWithTheirPlace() throws {
    let unknown = try faults("<bean class='NoSuchClass'/>\n<bean \(Self.bean) target='NoSuchTarget'/>")
    #expect(unknown.map(\.code) == [.unknownClass, .unknownClass])
    #expect(unknown.map { $0.origin?.line } == [3, 4] && unknown.map { $0.origin?.column } == [9, 26])
    #expect(unknown[0].message.contains("'NoSuchClass'"))
  }

  @Test func allFaultsAreReportedAtOnce() throws {
    let found = try faults(
      """
      <unknown/><bean id='' clas=''><property value='1'><bean lazy='no' class='NoSuch'/></property></bean>
      <bean \(Self.bean)><property name='text' value='1'/><property name='text' value='2'/><list/></bean>
      <bean \(Self.bean)><constructor-arg value='1'/><constructor-arg index='0' value='2'/></bean>
      <alias/>
      """)
    let messages = found.map(\.message).joined(separator: "\n")
    for part in [
      "<unknown>", "'id' must not be empty", "'clas'", "neither a class", "'name' is missing",
      "exactly one of", "'lazy'", "'NoSuch'", "'text' is set twice", "<list>", "argument 0 is given twice",
      "'name' is missing", "'alias' is missing",
    ] {
      #expect(messages.contains(part), "\(part) in\n\(messages)")
    }
    #expect(Set(found.compactMap { $0.origin?.line }) == [3, 4, 5, 6])
  }

  @Test func theRootMustBeBeans() throws {
    for (root, says) in [
      ("<bean/>", "must be <beans>, not <bean>"), ("<beans xmlns='u:other'/>", "of the namespace 'u:other'"),
      ("<q:beans/>", "must be <beans>"), ("<beans unknown='1'/>", "'unknown' is not known"),
    ] {
      let fault = #expect(throws: EnvironmentError.self) { try Environment().loadXML(Data(root.utf8)) }
      #expect(fault?.code == .invalidXML && fault?.message.contains(says) == true, "\(String(describing: fault))")
      #expect(fault?.origin?.file == "XML" && fault?.origin?.line == 1)
    }
  }

  @Test func anyByteChangedEndsInADeclarationOrAFault() {
    let document = Array(
      """
      <beans xmlns:c='http://www.springframework.org/schema/configuration'><import resource='x'/>
      <bean id='a' \(Self.bean) lazy='true' depends-on='b'><property name='text'><map><entry key='k' value='v'/></map>
      </property><constructor-arg index='0'><list><ref bean='a'/><null/></list></constructor-arg></bean>
      <beans profile='x' default-lazy-init='true' xmlns:p='http://www.springframework.org/schema/p'><bean id='d' name='e f'
      class='FaultyBean' p:text='${k:1}'><description>d</description><meta key='a' value='b'/><property name='text'><idref
      bean='a'/></property><property name='text'><list merge='true' value-type='int'><value> 1 </value></list></property>
      </bean></beans><alias name='a' alias='b'/><c:configuration><c:define key='k' type='Int' value='1'/></c:configuration></beans>
      """.utf8)
    for index in document.indices {
      for byte in [0x22, 0x26, 0x3C, 0xC3] as [UInt8] {
        var changed = document
        changed[index] = byte
        do {
          let resolver: XMLResource.Resolver = { _, _ in XMLResource(data: Data("<beans/>".utf8), source: "y") }
          try Environment().loadXML(
            Data(changed), source: "x", handlers: [], resolver: resolver, placeholders: .spring
          ).startup()
        } catch {
          #expect(error is EnvironmentError)
        }
      }
    }
  }

  @Test func theDeepestDocumentFitsTheUsualStack() async throws {
    let count = 126
    let text =
      "<beans>" + String(repeating: "<bean \(Self.bean)><property name='text'>", count: count) + "<list/>"
      + String(repeating: "</property></bean>", count: count) + "</beans>"
    let hasLoaded = await withCheckedContinuation { continuation in
      let thread = Thread {
        continuation.resume(returning: (try? Environment().loadXML(Data(text.utf8))) != nil)
      }
      thread.stackSize = 8 * 1024 * 1024
      thread.start()
    }
    #expect(hasLoaded)
  }
}
