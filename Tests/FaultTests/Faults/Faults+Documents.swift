import Beans
import BeansXML
import Foundation

extension Fault {
  /// XML documents that cannot be read, and several faults at once.
  static let documents: [Fault] = [
    xml("A document is not well-formed.") {
      try $0.loadShop("<bean class='FaultTests.Order'>")
    },
    xml("A document is no XML at all.") {
      try $0.loadXML(Data("shop:\n  port: 80".utf8), source: "shop.xml")
    },
    xml("A document begins with another element.") {
      try $0.loadXML(Data("<shop/>".utf8), source: "shop.xml")
    },
    xml("A document has an element that is not known there.") {
      try $0.loadShop("<beam class='FaultTests.Order'/>")
    },
    xml("An element has an attribute that is not known.") {
      try $0.loadShop("<bean clas='FaultTests.Order' id='order'/>")
    },
    xml("An attribute has a value that is not allowed.") {
      try $0.loadShop("<bean class='FaultTests.Order' lazy='maybe'/>")
    },
    xml("A property has no value, or several.") {
      try $0.loadShop("<bean class='FaultTests.Order'><property name='number'/></bean>")
    },
    xml("An element has a prefix that is not declared.") {
      try $0.loadShop("<q:order/>")
    },
    xml("An element belongs to a namespace that no handler serves.") {
      try $0.loadShop("<q:order xmlns:q='urn:orders'/>")
    },
    xml("A document imports one that does not exist.") {
      try $0.loadShop("<import resource='/no/such/orders.xml'/>")
    },
    xml("A `<module>` names a class that is none.") {
      try $0.loadShop("<module class='FaultTests.Order'/>")
    },
    xml("Documents import each other.") { shop in
      let text = Data("<beans>\n<import resource='shop.xml'/></beans>".utf8)
      try shop.loadXML(text, source: "shop.xml", handlers: []) { name, _ in XMLResource(data: text, source: name) }
    },
    xml("A document has declarations of its own for XML (a DTD).") {
      try $0.loadXML(Data("<!DOCTYPE beans [<!ENTITY a 'b'>]>\n<beans/>".utf8), source: "shop.xml")
    },
    xml("A document has several faults.") {
      try $0.loadShop("<beam/><bean/>")
    },
    .startup(.startupFailed, "Startup has found several faults.") { shop in
      try shop.define(shop.bean(Catalogue.self, factory: Catalogue.init))
      try shop.define(shop.bean(Order.self).property("numbr", value: 1))
    },
  ]

  private static func xml(
    _ cause: String, _ load: @escaping @Sendable (Environment) throws -> Void
  ) -> Fault {
    .call(.invalidXML, cause, load)
  }
}
