import BeansLogging

/// The metadata that the children of one factory contribute to log entries: functions of the object in the first slot of
/// a child, nil without a seed.
typealias ChildMetadata = [@Sendable (AnyObject?) -> LogMetadata]

extension ChildMetadata {
  func merge(into metadata: inout LogMetadata, seed: AnyObject?) {
    for part in self { metadata.merge(part(seed)) }
  }
}
