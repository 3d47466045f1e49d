import Beans
import BeansXML
import Foundation
import Testing

/// Inherits `init()` and conforms to `Initializable`.
final class Printer: NSObject, Initializable {
  var name = "printer"
  var pages = 0
}

/// May have subclasses, which all have the `init()` that is required.
class Machine: NSObject, Initializable {
  var name = "machine"

  required override init() { super.init() }
}

final class Copier: Machine {
  private var copies = 1
  var made: Int { copies }
}

/// Does not say that it can be built.
final class Scales: NSObject {
  var name = "scales"
}

/// Has no `init()` any more: its own initialiser hides the inherited one.
final class Plotter: NSObject {
  let colours: Int

  init(colours: Int) { self.colours = colours }
}

/// Subclasses of `NSObject` as beans: built by `init()` where they say that they can be.
@Suite struct FoundationClassSpecification {
  private func load(_ text: String) throws -> Environment {
    try Environment(name: "machines").loadXML(Data("<beans>\n\(text)\n</beans>".utf8), source: "machines.xml")
  }

  @Test func aDocumentBuildsFoundationClassesByTheirInit() throws {
    let environment = try load(
      """
      <bean class="BeansXMLTests.Printer"><property name="pages" value="7"/></bean>
      <bean id="machine" class="BeansXMLTests.Machine"/>
      <bean id="copier" class="BeansXMLTests.Copier">
        <property name="name" value="copier"/>
        <property name="copies" value="3"/>
      </bean>
      """)
    let printer = try environment.getBean(Printer.self)
    #expect(printer.name == "printer" && printer.pages == 7)
    #expect(try environment.getBean(Machine.self, byId: "machine").name == "machine")
    let copier = try environment.getBean(Copier.self)
    #expect(copier.name == "copier" && copier.made == 3)
    #expect(try environment.getBeansByType(NSObject.self).count == 3)
  }

  @Test func aDeclarationBuildsFoundationClassesByTheirInit() throws {
    let environment = try Environment(name: "machines")
    try environment.define(environment.bean(Printer.self).property(\.pages, value: 2))
    try environment.define(environment.bean(Copier.self).property("copies", value: 4))
    #expect(try environment.getBean(Printer.self).pages == 2)
    #expect(try environment.getBean(Copier.self).made == 4)
  }

  @Test(arguments: ["BeansXMLTests.Scales", "BeansXMLTests.Plotter"])
  func aClassWithoutAKnownInitIsAFaultWithItsRemedy(_ name: String) throws {
    let environment = try load("<bean class='\(name)'/>")
    let fault = try #require(throws: EnvironmentError.self) { try environment.startup() }
    #expect(fault.code == .invalidDeclaration)
    #expect(fault.origin?.description == "machines.xml:2:1")
    #expect(fault.message.contains("conform to Initializable"))
  }

  @Test func aClassWithoutAKnownInitTakesAFactory() throws {
    let environment = try Environment(name: "machines")
    try environment.define(environment.bean(Scales.self, factory: Scales.init))
    try environment.define(environment.bean(Plotter.self, id: "template", abstract: true) { Plotter(colours: 4) })
    try environment.loadXML(Data("<beans><bean parent='template' id='plotter'/></beans>".utf8))
    #expect(try environment.getBean(Scales.self).name == "scales")
    #expect(try environment.getBean(Plotter.self, byId: "plotter").colours == 4)
  }
}
