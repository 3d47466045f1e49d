import Beans
import BeansXML
import Foundation
import Testing

// The listings of the README of `inject`, in order: configuration values and XML.
//
// Changed by Swift 6: throwing calls are marked `try`; `Data` instead of `NSData`. The README's document is lost in
// the remaining copies: the one here has every element and attribute that its parser knew.

/// In a namespace, because the names of classes in documents are searched in the whole program.
enum Weekly {
  final class Mailer: Initializable {
    var host = ""
    var port = 0
    var sender = ""
    var isAudited = false
  }

  final class AuditProcessor: BeanPostProcessor, Initializable {
    func process(_ bean: AnyObject) throws -> AnyObject {
      (bean as? Mailer)?.isAudited = true
      return bean
    }
  }

  final class Ticket: Initializable {}

  final class Counter: Initializable {}

  final class Report {
    let title: String
    init(title: String) { self.title = title }
  }

  final class ReportFactory: FactoryBean, Initializable {
    var title = ""
    func create() throws -> Report { Report(title: title) }
  }

  final class Office: Initializable {
    var mailer: Mailer?
    var desk: Desk?
  }

  final class Desk: Initializable {
    var drawers = 0
  }
}

@Suite("The README of inject: configuration values and XML") struct InjectReadmeConfiguration {
  @Test("Configuration values come from the process and a property list")
  func configurationValues() throws {
    // "will read Info.plist in the current bundle": on Linux, from beside the executable.
    let folder = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
    let list = folder.appendingPathComponent("Info.plist")
    try PropertyListSerialization.data(fromPropertyList: ["answer": 42], format: .xml, options: 0).write(to: list)
    defer { try? FileManager.default.removeItem(at: list) }

    let environment = try Environment()
    try environment.addConfigurationSource(ProcessInfoConfigurationSource())  // process info
    try environment.addConfigurationSource(PlistConfigurationSource(name: "Info"))  // will read Info.plist

    // retrieve some values

    let height = try environment.getConfigurationValue(
      Int.self, key: "SIMULATOR_MAINSCREEN_HEIGHT", defaultValue: 100)  // implicit conversion!
    #expect(height == ProcessInfo.processInfo.environment["SIMULATOR_MAINSCREEN_HEIGHT"].flatMap(Int.init) ?? 100)
    #expect(try environment.getConfigurationValue(String.self, key: "answer") == "42")
    let path = try #require(ProcessInfo.processInfo.environment["PATH"])
    #expect(try environment.getConfigurationValue(String.self, key: "PATH") == path)
  }

  private let document = """
    <?xml version="1.0" encoding="UTF-8"?>
    <beans
        xmlns:configuration="http://www.springframework.org/schema/configuration"
        xmlns="http://www.springframework.org/schema/beans"
        xsi:schemaLocation="http://www.springframework.org/schema/beans spring-beans-3.2.xsd">
      <configuration:configuration namespace="shop.mail">
        <configuration:define key="host" type="String" value="smtp.example.org"/>
        <configuration:define key="port" type="Int" value="2525"/>
        <configuration:define namespace="shop" key="tls" type="Bool" value="true"/>
      </configuration:configuration>

      <!-- a configuration source: `Inject.` is `Beans.` -->
      <bean class="Beans.ProcessInfoConfigurationSource"/>

      <bean id="auditor" class="Weekly.AuditProcessor"/>

      <!-- a template, and a bean that takes its class from it -->
      <bean id="mailer-base" class="Weekly.Mailer" abstract="true">
        <property name="host" value="${shop.mail:host}"/>
        <property name="port" value="${shop.mail:port=25}"/>
      </bean>
      <bean id="mailer" parent="mailer-base" lazy="true">
        <property name="sender" value="noreply@${NO_SUCH_MAIL_DOMAIN=${shop.mail:host}}"/>
      </bean>

      <bean id="ticket" class="Weekly.Ticket" scope="prototype" depends-on="counter"/>
      <bean id="counter" class="Weekly.Counter"/>

      <!-- whoever asks for a report gets what the factory makes -->
      <bean id="report-factory" class="Weekly.ReportFactory" target="Weekly.Report">
        <property name="title" value="weekly"/>
      </bean>

      <!-- a reference, and a bean in place -->
      <bean id="office" class="Weekly.Office">
        <property name="mailer" ref="mailer"/>
        <property name="desk"><bean class="Weekly.Desk"><property name="drawers" value="3"/></bean></property>
      </bean>
    </beans>
    """

  @Test("An XML document configures beans")
  func xml() throws {
    let environment = try Environment(name: "environment")
    let data: Data = Data(document.utf8)
    try environment
      .loadXML(data)
      .startup()

    let mailer = try environment.getBean(Weekly.Mailer.self)
    #expect(mailer.host == "smtp.example.org" && mailer.port == 2525 && mailer.isAudited)
    #expect(mailer.sender == "noreply@smtp.example.org")
    #expect(try environment.getConfigurationValue(Bool.self, namespace: "shop", key: "tls"))
    #expect(try environment.getBean(Weekly.Ticket.self) !== environment.getBean(Weekly.Ticket.self))
    #expect(try environment.getBean(Weekly.Report.self).title == "weekly")
    let office = try environment.getBean(Weekly.Office.self)
    #expect(office.mailer === mailer && office.desk?.drawers == 3)
  }

  @Test("The faults of an XML document are reported with their lines, all at once")
  func faults() throws {
    let environment = try Environment(name: "environment")
    let data = Data(
      """
      <beans>
        <bean class="Weekly.Nobody"/>
        <bean class="Weekly.Desk"><property value="3"/></bean>
      </beans>
      """.utf8)
    let error = #expect(throws: EnvironmentError.self) { try environment.loadXML(data, source: "office.xml") }
    let faults = error?.underlying.compactMap { $0 as? EnvironmentError } ?? []
    #expect(faults.map(\.code) == [.unknownClass, .invalidXML])
    #expect(faults.map(\.origin?.line) == [2, 3] && faults.allSatisfy { $0.origin?.file == "office.xml" })
  }
}
