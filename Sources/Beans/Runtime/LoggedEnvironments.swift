import BeansLogging

/// The environments in which a thread writes a log entry, and their metadata.
extension Environment {
  /// The metadata of the environments in which the calling thread works: those of the task, then the innermost one whose
  /// beans the thread creates or releases.
  static var logMetadata: LogMetadata {
    var metadata = LogMetadata()
    current?.addLogMetadata(to: &metadata)
    if let releasing, releasing !== current { releasing.addLogMetadata(to: &metadata) }
    var next = ResolutionContext.innermost
    while let context = next {
      let environment = context.value.environment.object
      if environment.hasLogMetadata {
        if environment !== current { environment.addLogMetadata(to: &metadata) }
        break
      }
      next = context.value.outer
    }
    return metadata
  }

  /// Whether environments here or further out contribute metadata.
  private var hasLogMetadata: Bool { core.plan?.with { $0.hasLogMetadata } ?? false }

  /// Adds the metadata here and further out, outermost first.
  private func addLogMetadata(to metadata: inout LogMetadata) {
    var inside: [Environment] = []
    var next = Optional(self)
    while let environment = next, environment.hasLogMetadata {
      inside.append(environment)
      next = environment.parent
    }
    for environment in inside.reversed() {
      guard let own = environment.core.plan?.with({ $0.childMetadata }), !own.isEmpty else { continue }
      environment.mergeLogMetadata(own, into: &metadata)
    }
  }

  private func mergeLogMetadata(_ own: ChildMetadata, into metadata: inout LogMetadata) {
    guard core.plan?.with({ $0.hasSeed }) == true else { return own.merge(into: &metadata, seed: nil) }
    // A thread that releases the seed stores nil first, under the lock.
    let seed = core.lock.withLock { () -> ObjectReference? in
      let content = core.slots[0].content
      guard content.isFilled else { return nil }
      content.object.retain()
      return content.object
    }
    // An environment that has ended contributes nothing.
    guard let seed else { return }
    defer { seed.release() }
    own.merge(into: &metadata, seed: seed.object)
  }

  /// Releases a seed that threads may read for log entries at any time.
  @inline(never)
  func releaseLoggedSeed() {
    let seed = core.lock.withLock { () -> ObjectReference? in
      let content = core.slots[0].content
      guard content.isFilled else { return nil }
      core.slots[0].store(.empty)
      return content.object
    }
    seed?.release()
  }
}
