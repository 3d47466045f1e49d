import Beans

/// The class of the objects that elements of one name become, and the properties that receive their contents.
///
/// An attribute or an element inside sets the stored property of its own name, unless the mapping names another one.
public struct XMLObjectMapping: Sendable {
  /// The name of elements, with their namespace.
  struct Name: Hashable {
    let namespace: String
    let element: String
  }

  let type: any (Initializable).Type
  let name: Name
  /// The properties by the names of attributes and elements.
  private(set) var properties: [String: String] = [:]
  /// The property that receives the text of the element.
  private(set) var text: String?

  init(_ type: any Initializable.Type, element: String, namespace: String) {
    self.type = type
    name = Name(namespace: namespace, element: element)
  }

  /// Sets the property that receives an attribute, or the elements inside of a name.
  ///
  /// - Parameters:
  ///   - name: the name of a stored property, private and inherited ones included. The value is stored without the
  ///     property's observers.
  ///   - xml: the name of the attribute or of the element, without a prefix; the property's name, if not given.
  public func property(_ name: String, xml: String? = nil) -> Self {
    var mapping = self
    mapping.properties[xml ?? name] = name
    return mapping
  }

  /// Sets the property that receives the text of the element, without surrounding white space.
  ///
  /// - Parameter name: the name of a stored property.
  public func text(_ name: String) -> Self {
    var mapping = self
    mapping.text = name
    return mapping
  }
}
