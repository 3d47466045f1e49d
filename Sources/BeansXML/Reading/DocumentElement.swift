public import Beans

/// One element of a document, the input of a `NamespaceHandler`.
public struct DocumentElement: Sendable {
  /// The name without a prefix.
  public let name: String
  /// The name as written, with its prefix.
  package let qualifiedName: String
  /// The URI of the namespace; empty for an element in none.
  public let namespace: String
  /// The attributes in the order of the document, without namespace declarations.
  public let attributes: [DocumentAttribute]
  /// The elements inside, in the order of the document.
  public let children: [DocumentElement]
  /// The text inside, without that of `children`. Surrounding white space is removed, except in a CDATA section or
  /// under `xml:space="preserve"`.
  public let text: String
  /// The text inside as written, with all white space, without that of `children`.
  let characters: String
  /// The position of the element's tag.
  public let origin: EnvironmentError.Origin

  /// The value of the attribute with a name and without a prefix.
  public subscript(name: String) -> String? {
    attributes.first { $0.name == name && $0.namespace.isEmpty && $0.qualifiedName == name }?.value
  }

  /// The prefix, where it is undeclared.
  var undeclaredPrefix: Substring? {
    namespace.isEmpty ? qualifiedName.firstIndex(of: ":").map { qualifiedName[..<$0] } : nil
  }

  /// The name, where it belongs to Spring's namespace or to none.
  var plainName: String? {
    namespace == XMLNamespace.beans || namespace.isEmpty && undeclaredPrefix == nil ? name : nil
  }
}

/// One attribute of a `DocumentElement`.
public struct DocumentAttribute: Sendable {
  /// The name without a prefix.
  public let name: String
  /// The name as written, with its prefix.
  package let qualifiedName: String
  /// The URI of the namespace; empty for an attribute without a prefix.
  package let namespace: String
  /// The text, with character references resolved.
  public let value: String
  /// The position of the name.
  public let origin: EnvironmentError.Origin
}
