import Beans

/// The element `<beans>`, the root of every document, in Spring's namespace or in none. Also in another `<beans>`, where
/// its attributes apply to its contents.
enum BeansElement {
  static func process(_ root: DocumentElement, _ context: XMLContext) {
    guard root.plainName == "beans" else {
      context.report(
        context.fault(
          "the root element must be <beans>, not <\(root.qualifiedName)>"
            + (root.namespace.isEmpty ? "" : " of the namespace '\(root.namespace)'"), at: root.origin, .unknownName))
      return
    }
    context.with(context.defaults.imported) { processContents(root, context) }
  }

  /// Processes the contents of a `<beans>` with the defaults of the enclosing one.
  static func processContents(_ element: DocumentElement, _ context: XMLContext) {
    var reader = ElementReader(element, context: context)
    var defaults = context.defaults
    let profiles = reader.profiles()
    if !profiles.isEmpty { defaults.profiles.append(profiles) }
    if let isLazy = reader.flag("default-lazy-init", unless: "default") { defaults.isLazy = isLazy }
    if let merges = reader.flag("default-merge", unless: "default") { defaults.merges = merges }
    reader.finish()
    context.with(defaults) {
      for child in element.children { context.process(child) }
    }
  }
}
