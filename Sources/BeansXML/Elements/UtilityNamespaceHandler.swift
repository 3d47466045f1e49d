import Beans

/// The handler of Spring's `util` namespace: collections in place of a value. Every load has one.
final class UtilityNamespaceHandler: NamespaceHandler, @unchecked Sendable {  // has no state
  init() { super.init(namespace: SpringNamespace.utility) }

  override func process(_ element: DocumentElement, context: XMLContext) throws { refuse(element, context) }

  override func value(of element: DocumentElement, context: XMLContext) throws -> BeanValue {
    guard ["list", "set", "map"].contains(element.name), element["id"] == nil else {
      refuse(element, context)
      return .null
    }
    var reader = ValueElement(element, context)
    return try reader.read()
  }

  private func refuse(_ element: DocumentElement, _ context: XMLContext) {
    context.refuse(
      "<\(element.qualifiedName)> is not supported: \(SpringNamespace.advice(for: element) ?? "declare it in Swift")",
      at: element.origin, .unhandledNamespace)
  }
}
