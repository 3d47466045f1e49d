public import Beans

/// The code behind the elements and attributes of one XML namespace.
///
/// Subclass it, override what the namespace has, and give it to `loadXML(_:source:handlers:)`, or to all environments with
/// `register(_:)`. A handler is asked on the thread that loads, in the order of the document; several loads may ask the same
/// handler at once.
open class NamespaceHandler: @unchecked Sendable {  // has no state; a subclass protects its own
  /// The URI that documents bind a prefix to. Which prefix they choose does not matter.
  public let namespace: String

  /// Creates a handler.
  ///
  /// - Parameter namespace: the URI. A plain word stands for the namespace of that name beside Spring's own:
  ///   `"configuration"` for `http://www.springframework.org/schema/configuration`.
  public init(namespace: String) {
    self.namespace = namespace.contains(":") ? namespace : XMLNamespace.spring + namespace
  }

  /// An element of the namespace that stands in `<beans>`: tells `context` what to define.
  ///
  /// - Throws: anything; it is reported with the element's position and all other faults of the document.
  open func process(_ element: DocumentElement, context: XMLContext) throws {
    throw context.unknown(element, in: "<beans>")
  }

  /// An element of the namespace that stands where a value is expected, such as in `<property>`.
  ///
  /// - Throws: as `process`.
  open func value(of element: DocumentElement, context: XMLContext) throws -> BeanValue {
    throw context.unknown(element, in: "a value")
  }

  /// An attribute of the namespace on a `<bean>`: completes the bean's declaration.
  ///
  /// - Parameters:
  ///   - declaration: the bean's, to be completed.
  ///   - attribute: the attribute, with its value and its position.
  ///   - context: the load in progress.
  /// - Throws: as `process`.
  open func decorate(_ declaration: BeanDeclaration, with attribute: DocumentAttribute, context: XMLContext) throws {
    throw context.unknown(attribute)
  }

  /// Makes a handler known to every load that begins from now on, in place of one for the same namespace. From any thread.
  public static func register(_ handler: NamespaceHandler) { NamespaceRegistry.shared.add(handler) }
}
