import Beans

/// The element `<module class="Shop.Payments"/>`: the declarations of a Swift module type, in their place in the order
/// of the document.
enum ModuleElement {
  static func process(_ element: DocumentElement, _ context: XMLContext) {
    var reader = ElementReader(element, context: context)
    let name = reader.required("class")
    let profiles = reader.profiles()
    reader.finish()
    context.rejectChildren(of: element)
    guard let name else { return }
    let origin = reader.origin(of: "class")
    guard let type = context.catching(origin, isItsPlace: true, { try ClassName.find(name) }) else { return }
    guard let type = type as? any (BeanModule & Initializable).Type else {
      return context.report(
        context.fault("<module>: \(name) does not conform to BeanModule and Initializable", at: origin, .noModule))
    }
    let module = type.init()
    context.define(profiles.isEmpty ? module : module.profiles(profiles), at: element)
  }
}
