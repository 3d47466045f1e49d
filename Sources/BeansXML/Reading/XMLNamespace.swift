/// The namespaces with a meaning for the loader itself.
enum XMLNamespace {
  static let spring = "http://www.springframework.org/schema/"
  static let beans = spring + "beans"
  static let configuration = spring + "configuration"
  static let schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
  static let xml = "http://www.w3.org/XML/1998/namespace"

  /// Whether an attribute is meant for XML tools and not for the container.
  static func isForTools(_ attribute: DocumentAttribute) -> Bool {
    switch attribute.namespace {
    case schemaInstance, xml: true
    // Many documents use the usual prefix without declaring it.
    case "": attribute.qualifiedName.hasPrefix("xsi:")
    default: false
    }
  }
}
