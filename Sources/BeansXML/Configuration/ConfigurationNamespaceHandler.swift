import Beans
import BeansLogging

/// The handler of `<configuration:configuration>` with its `<configuration:define>` elements. Every load has one.
package final class ConfigurationNamespaceHandler: NamespaceHandler, @unchecked Sendable {  // has no state
  /// Creates a handler, optionally for another namespace. Every load has one for `"configuration"`.
  package override init(namespace: String = "configuration") { super.init(namespace: namespace) }

  /// Adds the values as one configuration source, which replaces values of earlier sources.
  ///
  /// - Throws: `.invalidXML` for an element other than `<configuration>`.
  package override func process(_ element: DocumentElement, context: XMLContext) throws {
    guard element.name == "configuration" else {
      if element.name == "define" {
        throw context.fault(
          "<\(element.qualifiedName)> is not known in <beans>; it belongs into <configuration>", at: element.origin,
          .unknownName)
      }
      throw context.unknown(element, in: "<beans>", among: ["configuration"], of: namespace)
    }
    var reader = ElementReader(element, context: context)
    let namespace = reader.text("namespace") ?? ""
    reader.finish()
    let items = element.children.compactMap { child -> ConfigurationItem? in
      guard child.namespace == element.namespace, child.name == "define" else {
        context.report(
          context.unknown(child, in: "<\(element.qualifiedName)>", among: ["define"], of: element.namespace))
        return nil
      }
      return item(child, namespace, context)
    }
    context.define(items, at: element)
  }

  private func item(_ element: DocumentElement, _ namespace: String, _ context: XMLContext) -> ConfigurationItem? {
    var reader = ElementReader(element, context: context)
    let namespace = reader.text("namespace") ?? namespace
    let key = reader.required("key")
    let type = ConfigurationValueType.read(&reader)
    let value = reader.text("value")
    if value == nil { reader.report("the attribute 'value' is missing") }
    reader.finish()
    context.rejectChildren(of: element)
    guard let key, let type, let value else { return nil }
    if let converted = type.convert(value) {
      return ConfigurationItem(namespace: namespace, key: key, value: converted)
    }
    // No fault, because the value may never be read. A reader of the value gets the conversion's error.
    let shown = ConfigurationManager.isSecret(key: key) ? "the secret" : "'\(value)'"
    LogManager.getLogger(forName: "Beans.XML").warn("\(shown) for '\(key)' is not of its type (\(element.origin))")
    return ConfigurationItem(namespace: namespace, key: key, value: value)
  }
}
