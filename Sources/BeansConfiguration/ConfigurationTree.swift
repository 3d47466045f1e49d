/// A value in a configuration file, with its line: the form that the parsers of all formats return.
package struct ConfigurationTree: Sendable {
  /// The kinds of values.
  package enum Content: Sendable {
    /// The entries of an object in the order of the file. A key may occur twice; flattening reports it.
    case object([Entry])
    case array([ConfigurationTree])
    case scalar(any Sendable)
    case null
    /// A value that is no configuration value, with the reason: "is a date".
    case invalid(String)
  }

  /// A key of an object with its value.
  package struct Entry: Sendable {
    package let key: String
    /// The line of the key, from 1; nil if the parser reports no lines.
    package let line: Int?
    package let value: ConfigurationTree

    package init(key: String, line: Int?, value: ConfigurationTree) {
      (self.key, self.line, self.value) = (key, line, value)
    }
  }

  /// The maximum depth of values within values, which limits the recursion of parsers and of the flattening.
  package static let maximumDepth = 256
  /// The maximum number of values in a file, more than any configuration has.
  package static let maximumCount = 1_000_000

  package let content: Content
  /// The line at which the value begins, from 1; nil if the parser reports no lines.
  package let line: Int?

  package init(_ content: Content, line: Int?) { (self.content, self.line) = (content, line) }
}
