import Beans
import BeansErrors

/// The state of one document that is read into objects: its faults so far.
struct XMLObjectReader {
  /// A value for a property, in the order of the document.
  private struct Found {
    enum Value {
      case text(String)
      case object(AnyObject)
    }

    let value: Value
    let origin: EnvironmentError.Origin
    let isAttribute: Bool
    /// The name as written, with `<>` for an element.
    let label: String
  }

  let mappings: [XMLObjectMapping.Name: XMLObjectMapping]
  let conversions: StandardConversionFactory
  private(set) var faults: [EnvironmentError] = []

  init(mappings: [XMLObjectMapping.Name: XMLObjectMapping], conversions: StandardConversionFactory) {
    (self.mappings, self.conversions) = (mappings, conversions)
  }

  mutating func report(_ code: EnvironmentError.Code, _ message: String, _ origin: EnvironmentError.Origin) {
    faults.append(EnvironmentError(code, message, origin: origin))
  }

  /// Returns the object of an element; nil if the element has no class. Faults are reported.
  mutating func object(of element: DocumentElement) -> AnyObject? {
    guard let mapping = mapping(of: element) else {
      let near = mappings.keys.map(\.element).filter { EditDistance.isSmall($0, element.name) }.min()
      report(
        .invalidXML, "<\(element.qualifiedName)> has no class\(near.map { "; did you mean <\($0)>?" } ?? "")",
        element.origin)
      return nil
    }
    let object = mapping.type.init()
    do { try fill(object, element, mapping, BeanDescriptor.forClass(mapping.type)) } catch {
      faults.append((error as? EnvironmentError)?.at(element.origin) ?? Self.failure(error, element.origin))
    }
    return object
  }

  private func mapping(of element: DocumentElement) -> XMLObjectMapping? {
    mappings[.init(namespace: element.namespace, element: element.name)]
  }

  private mutating func fill(
    _ object: AnyObject, _ element: DocumentElement, _ mapping: XMLObjectMapping, _ descriptor: BeanDescriptor
  ) throws {
    var found: [String: [Found]] = [:]
    var order: [String] = []
    func add(_ name: String, _ value: Found) {
      if found[name] == nil { order.append(name) }
      found[name, default: []].append(value)
    }
    for attribute in element.attributes where !XMLNamespace.isForTools(attribute) {
      let label = attribute.qualifiedName
      let value = Found(value: .text(attribute.value), origin: attribute.origin, isAttribute: true, label: label)
      let name = attribute.namespace.isEmpty && label == attribute.name ? mapping.property(for: label) : nil
      if let name, isKnown(name, descriptor, "the attribute '\(label)'", element, attribute.origin) {
        add(name, value)
      } else if name == nil {
        report(.invalidXML, "<\(element.qualifiedName)>: the attribute '\(label)' is not known", attribute.origin)
      }
    }
    for child in element.children {
      let label = "<\(child.qualifiedName)>"
      let name = mapping.property(for: child.name)
      let isMapped = self.mapping(of: child) != nil
      let isKnown = isKnown(name, descriptor, label, element, child.origin)
      if isMapped {
        guard let inner = self.object(of: child), isKnown else { continue }
        add(name, Found(value: .object(inner), origin: child.origin, isAttribute: false, label: label))
      } else if child.attributes.contains(where: { !XMLNamespace.isForTools($0) }) || !child.children.isEmpty {
        if isKnown { report(.invalidXML, "\(label) has no class, and contains more than text", child.origin) }
      } else if isKnown {
        add(name, Found(value: .text(child.text), origin: child.origin, isAttribute: false, label: label))
      }
    }
    if let name = mapping.text {
      let label = "the text of <\(element.qualifiedName)>"
      add(name, Found(value: .text(element.text), origin: element.origin, isAttribute: true, label: label))
    } else if !element.text.isEmpty {
      report(.invalidXML, "<\(element.qualifiedName)>: text is not expected here", element.origin)
    }
    for name in order { set(try descriptor.getProperty(name), of: object, to: found[name] ?? []) }
  }

  /// Whether a class has a property. Reports the attribute or element that has none.
  private mutating func isKnown(
    _ name: String, _ descriptor: BeanDescriptor, _ label: String, _ element: DocumentElement,
    _ origin: EnvironmentError.Origin
  ) -> Bool {
    if descriptor.findProperty(name) != nil { return true }
    let near = descriptor.getProperties().map { $0.getName() }.filter { EditDistance.isSmall($0, name) }.min()
    report(
      .invalidXML,
      "<\(element.qualifiedName)>: \(label) is not known: \(descriptor.getBeanClass()) has no stored property '\(name)'"
        + (near.map { "; did you mean '\($0)'?" } ?? ""), origin)
    return false
  }

  private mutating func set(_ property: PropertyDescriptor, of object: AnyObject, to found: [Found]) {
    let array = property.getPropertyType() as? any ArrayProperty.Type
    if let array, !found.contains(where: \.isAttribute) {
      let values = found.compactMap { convert($0, to: array.element, object: array.element) }
      // A value that does not convert has been reported.
      guard values.count == found.count, let first = found.first else { return }
      store(array.make(values) as Any?, in: property, of: object, first)
      return
    }
    for repeated in found.dropFirst() {
      report(
        .invalidXML, "\(repeated.label): the property '\(property.getName())' is set twice", repeated.origin)
    }
    guard let first = found.first,
      let value = convert(first, to: property.declaredType, object: property.getPropertyType())
    else { return }
    store(value, in: property, of: object, first)
  }

  /// Returns a text as a value of a type, and an object unchanged; nil after a fault, which has been reported.
  ///
  /// - Parameters:
  ///   - found: the text or the object.
  ///   - type: the type of a text's value.
  ///   - objectType: the type of an object.
  private mutating func convert(_ found: Found, to type: Any.Type, object objectType: Any.Type) -> Any? {
    switch found.value {
    case .object(let object):
      if TypeRelation.isUsable(Swift.type(of: object), as: objectType) { return object }
      report(.typeMismatch, "\(found.label) is a \(Swift.type(of: object)), not a \(objectType)", found.origin)
      return nil
    case .text(let text):
      do {
        return try conversions.convert(text, targetType: type)
      } catch {
        faults.append(error.saying("\(found.label): \(error.message)").at(found.origin))
        return nil
      }
    }
  }

  private mutating func store(_ value: Any?, in property: PropertyDescriptor, of object: AnyObject, _ found: Found) {
    do { try property.set(object, value: value) } catch {
      faults.append((error as? EnvironmentError)?.at(found.origin) ?? Self.failure(error, found.origin))
    }
  }

  private static func failure(_ error: any Error, _ origin: EnvironmentError.Origin) -> EnvironmentError {
    EnvironmentError(.invalidXML, "\(error)", origin: origin, underlying: [error])
  }
}

extension XMLObjectMapping {
  /// Returns the property of an attribute or an element.
  func property(for name: String) -> String { properties[name] ?? name }
}

/// A type of properties that take several elements.
protocol ArrayProperty {
  static var element: Any.Type { get }

  /// Returns the array of values; nil if one has another type.
  static func make(_ values: [Any]) -> Self?
}

extension Array: ArrayProperty {
  static var element: Any.Type { Element.self }

  static func make(_ values: [Any]) -> [Element]? {
    let elements = values.compactMap { $0 as? Element }
    return elements.count == values.count ? elements : nil
  }
}
