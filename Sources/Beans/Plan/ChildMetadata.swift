import BeansLogging

/// The metadata that the children of one factory contribute to log entries.
struct ChildMetadata: Sendable {
  /// Returns the metadata for the object in the first slot of a child; nil without a seed.
  typealias Part = @Sendable (AnyObject?) -> LogMetadata

  private var parts: [Part] = []

  var isEmpty: Bool { parts.isEmpty }

  mutating func add(_ part: @escaping Part) { parts.append(part) }

  func merge(into metadata: inout LogMetadata, seed: AnyObject?) {
    for part in parts { metadata.merge(part(seed)) }
  }
}
