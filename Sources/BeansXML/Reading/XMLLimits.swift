/// The limits on the resources that one load may use.
///
/// The parser needs time quadratic in the number of an element's attributes, and the tree is walked by recursion. The
/// limits are therefore far above real documents and far below harmful ones.
struct XMLLimits: Sendable {
  /// The maximum size of one document in bytes. It is below libxml2's limit for text, so that the error of this limit
  /// is reported.
  var bytes = 8 * 1024 * 1024
  /// The maximum depth of nested elements.
  var depth = 256
  /// The maximum number of attributes and namespace declarations of one element.
  var attributes = 256
  /// The maximum number of documents in one load, imports included.
  var documents = 1024
}
