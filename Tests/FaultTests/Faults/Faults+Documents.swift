import Beans
import BeansXML
import Foundation

extension Fault {
  /// XML documents that cannot be read, and several faults at once.
  static let documents: [Fault] = [
    xml("A document is not well-formed.", fix: "Correct it at the place that the message names.") {
      try $0.loadShop("<bean class='FaultTests.Order'>")
    },
    xml("A document is no XML at all.", fix: "Save it as XML in UTF-8.") {
      try $0.loadXML(Data("shop:\n  port: 80".utf8), source: "shop.xml")
    },
    xml("A document begins with another element.", fix: "Let `<beans>` be the outermost element.") {
      try $0.loadXML(Data("<shop/>".utf8), source: "shop.xml")
    },
    xml("A document has an element that is not known there.", fix: "Spell it as the documentation does.") {
      try $0.loadShop("<beam class='FaultTests.Order'/>")
    },
    xml("An element has an attribute that is not known.", fix: "Spell it as the documentation does.") {
      try $0.loadShop("<bean clas='FaultTests.Order' id='order'/>")
    },
    xml("An attribute has a value that is not allowed.", fix: "Write one of the values that the message names.") {
      try $0.loadShop("<bean class='FaultTests.Order' lazy='maybe'/>")
    },
    xml("A property has no value, or several.", fix: "Give exactly one.") {
      try $0.loadShop("<bean class='FaultTests.Order'><property name='number'/></bean>")
    },
    xml("An element has a prefix that is not declared.", fix: "Declare it at `<beans>`.") {
      try $0.loadShop("<q:order/>")
    },
    xml("An element belongs to a namespace that nobody handles.", fix: "Hand a `NamespaceHandler` to the loader.") {
      try $0.loadShop("<q:order xmlns:q='urn:orders'/>")
    },
    xml("A document imports one that does not exist.", fix: "Correct the path; it begins at the importing document.") {
      try $0.loadShop("<import resource='/no/such/orders.xml'/>")
    },
    xml("A `<module>` names a class that is none.", fix: "Name a class that is a `BeanModule` and `Initializable`.") {
      try $0.loadShop("<module class='FaultTests.Order'/>")
    },
    xml("Documents import each other.", fix: "Drop one of the imports.") { shop in
      let text = Data("<beans>\n<import resource='shop.xml'/></beans>".utf8)
      try shop.loadXML(text, source: "shop.xml", handlers: []) { name, _ in XMLResource(data: text, source: name) }
    },
    xml("A document has declarations of its own for XML (a DTD).", fix: "Remove them; entities are not expanded.") {
      try $0.loadXML(Data("<!DOCTYPE beans [<!ENTITY a 'b'>]>\n<beans/>".utf8), source: "shop.xml")
    },
    xml("A document has several faults.", fix: "See `underlying` for each of them. None of its beans is defined.") {
      try $0.loadShop("<beam/><bean/>")
    },
    .startup(
      .startupFailed, "Startup has found several faults.",
      fix: "See `underlying` for each of them; all are found at once, before anything is built."
    ) { shop in
      try shop.define(shop.bean(Catalogue.self, factory: Catalogue.init))
      try shop.define(shop.bean(Order.self).property("numbr", value: 1))
    },
  ]

  private static func xml(
    _ cause: String, fix: String, _ load: @escaping @Sendable (Environment) throws -> Void
  ) -> Fault {
    .call(.invalidXML, cause, fix: fix, load)
  }
}
