public import Beans
@_spi(BeansPackage) import BeansErrors
public import Foundation

/// A parser that turns the elements of a document into objects of your classes, outside of any environment.
///
///     let parser = try XMLObjectParser().register(
///       XMLObjectParser.mapping(Order.self, element: "order").property("lines", xml: "line"),
///       XMLObjectParser.mapping(Line.self, element: "line"))
///     let order = try parser.parse(data, source: "order.xml", as: Order.self)
///
/// An attribute, and an element inside that has no class and contains only text, sets the property of its name,
/// converted to the property's type. An element with a class sets it to an object. A property that is an array takes all
/// elements of its name in order; any other one takes one. Nothing outside the document is opened, and the limits on
/// documents are those of `loadXML`.
///
/// Callable from any thread.
public final class XMLObjectParser: Sendable {
  private let mappings = Locked<[XMLObjectMapping.Name: XMLObjectMapping]>([:])
  private let conversions: StandardConversionFactory

  /// Creates a parser without classes.
  ///
  /// - Parameter conversions: the conversions of texts.
  public init(conversions: StandardConversionFactory = StandardConversionFactory()) { self.conversions = conversions }

  /// Returns a mapping of elements to a class, for `register(_:)`.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - element: the name of the elements, without a prefix.
  ///   - namespace: the URI of their namespace; empty for elements in none.
  public static func mapping(
    _ type: any Initializable.Type, element: String, namespace: String = ""
  ) -> XMLObjectMapping {
    XMLObjectMapping(type, element: element, namespace: namespace)
  }

  /// Adds mappings.
  ///
  /// - Throws: `.unknownProperty` for a mapping that names a property that its class does not have,
  ///   `.invalidDeclaration` for a second mapping of the same element. Then none of the mappings is added.
  @discardableResult
  public func register(_ mappings: XMLObjectMapping...) throws -> Self {
    var added: [XMLObjectMapping.Name: XMLObjectMapping] = [:]
    for mapping in mappings {
      let descriptor = try BeanDescriptor.forClass(mapping.type)
      for name in mapping.properties.values.sorted() + [mapping.text].compactMap(\.self) {
        _ = try descriptor.getProperty(name)
      }
      guard added.updateValue(mapping, forKey: mapping.name) == nil else { throw Self.repeated(mapping) }
    }
    try self.mappings.withLock { known in
      for mapping in mappings where known[mapping.name] != nil { throw Self.repeated(mapping) }
      known.merge(added) { $1 }
    }
    return self
  }

  /// Reads a document into an object. Costs time and memory linear in the document's size.
  ///
  /// - Parameters:
  ///   - data: the document.
  ///   - source: the name of the document in faults.
  ///   - type: the class of the root element, or one of its superclasses or protocols.
  /// - Throws: `.invalidXML` for a document that is malformed or has an element or attribute without a class or
  ///   property, `.conversionFailed` for a text that does not convert, `.typeMismatch` for an object that does not fit,
  ///   each with file, line and column; several faults as one `.invalidXML` that contains them all.
  public func parse<T>(_ data: Data, source: String = "XML", as type: T.Type = T.self) throws -> T {
    let root = try XMLDocumentReader(source: source).read(data)
    var reader = XMLObjectReader(mappings: mappings.withLock { $0 }, conversions: conversions)
    let object = reader.object(of: root)
    if let object, !(object is T) {
      reader.report(.typeMismatch, "<\(root.qualifiedName)> is a \(Swift.type(of: object)), not a \(type)", root.origin)
    }
    if let fault = EnvironmentError.combining(reader.faults, code: .invalidXML, { "\(source) has \($0) faults" }) {
      throw fault
    }
    guard let result = object as? T else {
      throw EnvironmentError(.invalidXML, "the document has no object", origin: root.origin)
    }
    return result
  }

  private static func repeated(_ mapping: XMLObjectMapping) -> EnvironmentError {
    EnvironmentError(.invalidDeclaration, "the element <\(mapping.name.element)> already has a class")
  }
}
