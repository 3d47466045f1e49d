/// The element `<import resource="other.xml"/>`.
enum ImportElement {
  static func process(_ element: DocumentElement, _ context: XMLContext) {
    var reader = ElementReader(element, context: context)
    let resource = reader.required("resource")
    reader.finish()
    context.rejectChildren(of: element)
    guard let resource else { return }
    context.catching(reader.origin(of: "resource")) {
      try context.importer.load(resource, profiles: context.defaults.profiles) { BeansElement.process($0, context) }
    }
  }
}
