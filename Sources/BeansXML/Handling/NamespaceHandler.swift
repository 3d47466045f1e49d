public import Beans

/// The handler of the elements and attributes of one XML namespace.
///
/// Subclass it, override a method for each kind of content of the namespace, and pass the handler to
/// `loadXML(_:source:handlers:)`, or register it for all environments with `register(_:)`. Handlers are called on the
/// thread that loads, in the order of the document; several loads may call the same handler at once.
open class NamespaceHandler: @unchecked Sendable {  // has no state; a subclass protects its own
  /// The URI to which documents bind a prefix. Any prefix may be chosen.
  public let namespace: String

  /// Creates a handler.
  ///
  /// - Parameter namespace: the URI. A plain word means the namespace of that name beside Spring's own:
  ///   `"configuration"` for `http://www.springframework.org/schema/configuration`.
  public init(namespace: String) {
    self.namespace = namespace.contains(":") ? namespace : XMLNamespace.spring + namespace
  }

  /// Processes an element of the namespace inside `<beans>`. An override adds definitions to `context`.
  ///
  /// - Throws: any error. The load reports it with the element's position, and with all other faults of the document.
  open func process(_ element: DocumentElement, context: XMLContext) throws {
    throw context.unknown(element, in: "<beans>")
  }

  /// Returns the value of an element of the namespace where a value is expected, such as inside `<property>`.
  ///
  /// - Throws: any error, as `process` does.
  open func value(of element: DocumentElement, context: XMLContext) throws -> BeanValue {
    throw context.unknown(element, in: "a value")
  }

  /// Applies an attribute of the namespace on a `<bean>`. An override completes the bean's declaration.
  ///
  /// - Parameters:
  ///   - declaration: the declaration of the bean.
  ///   - attribute: the attribute, with its value and its position.
  ///   - context: the load in progress.
  /// - Throws: any error, as `process` does.
  open func decorate(_ declaration: BeanDeclaration, with attribute: DocumentAttribute, context: XMLContext) throws {
    throw context.unknown(attribute)
  }

  /// Registers a handler for every load that begins from now on. It replaces a handler of the same namespace. From any
  /// thread.
  public static func register(_ handler: NamespaceHandler) { NamespaceRegistry.shared.add(handler) }
}
