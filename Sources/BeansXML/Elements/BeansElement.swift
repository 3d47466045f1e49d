import Beans

/// The element `<beans>`, the root of every document, in Spring's namespace or in none.
enum BeansElement {
  static func process(_ root: DocumentElement, _ context: XMLContext) {
    guard root.plainName == "beans" else {
      context.report(
        context.fault(
          "the root element must be <beans>, not <\(root.qualifiedName)>"
            + (root.namespace.isEmpty ? "" : " of the namespace '\(root.namespace)'"), at: root.origin, .unknownName))
      return
    }
    ElementReader(root, context: context).finish()
    for child in root.children { context.process(child) }
  }
}
