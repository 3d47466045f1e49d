import Beans
import BeansXML
import Foundation
import Testing

final class Gadget: Initializable {
  var label = ""
  var size = 0
}

/// `<g:gadget label="…" size="…"/>` for a bean, `<g:twice>…</g:twice>` for a value, `g:label` for an attribute.
private final class GadgetHandler: NamespaceHandler, @unchecked Sendable {  // has no mutable state
  private let suffix: String

  init(_ namespace: String, suffix: String = "") {
    self.suffix = suffix
    super.init(namespace: namespace)
  }

  override func process(_ element: DocumentElement, context: XMLContext) throws {
    switch element.name {
    case "gadget":
      var reader = ElementReader(element, context: context)
      let (id, label, size) = (reader.name("id"), reader.required("label"), reader.text("size"))
      reader.finish()
      let declaration = context.environment.bean(Gadget.self, id: id)
      if let label { declaration.property("label", .text(label + suffix)) }
      if let size { declaration.property("size", .text(size)) }
      context.define(declaration, at: element)
    case "holder":
      for child in element.children {
        if let declaration = context.declaration(of: child) { context.define(declaration, at: child) }
      }
    case "set":
      context.define([ConfigurationItem(key: "from.handler", value: 7)], at: element)
      context.define(alias: "alias.from.handler", of: element["id"] ?? "", at: element)
    case "broken": throw Broken()
    default: try super.process(element, context: context)
    }
  }

  override func value(of element: DocumentElement, context: XMLContext) throws -> BeanValue {
    guard element.name == "twice" else { return try super.value(of: element, context: context) }
    return .text(element.text + element.text)
  }

  override func decorate(_ declaration: BeanDeclaration, with attribute: DocumentAttribute, context: XMLContext) throws
  {
    guard attribute.name == "label" else { return try super.decorate(declaration, with: attribute, context: context) }
    declaration.property("label", .text(attribute.value))
  }

  struct Broken: Error {}
}

@Suite struct NamespaceHandlerTests {
  private func load(_ text: String, _ handlers: NamespaceHandler...) throws -> Environment {
    try Environment(name: "test").loadXML(Data(text.utf8), source: "handled.xml", handlers: handlers)
  }

  @Test func elementsBecomeBeansUnderAnyPrefix() throws {
    for prefix in ["g", "other"] {
      let environment = try load(
        "<beans xmlns:\(prefix)='u:g'><\(prefix):gadget id='a' label='x' size='3'/></beans>", GadgetHandler("u:g"))
      let gadget = try environment.getBean(Gadget.self, byId: "a")
      #expect(gadget.label == "x" && gadget.size == 3)
    }
  }

  @Test func elementsBecomeValuesAndAttributesCompleteBeans() throws {
    let environment = try load(
      "<beans xmlns:g='u:g'><bean class='Gadget' g:label='l'><property name='size'><g:twice>4</g:twice></property></bean></beans>",
      GadgetHandler("u:g"))
    let gadget = try environment.getBean(Gadget.self)
    #expect(gadget.label == "l" && gadget.size == 44)
  }

  @Test func handlersUseTheStandardElements() throws {
    let environment = try load(
      "<beans xmlns:g='u:g'><g:holder><bean id='a' class='Gadget'/></g:holder><g:set id='a'/></beans>",
      GadgetHandler("u:g"))
    let gadget = try environment.getBean(Gadget.self, byId: "a")
    #expect(try environment.getBean(Gadget.self, byId: "alias.from.handler") === gadget)
    #expect(try environment.getConfigurationValue(Int.self, key: "from.handler") == 7)
  }

  @Test func faultsOfHandlersHaveAPlaceAndDefineNothing() throws {
    let environment = try Environment(name: "test")
    let fault = try #require(throws: EnvironmentError.self) {
      try environment.loadXML(
        Data(
          "<beans xmlns:g='u:g'>\n<g:gadget label='x'/>\n<g:gadget/>\n<g:broken/>\n<g:no/>\n<bean class='Gadget' g:no=''/></beans>"
            .utf8),
        handlers: [GadgetHandler("u:g")])
    }
    let faults = fault.underlying.compactMap { $0 as? EnvironmentError }
    #expect(faults.map { $0.origin?.line } == [3, 4, 5, 6], "\(fault)")
    #expect(faults[1].underlying.first is GadgetHandler.Broken)
    #expect(!environment.report().contains("Gadget"))
    #expect(!environment.configurationManager.hasValue(key: "from.handler"))
  }

  @Test func aHandlerOfTheLoadWinsOverARegisteredOne() throws {
    // Registered for the whole process: the URI is this test's own.
    NamespaceHandler.register(GadgetHandler("u:registered", suffix: "!"))
    let text = "<beans xmlns:g='u:registered'><g:gadget label='x'/></beans>"
    #expect(try load(text).getBean(Gadget.self).label == "x!")
    #expect(try load(text, GadgetHandler("u:registered", suffix: "?")).getBean(Gadget.self).label == "x?")
    NamespaceHandler.register(GadgetHandler("u:registered", suffix: "."))
    #expect(try load(text).getBean(Gadget.self).label == "x.")
  }

  @Test func aPlainWordIsANamespaceBesideSprings() {
    #expect(NamespaceHandler(namespace: "shop").namespace == "http://www.springframework.org/schema/shop")
    #expect(
      ConfigurationNamespaceHandler(namespace: "configuration").namespace
        == "http://www.springframework.org/schema/configuration")
    #expect(NamespaceHandler(namespace: "u:x").namespace == "u:x")
  }

  @Test func threadsRegisterAndLoad() async {
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<16 {
        group.addTask {
          let uri = "u:threads:\(number)"
          NamespaceHandler.register(GadgetHandler(uri))
          let environment = try? Environment().loadXML(
            Data("<beans xmlns:g='\(uri)'><g:gadget label='\(number)'/></beans>".utf8))
          return (try? environment?.getBean(Gadget.self).label) == "\(number)"
        }
      }
      for await right in group { #expect(right) }
    }
  }
}
