/// The element `<alias name="id" alias="another"/>`.
enum AliasElement {
  static func process(_ element: DocumentElement, _ context: XMLContext) {
    var reader = ElementReader(element, context: context)
    let name = reader.required("name")
    let alias = reader.required("alias")
    reader.finish()
    context.rejectChildren(of: element)
    if let name, let alias { context.define(aliases: [alias], of: name, at: element) }
  }
}
