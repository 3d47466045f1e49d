public import Beans

/// One element of a document: what a `NamespaceHandler` works on.
public struct DocumentElement: Sendable {
  /// The name without a prefix.
  public let name: String
  /// The name as it is written, with its prefix.
  public let qualifiedName: String
  /// The URI of the namespace; empty for an element that is in none.
  public let namespace: String
  /// In the order they are written. Namespace declarations are not among them.
  public let attributes: [DocumentAttribute]
  /// The elements inside, in the order they are written.
  public let children: [DocumentElement]
  /// The text inside, without that of `children`. Surrounding white space is removed, unless it stands in a CDATA section
  /// or under `xml:space="preserve"`.
  public let text: String
  /// Where the element's tag begins.
  public let origin: EnvironmentError.Origin

  /// The value of the attribute with that name that has no prefix.
  public subscript(name: String) -> String? {
    attributes.first { $0.name == name && $0.namespace.isEmpty && $0.qualifiedName == name }?.value
  }

  /// The prefix, where it is not declared.
  var undeclaredPrefix: Substring? {
    namespace.isEmpty ? qualifiedName.firstIndex(of: ":").map { qualifiedName[..<$0] } : nil
  }

  /// The name, where it is one of Spring's or in no namespace.
  var plainName: String? {
    namespace == XMLNamespace.beans || namespace.isEmpty && undeclaredPrefix == nil ? name : nil
  }
}

/// One attribute of a `DocumentElement`.
public struct DocumentAttribute: Sendable {
  /// The name without a prefix.
  public let name: String
  /// The name as it is written, with its prefix.
  public let qualifiedName: String
  /// The URI of the namespace; empty for an attribute without a prefix.
  public let namespace: String
  /// The text, its references to characters resolved.
  public let value: String
  /// Where the name begins.
  public let origin: EnvironmentError.Origin
}
