// The section of a cause in the document of faults.

extension FaultCause {
  /// The heading of the section about this cause.
  package var heading: String {
    isUsual ? rawValue : rawValue.reduce("") { $1.isUppercase ? "\($0)-\($1.lowercased())" : "\($0)\($1)" }
  }

  /// The link to the section about this cause.
  package var link: String { "Faults.md#\(heading.lowercased())" }
}
