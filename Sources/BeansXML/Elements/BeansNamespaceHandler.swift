import Beans

/// The handler of the elements in Spring's own namespace, and of those in none.
final class BeansNamespaceHandler: NamespaceHandler, @unchecked Sendable {  // has no state
  static let shared = BeansNamespaceHandler()

  private init() { super.init(namespace: XMLNamespace.beans) }

  override func process(_ element: DocumentElement, context: XMLContext) throws {
    switch element.name {
    case "bean":
      if let declaration = BeanElement.declaration(element, context) { context.define(declaration, at: element) }
    case "beans": BeansElement.processContents(element, context)
    case "alias": AliasElement.process(element, context)
    case "module": ModuleElement.process(element, context)
    case "import": ImportElement.process(element, context)
    case "description": break
    default:
      throw context.unknown(
        element, in: "<beans>", among: ["bean", "beans", "alias", "import", "module", "description"])
    }
  }

  override func value(of element: DocumentElement, context: XMLContext) throws -> BeanValue {
    var reader = ValueElement(element, context)
    return try reader.read()
  }
}
