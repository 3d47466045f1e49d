/// How much one document may ask of the process that reads it.
///
/// The parser below needs time that grows with the square of an element's attributes, and the tree is walked by recursion,
/// so these are set far above what people write and far below what hurts.
struct XMLLimits: Sendable {
  /// Bytes of one document. Below the longest text libxml2 takes, so that this message is the one that is seen.
  var bytes = 8 * 1024 * 1024
  /// Elements within elements.
  var depth = 256
  /// Attributes and namespace declarations of one element.
  var attributes = 256
  /// Documents that one load reads, imports included.
  var documents = 1024
}
